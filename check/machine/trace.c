#include "check/machine/trace.h"

#include "check/machine/grow.h"
#include "check/machine/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 38
#define COLUMNS_MAX 8u

/* Open addressing by address; the step that wrote it last. */
struct pfs_writer {
	const void *address;
	uint32_t step;
	uint32_t round; /* of this reset; clearing all would cost more than most executions */
};
#define WRITER_ROOM (1u << 14)

/* clang-format off */
static const char *const kind_texts[PFS_SIM_KIND_COUNT] = {
	[PFS_SIM_LOAD] = "load",     [PFS_SIM_STORE] = "store",       [PFS_SIM_CAS] = "cas",
	[PFS_SIM_EXCHANGE] = "swap", [PFS_SIM_ADD] = "add",           [PFS_SIM_LOCK] = "lock",
	[PFS_SIM_OR] = "or",         [PFS_SIM_AND] = "and",           [PFS_SIM_XOR] = "xor",
	[PFS_SIM_NAND] = "nand",     [PFS_SIM_FENCE] = "fence",
	[PFS_SIM_UNLOCK] = "unlock", [PFS_SIM_TRY_LOCK] = "try-lock", [PFS_SIM_YIELD] = "yield",
	[PFS_SIM_NOTE] = "note",     [PFS_SIM_UNMAP] = "unmap",       [PFS_SIM_DRAIN] = "drain",
	[PFS_SIM_CHOOSE] = "choose",  [PFS_SIM_BARRIER] = "barrier", [PFS_SIM_AWAIT] = "await",
};
/* clang-format on */

const char *pfs_trace_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

const char *pfs_trace_after(const struct pfs_sim_place *last)
{
	static _Thread_local char text[256];
	if (last == NULL || strcmp(last->text, "begin") == 0)
		return "before its first operation";
	if (last->line == 0)
		return "after its last operation, of which no line is known";
	(void)snprintf(text, sizeof(text), "after its operation at %s:%d",
		       pfs_trace_base_name(last->file), last->line);
	return text;
}

static struct pfs_writer *writer_of(const struct pfs_machine *self, const void *address)
{
	uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
	for (uint32_t at = (uint32_t)(hash >> 50), tried = 0; tried < WRITER_ROOM; tried++) {
		struct pfs_writer *writer = &self->trace.writers[(at + tried) % WRITER_ROOM];
		if (writer->round != self->trace.writers_round || writer->address == address)
			return writer;
	}
	return NULL;
}

void pfs_trace_reset(struct pfs_machine *self)
{
	self->trace.mark_count = 0;
	if (self->setup.tracing && self->trace.writers == NULL)
		self->trace.writers = calloc(WRITER_ROOM, sizeof(*self->trace.writers));
	if (self->trace.writers == NULL || ++self->trace.writers_round != 0)
		return;
	memset(self->trace.writers, 0, WRITER_ROOM * sizeof(*self->trace.writers));
	self->trace.writers_round = 1;
}

static void set_name(struct pfs_machine *self, uint32_t at, const void *address)
{
	char name[PFS_NAME_BYTES];
	const struct pfs_hooks *hooks = &self->hooks;
	while (self->trace.named <= at)
		self->trace.names[self->trace.named++] = NULL;
	free(self->trace.names[at]);
	self->trace.names[at] = hooks->name_address != NULL &&
						hooks->name_address(hooks->name_context, address,
								    name, sizeof(name))
					? strdup(name)
					: NULL;
}

void pfs_trace_fini(struct pfs_machine *self)
{
	while (self->trace.named != 0)
		free(self->trace.names[--self->trace.named]);
	free(self->trace.names);
	free(self->trace.steps);
	free(self->trace.writers);
}

void pfs_trace_add(struct pfs_machine *self, struct pfs_step *step)
{
	bool buffers = pfs_model_buffers(self, &step->operation);
	if (self->trace.writers != NULL && step->operation.address != NULL) {
		struct pfs_writer *writer = writer_of(self, step->operation.address);
		if (writer != NULL && step->source == PFS_STEP_NONE &&
		    writer->round == self->trace.writers_round && !self->model->keeps_old)
			step->source = writer->step;
		if (writer != NULL && step->wrote && !buffers)
			*writer = (struct pfs_writer){ step->operation.address,
						       self->run.step_count,
						       self->trace.writers_round };
	}
	uint32_t name_room = self->trace.room; /* the same, once both have grown */
	if (!pfs_grow((void **)&self->trace.names, &name_room, self->run.step_count + 1,
		      sizeof(*self->trace.names)) ||
	    !pfs_grow((void **)&self->trace.steps, &self->trace.room, self->run.step_count + 1,
		      sizeof(*self->trace.steps)))
		return;
	self->trace.steps[self->run.step_count] = *step;
	set_name(self, self->run.step_count, step->operation.address);
}

/* Words of records by state and version; small numbers as they are, larger ones in hex, such as an
 * index with its tag, and what may be an address by its last digits. */
static void put_value(char *text, size_t bytes, uint64_t value, bool is_word)
{
	static const char *const states[] = { "FREE", "DIRTY", "ALLOC", "?" };
	if (is_word)
		(void)snprintf(text, bytes, "%s.%llu", states[value % 4],
			       (unsigned long long)value / 4);
	else if (value < 100000)
		(void)snprintf(text, bytes, "%llu", (unsigned long long)value);
	else if (value >> 40 == 0)
		(void)snprintf(text, bytes, "0x%llx", (unsigned long long)value);
	else
		(void)snprintf(text, bytes, "..%05llx", (unsigned long long)(value & 0xFFFFF));
}

void pfs_trace_describe(const struct pfs_machine *self, uint32_t at, char *text, size_t text_bytes)
{
	const struct pfs_step *step = &self->trace.steps[at];
	char seen[24], written[24], source[24] = "", older[24] = "";
	const struct pfs_sim_operation *operation = &step->operation;
	const char *kind = kind_texts[operation->kind];
	const char *name = self->trace.names[at];
	const char *object = name != NULL ? name : operation->place->text;
	if (operation->kind == PFS_SIM_YIELD || operation->kind == PFS_SIM_NOTE ||
	    operation->kind == PFS_SIM_UNMAP || operation->kind == PFS_SIM_BARRIER ||
	    operation->kind == PFS_SIM_LOCK || operation->kind == PFS_SIM_FENCE ||
	    operation->kind == PFS_SIM_UNLOCK) {
		(void)snprintf(text, text_bytes, "%s %s", kind, object);
		return;
	}
	if (operation->kind == PFS_SIM_CHOOSE) {
		(void)snprintf(text, text_bytes, "%s %llu of %llu", kind,
			       (unsigned long long)step->seen,
			       (unsigned long long)operation->operand);
		return;
	}
	bool is_word = strstr(object, "record[") != NULL;
	put_value(seen, sizeof(seen), step->seen, is_word);
	put_value(written, sizeof(written), step->written, is_word);
	if (step->source != PFS_STEP_NONE && step->source < self->run.step_count)
		(void)snprintf(source, sizeof(source), " (T%u#%u)",
			       self->trace.steps[step->source].thread, step->source);
	if (step->older != 0)
		(void)snprintf(older, sizeof(older), " old:%u", step->older);
	if (operation->kind == PFS_SIM_LOAD || operation->kind == PFS_SIM_AWAIT)
		(void)snprintf(text, text_bytes, "%s%s %s = %s%s", kind, older, object, seen,
			       source);
	else if (step->wrote)
		(void)snprintf(text, text_bytes, "%s%s %s %s->%s", kind, older, object, seen,
			       written);
	else
		(void)snprintf(text, text_bytes, "%s%s %s failed, saw %s%s", kind, older, object,
			       seen, source);
}

void pfs_trace_mark(struct pfs_machine *self, uint32_t thread, const char *format, ...)
{
	va_list arguments;
	if (!self->setup.tracing || self->trace.mark_count == PFS_TRACE_NOTES_MAX)
		return;
	struct pfs_trace_note *mark = &self->trace.marks[self->trace.mark_count++];
	mark->step = self->run.step_count;
	mark->thread = thread;
	va_start(arguments, format);
	(void)vsnprintf(mark->text, sizeof(mark->text), format, arguments);
	va_end(arguments);
}

/* Its columns, each as wide as its longest text. */
struct table {
	FILE *out;
	uint32_t columns;
	int width[COLUMNS_MAX];
};

static void print_row(const struct table *table, uint32_t thread, const char *text)
{
	for (uint32_t column = 0; column < table->columns; column++)
		(void)fprintf(table->out, "| %-*s ", table->width[column],
			      column == thread % table->columns ? text : "");
}

static void widen(struct table *table, uint32_t thread, const char *text)
{
	int *width = &table->width[thread % table->columns];
	if (*width < (int)strlen(text))
		*width = (int)strlen(text);
}

/* The calls that begin or end before a step. */
static void print_marks(const struct pfs_machine *self, const struct table *table, uint32_t at)
{
	for (uint32_t i = 0; i < self->trace.mark_count; i++) {
		if (self->trace.marks[i].step != at)
			continue;
		(void)fprintf(table->out, "%5s ", "");
		print_row(table, self->trace.marks[i].thread, self->trace.marks[i].text);
		(void)fprintf(table->out, "|\n");
	}
}

void pfs_trace_print(const struct pfs_machine *self, FILE *out)
{
	char text[PFS_TRACE_BYTES];
	struct table table = { .out = out, .columns = self->thread_count };
	if (table.columns > COLUMNS_MAX)
		table.columns = COLUMNS_MAX;
	for (uint32_t column = 0; column < table.columns; column++)
		table.width[column] = COLUMN - 1;
	for (uint32_t at = 0; at < self->run.step_count; at++) {
		pfs_trace_describe(self, at, text, sizeof(text));
		widen(&table, self->trace.steps[at].thread, text);
	}
	for (uint32_t i = 0; i < self->trace.mark_count; i++)
		widen(&table, self->trace.marks[i].thread, self->trace.marks[i].text);
	(void)fprintf(out, "%5s ", "step");
	for (uint32_t column = 0; column < table.columns; column++)
		(void)fprintf(out, "| T%-*u ", table.width[column] - 1, column);
	(void)fprintf(out, "| place\n");
	for (uint32_t at = 0; at < self->run.step_count; at++) {
		const struct pfs_step *step = &self->trace.steps[at];
		print_marks(self, &table, at);
		pfs_trace_describe(self, at, text, sizeof(text));
		(void)fprintf(out, "%5u ", at);
		print_row(&table, step->thread, text);
		const struct pfs_sim_place *place = step->operation.place;
		(void)fprintf(out, "| %s", pfs_trace_base_name(place->file));
		if (place->line != 0) /* else a thread's begin or end, or no line is known */
			(void)fprintf(out, ":%d", place->line);
		(void)fputc('\n', out);
	}
	print_marks(self, &table, self->run.step_count);
}
