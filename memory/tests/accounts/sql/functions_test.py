#!/usr/bin/python3
"""functions_test.py - operators and functions of MySQL give MySQL's numbers or an error, through
pfs-mem sql and through pfs-mem serve --mysql; what clients ask about tables is answered.

usage: functions_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not. 77: there is no mariadb client.
"""

import os
import shutil
import subprocess
import sys
import unittest

from harness import PFS_MEM, Case, Live, table

# Expression and result: the examples of MySQL's manual, and what MariaDB 10.11 answers.
NUMBERS = """
1/2 = 0.5
7/2 = 3.5
1/0 = NULL
10/4/2 = 1.25
100*1024/1024/1024 = 0.09765625
5/2*2 = 5
1+1/2 = 1.5
-7/2 = -3.5
-7 DIV 2 = -3
7.5 DIV 2 = 3
7 DIV 0 = NULL
2*3 DIV 4 = 1
2 DIV 3*4 = 0
10 - 6 DIV 4 = 9
5 div 2 div 2 = 1
9007199254740993 DIV 1 = 9007199254740993
9223372036854775807 DIV 10 = 922337203685477580
7 MOD 3 = 1
-7 % 3 = -1
5.5 % 2 = 1.5
7 % 0 = NULL
MOD(29.5,9) = 2.5
10 % 4 / 2 = 1
(1+2)/(3+1) = 0.75
'7' / 2 = 3.5
1e1/4 = 2.5
.5/2 = 0.25
-1/-2 = 0.5
CASE WHEN 1 THEN 3 ELSE 4 END / 2 = 1.5
3 / CASE WHEN 1 THEN 2 END = 1.5
1 <> 1/2 = 1
7 BETWEEN 14/2 AND 16 DIV 2 = 1
3 IN (6/2, 1) = 1
(SELECT 3)/2 = 1.5
(SELECT MAX(x)/4 FROM (SELECT 6 x UNION SELECT 2) t) = 1.5
count(*) / 4 = 0.25
sum(3) OVER () / 2 = 1.5
ROUND(2.675, 2) = 2.68
ROUND(-1.5) = -2
ROUND(23.298, -1) = 20
ROUND(-25, -1) = -30
ROUND(123456789/1024/1024, 2) = 117.74
TRUNCATE(-1.999, 1) = -1.9
TRUNCATE(122, -2) = 100
TRUNCATE(10.28*100, 0) = 1028
CEILING(-1.23) = -1
FLOOR(-1.23) = -2
LOG(2,65536) = 16
LOG(-1) = NULL
LOG10(100) = 2
GREATEST(34.0,3.0,5.0,767.0) = 767
LEAST(2,NULL) = NULL
IF(NULL,2,3) = 3
IFNULL(1/0,10) = 10
ISNULL(1/0) = 1
LOCATE('BAR', 'foobarbar') = 4
LOCATE('bar', 'foobarbar', 5) = 7
INSTR('xbar', 'foobar') = 0
LENGTH('é') = 2
CHAR_LENGTH('é') = 1
LENGTH('a')/2 = 0.5
CAST(3.7 AS UNSIGNED) = 4
CAST(-3.5 AS SIGNED) = -4
CAST('12.7' AS SIGNED) = 12
CAST(3.14159 AS DECIMAL(10,2)) = 3.14
CAST(7/2 AS UNSIGNED)/2 = 2
CONVERT(3.7, SIGNED) = 4
"""
TEXTS = """
SUBSTRING_INDEX('www.mysql.com', '.', 2) = www.mysql
SUBSTRING_INDEX('www.mysql.com', '.', -2) = mysql.com
SUBSTRING_INDEX('memory/innodb/buf', '/', 9) = memory/innodb/buf
LEFT('foobarbar', 5) = fooba
RIGHT('foobarbar', 4) = rbar
SUBSTRING('Quadratically',5,6) = ratica
SUBSTRING('Sakila', -5, 3) = aki
CONCAT('My', NULL, 'QL') = NULL
CONCAT_WS(',', 'a', NULL, 'b') = a,b
FORMAT(12332.123456, 4) = 12,332.1235
FORMAT(12332.2, 0) = 12,332
FORMAT(-1234567.5, 0) = -1,234,568
FORMAT(123456789/1024/1024, 2) = 117.74
LPAD('hi',4,'??') = ??hi
RPAD('hi',1,'?') = h
REPEAT('ab', 3) = ababab
LEAST('B','A','C') = A
CAST('abcdef' AS CHAR(3)) = abc
sys.format_bytes(2348723492723746) = 2.09 PiB
"""
# Only by MySQL's protocol: pfs-mem sql has SQLite's || and LIKE.
MYSQL_ONLY = r"""
1 || 0 = 1
0 && 1 = 0
NULL <=> NULL = 1
'axb' LIKE 'a\_b' = 0
'a_b' LIKE 'a\_b' = 1
"""
# Refused, with this in the message.
ERRORS = {
    "GREATEST(1, 'a')": "GREATEST",
    "CAST(-1 AS UNSIGNED)": "UNSIGNED",
    "CAST(1 AS DATE)": "CAST AS DATE",
    "9223372036854775807 DIV 0.1": "DIV",
    "SOUNDEX_OF(1)": "SOUNDEX_OF",
}


def lines(text):
    """Pairs of expression and result."""
    return [tuple(line.rsplit(" = ", 1)) for line in text.strip().splitlines()]

PASSWORD = {"MYSQL_PWD": "aPassword"}  # of the mariadb client; any user name will do


class Functions(Case):
    """Of both interfaces."""

    def setUp(self):
        super().setUp()
        self.live, _ = self.start()
        who = self.live.do("begin", "one", "al", "h1", "YES")
        self.live.do("alloc", who, "memory/a/x", 3 << 19)

    def serve(self, target):
        """A server of MySQL's protocol; its port."""
        self.port = self.serving("--mysql", "127.0.0.1:0", "--password-file", self.file(
            "password", PASSWORD["MYSQL_PWD"]), target).rsplit(":", 1)[1].strip()

    def client(self, query, *options):
        """exit status, output, errors of the mariadb client"""
        done = subprocess.run(["mariadb", "--no-defaults", "--protocol=tcp", "-h127.0.0.1",
                               f"-P{self.port}", "-utester", "-B", *options, "-e", query,
                               "performance_schema"],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **PASSWORD})
        return done.returncode, done.stdout, done.stderr

    def value(self, expression):
        """What the server answers."""
        code, out, err = self.client(f"SELECT {expression}", "-N")
        self.assertEqual(code, 0, f"{expression}: {err}")
        return out.rstrip("\n")

    def tool(self, expression):
        """What pfs-mem sql answers: exit status, value, errors."""
        done = subprocess.run([PFS_MEM, "sql", "--format", "csv", self.live.target,
                               f"SELECT ifnull(x, 'NULL') AS y FROM (SELECT {expression} AS x)"],
                              capture_output=True, text=True, timeout=60, check=False)
        value = done.stdout.split("\n", 1)[-1].strip().strip('"')
        return done.returncode, value.strip("\r"), done.stderr

    def equal(self, got, wanted, expression):
        """As numbers, where they are numbers."""
        try:
            self.assertAlmostEqual(float(got), float(wanted), places=9, msg=expression)
        except ValueError:
            self.assertEqual(got, wanted, expression)

    def test_numbers(self):
        """Each expression, by both."""
        self.serve(self.live.target)
        for expression, wanted in lines(NUMBERS) + lines(TEXTS):
            self.equal(self.value(expression), wanted, expression)
            code, got, err = self.tool(expression.replace("sys.", ""))
            self.assertEqual(code, 0, f"{expression}: {err}")
            self.equal(got, wanted, expression)
        for expression, wanted in lines(MYSQL_ONLY):
            self.equal(self.value(expression), wanted, expression)

    def test_errors(self):
        """What is not computed as MySQL does is an error that names it."""
        self.serve(self.live.target)
        for expression, names in ERRORS.items():
            code, _, err = self.client(f"SELECT {expression}")
            self.assertEqual(code, 1, expression)
            self.assertIn(names, err)
            code, _, err = self.tool(expression)
            self.assertNotEqual(code, 0, expression)
            self.assertIn(names, err)
        for expression in ("6 & 3", "6 | 3", "6 ^ 3", "~0", "!1"):
            code, _, err = self.client(f"SELECT {expression}")
            self.assertEqual(code, 1, expression)
            self.assertIn("the operator '", err)

    def test_queries(self):
        """Queries of the manual's kind; columns keep their names."""
        self.serve(self.live.target)
        query = ("SELECT SUBSTRING_INDEX(event_name,'/',2) AS code_area, "
                 "sys.format_bytes(SUM(current_alloc)) AS current_alloc FROM "
                 "sys.x$memory_global_by_current_bytes GROUP BY SUBSTRING_INDEX(event_name,'/',2) "
                 "ORDER BY SUM(current_alloc) DESC")
        self.assertEqual(self.client(query)[1], "code_area\tcurrent_alloc\nmemory/a\t1.50 MiB\n")
        query = (f"SELECT left(EVENT_NAME,8), CURRENT_NUMBER_OF_BYTES_USED/1024/1024 FROM "
                 f"{table('global')} WHERE CURRENT_NUMBER_OF_BYTES_USED/1024/1024 > 1.4")
        self.assertEqual(self.client(query)[1], "left(EVENT_NAME,8)\t"
                         "CURRENT_NUMBER_OF_BYTES_USED/1024/1024\nmemory/a\t1.5\n")
        query = f"SELECT ROUND(SUM(CURRENT_NUMBER_OF_BYTES_USED)/1024/1024, 2) mb FROM " \
                f"{table('global')} -- a comment"
        self.assertEqual(self.client(query)[1], "mb\n1.5\n")

    def test_schema(self):
        """SHOW CREATE, SHOW INDEX, information_schema."""
        self.serve(self.live.target)
        created = self.client(f"SHOW CREATE TABLE {table('thread')}", "-N")[1]
        begin = (f"{table('thread')}\tCREATE TABLE `{table('thread')}` ("
                 "\\n  `THREAD_ID` bigint unsigned NOT NULL,\\n")
        self.assertTrue(created.startswith(begin), created)
        self.assertIn("ENGINE=PERFORMANCE_SCHEMA", created)
        created = self.client("SHOW CREATE VIEW sys.memory_global_total", "-N")[1]
        self.assertIn("CREATE VIEW `memory_global_total` AS SELECT", created)
        self.assertEqual(self.client("SHOW INDEX FROM threads")[:2], (0, ""))
        columns = self.client(
            "SELECT COLUMN_NAME, ORDINAL_POSITION, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE FROM "
            f"information_schema.columns WHERE TABLE_NAME='{table('account')}' AND "
            "TABLE_SCHEMA='performance_schema' ORDER BY ORDINAL_POSITION LIMIT 4", "-N")[1]
        self.assertEqual(columns, "USER\t1\tchar\tchar(32)\tYES\nHOST\t2\tchar\tchar(255)\tYES\n"
                         "EVENT_NAME\t3\tvarchar\tvarchar(128)\tNO\n"
                         "COUNT_ALLOC\t4\tbigint\tbigint unsigned\tNO\n")
        tables = self.client("SELECT TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE "
                             "TABLE_NAME IN ('threads', 'memory_global_total')", "-N")[1]
        self.assertEqual(sorted(tables.splitlines()), ["BASE TABLE\tPERFORMANCE_SCHEMA",
                                                       "VIEW\tNULL"])
        for query in ("SHOW CREATE TABLE nothing", "DESCRIBE nothing", "SHOW INDEX FROM nothing"):
            code, _, err = self.client(query)
            self.assertEqual(code, 1, query)
            self.assertIn("ERROR 1146", err)

    def test_last(self):
        """The newest box, for each connection; a connection changes when its program has ended."""
        self.serve("last")
        pid = "SELECT VARIABLE_VALUE FROM global_status WHERE VARIABLE_NAME='Pfs_box_pid'"
        self.assertEqual(self.client(pid, "-N")[1].strip(), self.live.target)
        newer = Live(self.folder)
        self.addCleanup(newer.end)
        self.assertEqual(self.client(pid, "-N")[1].strip(), newer.target)
        shell = subprocess.Popen(["mariadb", "--no-defaults", "--protocol=tcp", "-h127.0.0.1",
                                  f"-P{self.port}", "-utester", "-BNn", "performance_schema"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, **PASSWORD})
        for program in (newer, self.live):
            shell.stdin.write(pid + ";\n")
            shell.stdin.flush()
            self.assertEqual(shell.stdout.readline().strip(), program.target)
            if program is newer:
                newer.process.stdin.write("close\n")
                newer.process.stdin.flush()
                newer.process.wait(timeout=20)
        shell.stdin.close()
        shell.stdout.close()
        self.assertEqual(shell.wait(timeout=20), 0)


if __name__ == "__main__":
    if shutil.which("mariadb") is None:
        print("functions_test: no mariadb client; install mariadb-client")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
