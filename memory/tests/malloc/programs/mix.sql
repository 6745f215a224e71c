-- mix.sql - an in-memory database of one sqlite3: indexes, joins, text, JSON, windows.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, value REAL, body BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO item SELECT i, 'name' || (i * 7919 % 10007), i * 0.5, zeroblob(i % 300) FROM n;
CREATE INDEX by_name ON item(name, value);
CREATE TABLE link(a INTEGER, b INTEGER);
INSERT INTO link SELECT id, id * 31 % 60000 + 1 FROM item;
CREATE INDEX by_a ON link(a);
SELECT count(*), sum(length(name)), round(sum(value), 1), sum(length(body)) FROM item;
SELECT count(DISTINCT x.name) FROM item x JOIN link ON link.a = x.id JOIN item y ON y.id = link.b
	WHERE y.value > x.value;
SELECT name, count(*) c FROM item GROUP BY name HAVING c > 5 ORDER BY c DESC, name LIMIT 5;
SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY name ORDER BY value DESC) r FROM item);
SELECT length(group_concat(name || '-' || value)) FROM item WHERE id % 3 = 0;
SELECT json_array_length(json_group_array(json_object('id', id, 'name', name))) FROM item;
UPDATE item SET name = upper(name) || hex(substr(body, 1, 20)) WHERE id % 2;
DELETE FROM item WHERE id % 7 = 0;
VACUUM;
SELECT count(*), sum(length(name)) FROM item;
PRAGMA integrity_check;
