/*
 * operators.c - gives the operators of a query MySQL's meaning.
 *
 * SQLite divides integers without a remainder and has no DIV, so a / b becomes mysql_divide(a, b).
 * * / % DIV MOD have one precedence and associate to the left. The left operand of each is
 * therefore the whole term so far: what stands between the last other operator, comma, keyword or
 * parenthesis and here. The right operand is one factor. So no parser is needed: for each open
 * parenthesis it is enough to know where the current term begins in the output.
 *
 * A keyword that the list below lacks is taken for a name. That moves the begin of a term only past
 * a sign in front of it, which changes no result.
 */
#include <string.h>

#include "session.h"
#include "words.h"

#define LEVELS_MAX 100u

/* An open parenthesis, or CASE. */
struct level {
	size_t term;      /* where the current term begins in the output */
	bool is_fresh;    /* the next factor begins a term */
	bool has_operand; /* the last word ended an operand */
	bool is_pending;  /* the next operand's end closes a call */
	bool is_case;
	char cast; /* 'a': CAST, up to AS; ',': CONVERT, up to the comma; 0: neither */
};

struct rewrite {
	enum pfs_dialect dialect;
	const char *at; /* in the query */
	sqlite3_str *to;
	struct level levels[LEVELS_MAX];
	unsigned depth;
	/* Of the column list of the outermost SELECT. */
	bool is_list, is_changed, is_named;
	const char *item,
		*item_end; /* the current column, in the query; NULL: it has no word yet */
	struct pfs_message *message;
	bool is_refused;
};

static const char *const keywords[] = {
	"select", "distinct", "all",       "from",  "where",  "and",     "or",     "not",
	"in",     "is",       "like",      "glob",  "regexp", "between", "escape", "when",
	"then",   "else",     "by",        "on",    "using",  "having",  "limit",  "offset",
	"group",  "order",    "as",        "set",   "values", "union",   "except", "intersect",
	"join",   "left",     "right",     "inner", "cross",  "natural", "outer",  "asc",
	"desc",   "exists",   "partition", "rows",  "range",  "with",    "update", "delete",
	"insert", "into",     "xor",
};

static bool is_one_of(struct pfs_word word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pfs_word_is(word, list[i]))
			return true;
	return false;
}

static struct level *top(struct rewrite *self)
{
	return &self->levels[self->depth];
}

static bool refuse(struct rewrite *self, const char *line)
{
	if (!self->is_refused)
		pfs_refuse(self->message, "%s", line);
	self->is_refused = true;
	return false;
}

/* ---- output ---- */

static void put(struct rewrite *self, const char *text, size_t bytes)
{
	sqlite3_str_append(self->to, text, (int)bytes);
}

static void put_text(struct rewrite *self, const char *text)
{
	sqlite3_str_appendall(self->to, text);
}

/* Puts text in front of what was written from `at` on. */
static void insert(struct rewrite *self, size_t at, const char *text)
{
	size_t bytes = strlen(text), length = (size_t)sqlite3_str_length(self->to);
	sqlite3_str_appendall(self->to, text);
	char *value = sqlite3_str_value(self->to);
	if (value == NULL || sqlite3_str_errcode(self->to) != SQLITE_OK || at > length)
		return;
	memmove(value + at + bytes, value + at, length - at);
	memcpy(value + at, text, bytes);
}

/* ---- terms and factors ---- */

static void begin_level(struct rewrite *self, bool is_case, char cast)
{
	if (self->depth + 1 >= LEVELS_MAX) {
		(void)refuse(self, "parentheses are nested more than 99 deep");
		return;
	}
	self->levels[++self->depth] =
		(struct level){ .is_fresh = true, .is_case = is_case, .cast = cast };
}

static void begin_factor(struct rewrite *self)
{
	struct level *level = top(self);
	if (level->is_fresh)
		level->term = (size_t)sqlite3_str_length(self->to);
	level->is_fresh = false;
}

/* The operand before this word is complete. */
static void settle(struct rewrite *self)
{
	struct level *level = top(self);
	if (level->is_pending && level->has_operand) {
		put_text(self, ")");
		level->is_pending = false;
	}
}

/* What follows begins another term. */
static void end_term(struct rewrite *self)
{
	settle(self);
	top(self)->is_fresh = true;
	top(self)->has_operand = false;
}

/* ---- names of changed columns ---- */

static void end_item(struct rewrite *self)
{
	if (self->is_list && self->is_changed && !self->is_named && self->item != NULL) {
		put_text(self, " AS `");
		for (const char *at = self->item; at < self->item_end; at++) {
			put(self, at, 1);
			if (*at == '`')
				put(self, at, 1);
		}
		put_text(self, "`");
	}
	self->is_changed = self->is_named = false;
	self->item = NULL;
}

static bool ends_list(struct pfs_word word)
{
	static const char *const ends[] = { "from",  "where", "union", "except", "intersect",
					    "group", "order", "limit", "having", ";" };
	return word.kind == 0 || is_one_of(word, ends, sizeof(ends) / sizeof(ends[0]));
}

/* Before a word of the outermost level is written. */
static void look_at_item(struct rewrite *self, struct pfs_word word)
{
	if (self->depth == 0 && (pfs_word_is(word, ",") || ends_list(word))) {
		settle(self);
		end_item(self);
		self->is_list = self->is_list && pfs_word_is(word, ",");
	} else if (self->depth == 0 && pfs_word_is(word, "select")) {
		self->is_list = true;
		self->is_changed = self->is_named = false;
		self->item = NULL;
	} else if (!pfs_word_is(word, "distinct") && !pfs_word_is(word, "all")) {
		if (self->item == NULL)
			self->item = word.text;
		self->item_end = word.text + word.bytes;
	}
}

/* ---- operators ---- */

/* The function of an operator that has the precedence of *; NULL: none. */
static const char *function_of(struct pfs_word word)
{
	if (pfs_word_is(word, "/"))
		return "mysql_divide(";
	if (pfs_word_is(word, "div"))
		return "mysql_div(";
	return pfs_word_is(word, "%") || pfs_word_is(word, "mod") ? "mysql_mod(" : NULL;
}

static void take_division(struct rewrite *self, const char *function)
{
	struct level *level = top(self);
	settle(self);
	insert(self, level->term, function);
	put_text(self, ",");
	level->is_pending = true;
	level->has_operand = false;
	self->is_changed = true;
}

/* || && <=>, which are written as words. */
static bool take_mysql_operator(struct rewrite *self, struct pfs_word word)
{
	static const struct {
		const char *from, *to;
	} pairs[] = { { "||", " OR " }, { "&&", " AND " }, { "<=>", " IS " } };
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size_t bytes = strlen(pairs[i].from);
		if (strncmp(word.text, pairs[i].from, bytes) != 0)
			continue;
		end_term(self);
		put_text(self, pairs[i].to);
		self->at = word.text + bytes;
		self->is_changed = true;
		return true;
	}
	return false;
}

static bool is_refused_operator(struct pfs_word word)
{
	return word.kind == 'p' && (strchr("&|^~", word.text[0]) != NULL ||
				    (word.text[0] == '!' && word.text[1] != '='));
}

/* SQLite's || and ->, which bind more tightly than *. */
static bool take_tight_operator(struct rewrite *self, struct pfs_word word)
{
	size_t bytes = strncmp(word.text, "||", 2) == 0 || strncmp(word.text, "->", 2) == 0 ? 2 : 0;
	if (bytes == 0)
		return false;
	bytes += strncmp(word.text, "->>", 3) == 0;
	put(self, word.text, bytes);
	self->at = word.text + bytes;
	top(self)->has_operand = false;
	return true;
}

static void take_punctuation(struct rewrite *self, struct pfs_word word)
{
	struct level *level = top(self);
	if (strchr(".?@", word.text[0]) != NULL) {
		begin_factor(self);
		level->has_operand = word.text[0] == '?';
	} else if (word.text[0] == '*') {
		settle(self);
		bool is_factor = !level->has_operand; /* count(*), SELECT * */
		if (is_factor)
			begin_factor(self);
		level->has_operand = is_factor;
	} else if (strchr("-+~", word.text[0]) != NULL && !level->has_operand) {
		begin_factor(self); /* a sign */
	} else {
		end_term(self);
	}
	put(self, word.text, word.bytes);
}

/* ---- parentheses, CASE, CAST ---- */

static char cast_of(struct pfs_word word)
{
	return pfs_word_is(word, "cast") ? 'a' : pfs_word_is(word, "convert") ? ',' : '\0';
}

static void end_level(struct rewrite *self)
{
	settle(self);
	while (self->depth > 0 && top(self)->is_case)
		self->depth--;
	if (self->depth > 0)
		self->depth--;
	top(self)->has_operand = true;
}

/* The type of a CAST becomes a string. */
static void take_type(struct rewrite *self)
{
	int open = 0;
	settle(self);
	put_text(self, ", '");
	for (;;) {
		const char *before = self->at;
		struct pfs_word word = pfs_word_next_in(&self->at, self->dialect);
		open += word.kind == 'p' && word.text[0] == '(';
		if (word.kind == 0 || word.kind == 's' || word.kind == 'q' ||
		    (word.kind == 'p' && word.text[0] == ')' && open-- == 0)) {
			self->at = before;
			break;
		}
		put(self, word.text, word.bytes);
		put_text(self, " ");
	}
	put_text(self, "'");
}

static bool is_before(const struct rewrite *self, char sign)
{
	const char *behind = self->at;
	struct pfs_word next = pfs_word_next_in(&behind, self->dialect);
	return next.kind == 'p' && next.text[0] == sign;
}

/* A name, number or string: an operand, or a part of one. */
static void take_operand(struct rewrite *self, struct pfs_word word)
{
	struct level *level = top(self);
	bool is_call = word.kind == 'w' && is_before(self, '(');
	if (level->has_operand) { /* an alias without AS */
		end_term(self);
		self->is_named |= self->depth == 0;
	}
	begin_factor(self);
	level->has_operand = true;
	if (is_call && cast_of(word) != '\0') {
		put_text(self, "mysql_cast(");
		(void)pfs_word_next_in(&self->at, self->dialect);
		begin_level(self, false, cast_of(word));
		self->is_changed = true;
		return;
	}
	/* These are keywords of SQLite's, and cannot name a function. */
	bool is_quoted = is_call && (pfs_word_is(word, "left") || pfs_word_is(word, "right") ||
				     pfs_word_is(word, "isnull"));
	put_text(self, is_quoted ? "`" : "");
	put(self, word.text, word.bytes);
	put_text(self, is_quoted ? "`" : "");
	self->is_changed |= is_quoted;
}

static bool is_keyword(const struct rewrite *self, struct pfs_word word)
{
	if (word.kind != 'w' || !is_one_of(word, keywords, sizeof(keywords) / sizeof(keywords[0])))
		return false;
	bool is_side = pfs_word_is(word, "left") || pfs_word_is(word, "right");
	return !is_side || !is_before(self, '(');
}

static void take_word(struct rewrite *self, struct pfs_word word)
{
	struct level *level = top(self);
	static const char *const behind[] = { "over", "filter", "collate" };
	if (pfs_word_is(word, "case")) {
		begin_factor(self);
		put(self, word.text, word.bytes);
		begin_level(self, true, '\0');
	} else if (pfs_word_is(word, "end") && level->is_case) {
		settle(self);
		self->depth--;
		put(self, word.text, word.bytes);
		top(self)->has_operand = true;
	} else if (level->has_operand &&
		   is_one_of(word, behind, sizeof(behind) / sizeof(behind[0]))) {
		level->has_operand = false; /* the operand goes on */
		put(self, word.text, word.bytes);
	} else if (is_keyword(self, word)) {
		self->is_named |= self->depth == 0 && pfs_word_is(word, "as");
		end_term(self);
		put(self, word.text, word.bytes);
	} else {
		take_operand(self, word);
	}
}

/* ---- all ---- */

static void take(struct rewrite *self, struct pfs_word word)
{
	struct level *level = top(self);
	const char *function = word.kind == 'w' || word.kind == 'p' ? function_of(word) : NULL;
	bool is_mysql = self->dialect == PFS_DIALECT_MYSQL;
	if ((level->cast == 'a' && pfs_word_is(word, "as")) ||
	    (level->cast == ',' && pfs_word_is(word, ","))) {
		take_type(self);
	} else if (function != NULL && level->has_operand) {
		take_division(self, function);
	} else if (function != NULL && word.kind == 'p') {
		(void)refuse(self, "what is divided is not understood: put it into parentheses");
	} else if (is_mysql && word.kind == 'p' && take_mysql_operator(self, word)) {
	} else if (!is_mysql && word.kind == 'p' && take_tight_operator(self, word)) {
	} else if (is_mysql && is_refused_operator(word)) {
		char line[] = "the operator '?' is not supported, because SQLite's differs";
		*strchr(line, '?') = word.text[0];
		(void)refuse(self, line);
	} else if (pfs_word_is(word, "(")) {
		begin_factor(self);
		put(self, word.text, word.bytes);
		begin_level(self, false, '\0');
	} else if (pfs_word_is(word, ")")) {
		end_level(self);
		put(self, word.text, word.bytes);
	} else if (word.kind == 'p') {
		take_punctuation(self, word);
	} else if (word.kind == 'w') {
		take_word(self, word);
	} else {
		take_operand(self, word);
	}
}

char *pfs_sql_operators(const char *text, enum pfs_dialect dialect, struct pfs_message *message)
{
	struct rewrite self = { .dialect = dialect, .at = text, .message = message };
	self.to = sqlite3_str_new(NULL);
	self.levels[0].is_fresh = true;
	while (!self.is_refused) {
		const char *gap = self.at;
		struct pfs_word word = pfs_word_next_in(&self.at, dialect);
		look_at_item(&self, word);
		if (word.kind == 0)
			break;
		put(&self, gap, (size_t)(word.text - gap));
		take(&self, word);
	}
	settle(&self);
	char *query = sqlite3_str_finish(self.to);
	if (!self.is_refused && query != NULL)
		return query;
	if (!self.is_refused)
		pfs_refuse(message, "no memory for a query");
	sqlite3_free(query);
	return NULL;
}
