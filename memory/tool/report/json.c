/*
 * json.c - a report as data: rows of the tables as queried, and histories as series.
 */
#include "base/json.h"
#include "report.h"

#define GROWN_MOST 20u

/* Begins the object of a question. */
static void put_query(struct pfs_json *json, const struct pfs_report *self, enum pfs_question_id id)
{
	pfs_json_object(json, pfs_questions[id].name);
	pfs_json_text(json, "title", pfs_questions[id].title);
	pfs_json_text(json, "query", self->answers[id].query);
}

static void put_table(struct pfs_json *json, const struct pfs_report *self, enum pfs_question_id id)
{
	const struct pfs_answer *answer = &self->answers[id];
	put_query(json, self, id);
	pfs_json_array(json, "columns");
	for (size_t i = 0; i < answer->column_count; i++)
		pfs_json_text(json, NULL, answer->columns[i]);
	pfs_json_end(json);
	pfs_json_array(json, "rows");
	pfs_json_lines(json);
	for (size_t row = 0; row < answer->row_count; row++) {
		pfs_json_array(json, NULL);
		for (size_t i = 0; i < answer->column_count; i++) {
			const struct pfs_value *value = pfs_answer_at(answer, row, i);
			if (value->is_null || value->text != NULL)
				pfs_json_text(json, NULL, value->text);
			else
				pfs_json_integer(json, NULL, value->number);
		}
		pfs_json_end(json);
	}
	pfs_json_end(json);
	pfs_json_end(json);
}

static void put_numbers(struct pfs_json *json, const char *name, const int64_t *numbers,
			size_t count)
{
	pfs_json_array(json, name);
	for (size_t i = 0; i < count; i++)
		pfs_json_integer(json, NULL, numbers[i]);
	pfs_json_end(json);
}

static bool put_history(struct pfs_json *json, const struct pfs_report *self,
			enum pfs_question_id id)
{
	struct pfs_history history;
	if (!pfs_history_make(&history, &self->answers[id], "others"))
		return false;
	put_query(json, self, id);
	pfs_json_array(json, "ticks");
	for (size_t i = 0; i < history.moment_count; i++)
		pfs_json_count(json, NULL, history.ticks[i]);
	pfs_json_end(json);
	pfs_json_array(json, "times");
	for (size_t i = 0; i < history.moment_count; i++)
		pfs_json_text(json, NULL, history.times[i]);
	pfs_json_end(json);
	put_numbers(json, "times_ms", history.times_ms, history.moment_count);
	put_numbers(json, "rss", history.rss, history.moment_count);
	put_numbers(json, "tracked", history.tracked, history.moment_count);
	pfs_json_array(json, "series");
	pfs_json_lines(json);
	for (size_t i = 0; i < history.series_count; i++) {
		pfs_json_object(json, NULL);
		pfs_json_text(json, "name", history.names[i]);
		put_numbers(json, "bytes", history.bytes[i], history.moment_count);
		pfs_json_end(json);
	}
	pfs_json_end(json);
	pfs_json_end(json);
	pfs_history_free(&history);
	return true;
}

static void put_ages(struct pfs_json *json, const struct pfs_heap *heap,
		     const struct pfs_heap_values *of)
{
	const uint64_t second = 1000000000u;
	if (of->oldest_ns == 0)
		return;
	pfs_json_count(json, "oldest_seconds",
		       heap->taken_ns > of->oldest_ns ? (heap->taken_ns - of->oldest_ns) / second
						      : 0);
	pfs_json_count(json, "newest_seconds",
		       heap->taken_ns > of->newest_ns ? (heap->taken_ns - of->newest_ns) / second
						      : 0);
}

static void put_lines(struct pfs_json *json, const char *name, const struct pfs_view *lines)
{
	char where[1600];
	if (lines->heap == NULL)
		return;
	pfs_json_array(json, name);
	pfs_json_lines(json);
	for (uint32_t i = 0; i < lines->holders.count; i++) {
		const struct pfs_holder *holder = &lines->holders.holders[i];
		double error = pfs_heap_error(lines->heap, &holder->now);
		pfs_json_object(json, NULL);
		pfs_json_text(json, "where",
			      pfs_holder_text(lines->heap, holder, where, sizeof(where)));
		pfs_json_integer(json, "bytes", (int64_t)holder->now.live_bytes);
		if (error >= 0)
			pfs_json_integer(json, "error_bytes", (int64_t)error);
		pfs_json_integer(json, "blocks", (int64_t)holder->now.live_objects);
		put_ages(json, lines->heap, &holder->now);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

/* The moments, the newest first; and the lines that grew most, with what each held then; null: not
 * known. */
static void put_grown(struct pfs_json *json, const struct pfs_report_grown *grown)
{
	const struct pfs_growth *growth = &grown->growth;
	char text[1600];
	if (grown->heap == NULL)
		return;
	pfs_json_array(json, "moments");
	for (uint32_t i = 0; i < growth->moment_count; i++)
		pfs_json_text(
			json, NULL,
			pfs_moment_text(grown->heap->moments[growth->moments[i]].when_ns, text));
	pfs_json_end(json);
	pfs_json_array(json, "lines_by_growth");
	pfs_json_lines(json);
	for (uint32_t i = 0; i < growth->holders.count && i < GROWN_MOST; i++) {
		const struct pfs_holder *holder = &growth->holders.holders[i];
		pfs_json_object(json, NULL);
		pfs_json_text(json, "where",
			      pfs_holder_text(grown->heap, holder, text, sizeof(text)));
		pfs_json_integer(json, "bytes", (int64_t)holder->now.live_bytes);
		pfs_json_array(json, "held");
		for (uint32_t k = 0; k < growth->moment_count; k++)
			if (pfs_growth_at(growth, i, k) >= 0)
				pfs_json_integer(json, NULL, (int64_t)pfs_growth_at(growth, i, k));
			else
				pfs_json_null(json, NULL);
		pfs_json_end(json);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static bool put_all(const struct pfs_report *self, bool has_tables, FILE *to)
{
	struct pfs_json json = { .out = to, .is_compact = true, .is_in_html = true };
	bool fine = true;
	pfs_json_object(&json, NULL);
	pfs_json_lines(&json);
	pfs_json_count(&json, "version", 1);
	pfs_json_text(&json, "box", self->box);
	if (has_tables) {
		pfs_json_object(&json, "tables");
		pfs_json_lines(&json);
		for (int i = 0; i < PFS_QUESTIONS; i++)
			if (pfs_questions[i].whole == NULL)
				put_table(&json, self, (enum pfs_question_id)i);
		pfs_json_end(&json);
		put_lines(&json, "lines", &self->now);
		put_lines(&json, "lines_at_peak", &self->peak);
		put_grown(&json, &self->grown);
	}
	pfs_json_object(&json, "histories");
	pfs_json_lines(&json);
	for (int i = 0; i < PFS_QUESTIONS; i++)
		if (pfs_questions[i].whole != NULL)
			fine &= put_history(&json, self, (enum pfs_question_id)i);
	pfs_json_end(&json);
	pfs_json_end(&json);
	return fine;
}

bool pfs_report_write_histories(const struct pfs_report *self, FILE *to)
{
	return put_all(self, false, to);
}

bool pfs_report_write_json(const struct pfs_report *self, FILE *to)
{
	return put_all(self, true, to);
}
