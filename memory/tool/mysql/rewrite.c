/*
 * rewrite.c - queries of MySQL's as SQLite reads them.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "mysql.h"

/* ---- schemas ---- */

static bool is_schema(const char *name)
{
	static const char *const schemas[] = { "performance_schema", "sys", "pfs" };
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (strcasecmp(name, schemas[i]) == 0)
			return true;
	return false;
}

bool pfs_mysql_use(struct pfs_mysql *self, const char *schema)
{
	if (strlen(schema) >= sizeof(self->schema) ||
	    (!is_schema(schema) && strcasecmp(schema, "information_schema") != 0)) {
		pfs_mysql_error(self, 1049, "42000", "Unknown database '%s'", schema);
		return false;
	}
	for (size_t i = 0; i <= strlen(schema); i++)
		self->schema[i] = (char)tolower((unsigned char)schema[i]);
	return true;
}

/* ---- words, one after the other ---- */

struct rewriting {
	struct pfs_mysql *mysql;
	sqlite3_str *to;
	const char *at;
	bool refused;
};

static bool is_end_of_value(const char *at)
{
	struct pfs_word next = pfs_word_next(&at);
	return next.kind == 0 || pfs_word_is(next, ",") || pfs_word_is(next, ";") ||
	       pfs_word_is(next, "limit") || pfs_word_is(next, "from");
}

/* A variable's value, under the variable's name where it is a column. */
static void put_variable(struct rewriting *self, struct pfs_word word)
{
	static const char *const scopes[] = { "global.", "session.", "local." };
	char *name = sqlite3_mprintf("%.*s", (int)word.bytes, word.text);
	const char *plain = name == NULL ? "" : name + 2;
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (strncasecmp(plain, scopes[i], strlen(scopes[i])) == 0)
			plain += strlen(scopes[i]);
	char *value = pfs_mysql_variable(self->mysql, plain);
	if (value == NULL) {
		pfs_mysql_error(self->mysql, 1193, "HY000", "Unknown system variable '%s'", plain);
		self->refused = true;
	} else {
		sqlite3_str_appendf(self->to, "%s ", value);
		if (is_end_of_value(self->at))
			sqlite3_str_appendf(self->to, "AS \"%w\" ", name);
	}
	sqlite3_free(value);
	sqlite3_free(name);
}

/* Drops a schema's name and its dot; tables of information_schema get other names. */
static bool put_schema(struct rewriting *self, struct pfs_word word)
{
	const char *behind = self->at;
	bool is_ours;
	if (!pfs_word_is(pfs_word_next(&behind), "."))
		return false;
	char *name = pfs_word_text(word);
	is_ours = name != NULL && is_schema(name);
	if (name != NULL && strcasecmp(name, "information_schema") == 0) {
		struct pfs_word table = pfs_word_next(&behind);
		char *text = pfs_word_text(table);
		sqlite3_str_appendf(self->to, "\"information_schema_%w\" ",
				    text == NULL ? "" : text);
		sqlite3_free(text);
		is_ours = true;
	}
	sqlite3_free(name);
	if (is_ours)
		self->at = behind;
	return is_ours;
}

static void put_word(struct rewriting *self, struct pfs_word word)
{
	char *text = NULL;
	/* Adjacent words stay adjacent: 1.5, a.b, <=. */
	bool touches = word.text[word.bytes] != '\0' &&
		       strchr(" \t\r\n#/-'\"`@", word.text[word.bytes]) == NULL;
	if (word.kind == '@') {
		put_variable(self, word);
	} else if (word.kind == 's') {
		text = pfs_word_text(word);
		sqlite3_str_appendf(self->to, "'%q' ", text == NULL ? "" : text);
	} else if ((word.kind == 'w' || word.kind == 'q') && put_schema(self, word)) {
		return;
	} else if (word.kind == 'q') {
		text = pfs_word_text(word);
		sqlite3_str_appendf(self->to, "\"%w\"%s", text == NULL ? "" : text,
				    touches ? "" : " ");
	} else {
		sqlite3_str_append(self->to, word.text, (int)word.bytes);
		if (!touches)
			sqlite3_str_appendall(self->to, " ");
	}
	sqlite3_free(text);
}

static char *rewrite_words(struct pfs_mysql *mysql, const char *text)
{
	struct pfs_message message;
	char *computed = pfs_sql_operators(text, PFS_DIALECT_MYSQL, &message);
	if (computed == NULL) {
		pfs_mysql_error(mysql, 1235, "42000", "%s", message.text);
		return NULL;
	}
	struct rewriting self = { mysql, sqlite3_str_new(mysql->db), computed, false };
	for (;;) {
		struct pfs_word word = pfs_word_next(&self.at);
		if (word.kind == 0 || self.refused)
			break;
		put_word(&self, word);
	}
	char *query = sqlite3_str_finish(self.to);
	sqlite3_free(computed);
	if (!self.refused && query != NULL)
		return query;
	if (!self.refused)
		pfs_mysql_error(mysql, 1041, "HY000", "Out of memory");
	sqlite3_free(query);
	return NULL;
}

/* ---- by the first word ---- */

static char *done(struct pfs_mysql *self)
{
	pfs_mysql_ok(self, 0);
	return NULL;
}

static char *refuse(struct pfs_mysql *self, const char *what)
{
	pfs_mysql_error(self, 1235, "42000", "This version of MySQL doesn't yet support '%s'",
			what);
	return NULL;
}

static char *use(struct pfs_mysql *self, const char *at)
{
	char *schema = pfs_word_text(pfs_word_next(&at));
	if (schema != NULL && pfs_mysql_use(self, schema))
		pfs_mysql_ok(self, 0);
	sqlite3_free(schema);
	return NULL;
}

static char *truncate_table(struct pfs_mysql *self, const char *at)
{
	const char *behind = at;
	if (pfs_word_is(pfs_word_next(&behind), "table"))
		at = behind;
	char *text = sqlite3_mprintf("DELETE FROM %s", at);
	char *query = text == NULL ? NULL : rewrite_words(self, text);
	sqlite3_free(text);
	return query;
}

char *pfs_mysql_rewrite(struct pfs_mysql *self, const char *text)
{
	static const char *const settled[] = { "begin", "start", "commit", "rollback" };
	static const char *const shown[] = { "show", "describe", "desc" };
	const char *at = text;
	struct pfs_word word = pfs_word_next(&at);
	if (word.kind == 0 || pfs_word_is(word, ";")) {
		pfs_mysql_error(self, 1065, "42000", "Query was empty");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(settled) / sizeof(settled[0]); i++)
		if (pfs_word_is(word, settled[i]))
			return done(self);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (pfs_word_is(word, shown[i]))
			return pfs_mysql_show(self, text);
	if (pfs_word_is(word, "set")) {
		const char *behind = at;
		return pfs_word_is(pfs_word_next(&behind), "global") ? refuse(self, "SET GLOBAL")
								     : done(self);
	}
	if (pfs_word_is(word, "use"))
		return use(self, at);
	if (pfs_word_is(word, "truncate"))
		return truncate_table(self, at);
	return rewrite_words(self, text);
}
