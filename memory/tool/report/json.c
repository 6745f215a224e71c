/*
 * json.c - a report as data: the tables' rows as their queries gave them, and what is over time as
 * series.
 */
#include <inttypes.h>

#include "report.h"

static void put_value(FILE *to, const struct pfs_value *value)
{
	if (value->text != NULL)
		pfs_put_json(to, value->text);
	else if (value->is_null)
		(void)fputs("null", to);
	else
		(void)fprintf(to, "%" PRId64, value->number);
}

static void put_query(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	pfs_put_json(to, pfs_questions[id].name);
	(void)fputs(":{\"title\":", to);
	pfs_put_json(to, pfs_questions[id].title);
	(void)fputs(",\"query\":", to);
	pfs_put_json(to, self->answers[id].query);
}

static void put_table(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	const struct pfs_answer *answer = &self->answers[id];
	put_query(to, self, id);
	(void)fputs(",\"columns\":[", to);
	for (size_t i = 0; i < answer->column_count; i++) {
		(void)fputs(i == 0 ? "" : ",", to);
		pfs_put_json(to, answer->columns[i]);
	}
	(void)fputs("],\"rows\":[", to);
	for (size_t row = 0; row < answer->row_count; row++) {
		(void)fputs(row == 0 ? "[" : ",\n[", to);
		for (size_t i = 0; i < answer->column_count; i++) {
			(void)fputs(i == 0 ? "" : ",", to);
			put_value(to, pfs_answer_at(answer, row, i));
		}
		(void)fputc(']', to);
	}
	(void)fputs("]}", to);
}

static void put_numbers(FILE *to, const char *name, const int64_t *numbers, size_t count)
{
	pfs_put_json(to, name);
	(void)fputs(":[", to);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(to, "%s%" PRId64, i == 0 ? "" : ",", numbers[i]);
	(void)fputc(']', to);
}

static bool put_history(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	struct pfs_history history;
	if (!pfs_history_make(&history, &self->answers[id], "others"))
		return false;
	put_query(to, self, id);
	(void)fputs(",\"ticks\":[", to);
	for (size_t i = 0; i < history.moment_count; i++)
		(void)fprintf(to, "%s%" PRIu64, i == 0 ? "" : ",", history.ticks[i]);
	(void)fputs("],\"times\":[", to);
	for (size_t i = 0; i < history.moment_count; i++) {
		(void)fputs(i == 0 ? "" : ",", to);
		pfs_put_json(to, history.times[i]);
	}
	(void)fputs("],", to);
	put_numbers(to, "times_ms", history.times_ms, history.moment_count);
	(void)fputc(',', to);
	put_numbers(to, "rss", history.rss, history.moment_count);
	(void)fputc(',', to);
	put_numbers(to, "tracked", history.tracked, history.moment_count);
	(void)fputs(",\"series\":[", to);
	for (size_t i = 0; i < history.series_count; i++) {
		(void)fputs(i == 0 ? "{\"name\":" : ",\n{\"name\":", to);
		pfs_put_json(to, history.names[i]);
		(void)fputc(',', to);
		put_numbers(to, "bytes", history.bytes[i], history.moment_count);
		(void)fputc('}', to);
	}
	(void)fputs("]}", to);
	pfs_history_free(&history);
	return true;
}

static bool put_histories(FILE *to, const struct pfs_report *self)
{
	bool fine = true, is_first = true;
	(void)fputs("\"histories\":{", to);
	for (int i = 0; i < PFS_QUESTIONS; i++) {
		if (pfs_questions[i].whole == NULL)
			continue;
		(void)fputs(is_first ? "" : ",\n", to);
		is_first = false;
		fine &= put_history(to, self, (enum pfs_question_id)i);
	}
	(void)fputs("}}\n", to);
	return fine;
}

bool pfs_report_write_histories(const struct pfs_report *self, FILE *to)
{
	(void)fputs("{\"version\":1,\"box\":", to);
	pfs_put_json(to, self->box);
	(void)fputs(",\n", to);
	return put_histories(to, self);
}

bool pfs_report_write_json(const struct pfs_report *self, FILE *to)
{
	(void)fputs("{\"version\":1,\"box\":", to);
	pfs_put_json(to, self->box);
	(void)fputs(",\n\"tables\":{", to);
	for (int i = 0; i < PFS_QUESTIONS; i++) {
		if (pfs_questions[i].whole != NULL)
			continue;
		(void)fputs(i == 0 ? "\n" : ",\n", to);
		put_table(to, self, (enum pfs_question_id)i);
	}
	(void)fputs("},\n", to);
	return put_histories(to, self);
}
