#include "sim/command/command_weaken.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cases/cases.h"
#include "sim/command/weaken_notes.h"
#include "sim/command/weaken_table.h"

#define PLACES_MAX 256u
#define PAIRS_MAX 512u
#define LABEL_BYTES 8
#define LOOK_EXECUTIONS 300u /* of each pair, to see which places it executes */
#define LINES_ABOVE 8        /* a label is in the comment above */

struct weak_place {
	const struct pfs_sim_place *place;
	uint8_t kind, order;
	char label[LABEL_BYTES];
	bool fully;          /* seq becomes relaxed */
	bool met[PAIRS_MAX]; /* by this pair of policy and scenario */
};

struct pair {
	const struct pfs_variant *variant;
	const char *scenario;
	bool owner_fences;
};

/* The state of the command. */
static struct weakening {
	struct weak_place places[PLACES_MAX];
	struct pair pairs[PAIRS_MAX];
	uint32_t place_count, pair_count;
	uint32_t pair; /* of the execution that is running */
	uint64_t seed;
	struct pfs_case case_;
	struct pfs_search_result result;
	struct pfs_weaken_notes notes;
	struct pfs_weaken_table table;
	uint32_t faults; /* neither noticed nor with a sentence, or both */
} weakening;

/* ---- the places ---- */

/* "[L1]" or "[RG1]" at the beginning of a comment's line, or of a comment behind code. */
static bool take_label(const char *line, char *label)
{
	for (const char *at = strstr(line, "* ["); at != NULL; at = strstr(at + 1, "* [")) {
		const char *name = at + 3;
		size_t letters = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		size_t length = letters + strspn(name + letters, "0123456789");
		if (letters == 0 || letters > 2 || length == letters || name[length] != ']' ||
		    length >= LABEL_BYTES)
			continue;
		memcpy(label, name, length);
		label[length] = '\0';
		return true;
	}
	return false;
}

/* A source's path below the project's folder; NULL: not a source of a policy. */
static const char *path_below(const char *path)
{
	const char *below = strstr(path, "containers/");
	return below != NULL ? below : strstr(path, "variants/");
}

/* The nearest label above the operation, in its source; "" if there is none. */
static void find_label(struct weak_place *self)
{
	static char lines[LINES_ABOVE + 1][256];
	char path[1024];
	(void)snprintf(path, sizeof(path), PFS_SIM_SOURCES "/%s", path_below(self->place->file));
	FILE *file = fopen(path, "r");
	int at = 0;
	self->label[0] = '\0';
	if (file == NULL)
		return;
	while (at < self->place->line && fgets(lines[at % (LINES_ABOVE + 1)], 256, file) != NULL)
		at++;
	(void)fclose(file);
	for (int above = 0; above <= LINES_ABOVE && at - 1 - above >= 0; above++) {
		if (take_label(lines[(at - 1 - above) % (LINES_ABOVE + 1)], self->label))
			return;
	}
}

/* The same line of a header is a place of its own in each file that includes it. */
static void saw(void *context, const struct pfs_sim_operation *operation)
{
	struct weakening *self = context;
	const struct pfs_sim_place *place = operation->place;
	if (path_below(place->file) == NULL)
		return;
	uint32_t at = 0;
	while (at < self->place_count && (self->places[at].place->line != place->line ||
					  strcmp(self->places[at].place->file, place->file) != 0))
		at++;
	if (at == PLACES_MAX)
		return;
	if (at == self->place_count) {
		self->places[at] = (struct weak_place){ .place = place,
							.kind = operation->kind,
							.order = operation->order };
		find_label(&self->places[at]);
		self->place_count++;
	}
	self->places[at].met[self->pair] = true;
}

/* ---- searches ---- */

/* One search of a pair; what = NULL: only to find the places. Returns true if it
 * failed. */
static bool search(struct weakening *self, uint32_t pair, const struct weak_place *what,
		   enum pfs_search_kind kind, uint64_t executions)
{
	struct pfs_scenario scenario;
	const struct pfs_search_options options = {
		.kind = kind, .seed = self->seed, .execution_max = executions, .append_only = true
	};
	(void)pfs_case_init(&self->case_, self->pairs[pair].scenario, self->pairs[pair].variant,
			    &scenario);
	self->case_.full_flags = true;
	self->case_.owner_fences = self->pairs[pair].owner_fences;
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_views);
	if (machine == NULL)
		return false;
	machine->setup.step_max = 20000;
	if (what == NULL)
		machine->weaken = (struct pfs_weaken){ .saw = saw, .context = self };
	else
		machine->weaken = (struct pfs_weaken){ .file = what->place->file,
						       .line = what->place->line,
						       .fully = what->fully };
	self->pair = pair;
	bool failed = !pfs_search(machine, &scenario, &options, &self->result);
	pfs_machine_destroy(machine);
	return failed;
}

static void find_pairs(struct weakening *self)
{
	const struct pfs_variant *variant;
	const char *name, *summary;
	struct pfs_scenario scenario;
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		for (size_t k = 0; (name = pfs_case_name(k, &summary)) != NULL; k++) {
			bool defect = strcmp(variant->name, "original") == 0 &&
				      strcmp(name, "four_pages") == 0; /* fails as it is */
			if (defect || self->pair_count == PAIRS_MAX ||
			    pfs_case_init(&self->case_, name, variant, &scenario) != NULL ||
			    pfs_case_is_apart(&self->case_))
				continue;
			self->pairs[self->pair_count++] = (struct pair){ variant, name, false };
			if (pfs_case_heeds_fences(variant) && self->pair_count != PAIRS_MAX)
				self->pairs[self->pair_count++] = (struct pair){ variant, name,
										 true };
		}
	}
}

static const char *text_of(const struct weak_place *what)
{
	static const char *const kinds[] = { "load", "store", "cas",  "swap", "add",
					     "or",   "xor",   "nand", "and" };
	static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", "seq" };
	static char text[48];
	bool steps = what->order == PFS_SIM_SEQ && !what->fully;
	(void)snprintf(text, sizeof(text), "%s %s -> %s", kinds[what->kind], orders[what->order],
		       !steps                        ? "relaxed"
		       : what->kind == PFS_SIM_LOAD  ? "acquire"
		       : what->kind == PFS_SIM_STORE ? "release"
						     : "acq_rel");
	return text;
}

static void say_noticed(const struct weakening *self, struct pfs_weaken_row *row, uint32_t pair,
			uint64_t spent)
{
	row->policy = self->pairs[pair].variant->name;
	row->scenario = self->pairs[pair].scenario;
	row->owner_fences = self->pairs[pair].owner_fences;
	row->after = spent;
	size_t length = strcspn(self->result.message, "(;");
	(void)snprintf(row->as, sizeof(row->as), "%.*s", (int)length, self->result.message);
	(void)printf("%-12s %-10s %-12s %7llu  %s\n", row->policy, row->scenario,
		     row->owner_fences ? "owner_fences" : "", (unsigned long long)spent, row->as);
}

/* Searches where a note says. True: noticed. */
static bool try_note(struct weakening *self, const struct weak_place *what,
		     const struct pfs_weaken_note *note, struct pfs_weaken_row *row)
{
	for (uint32_t pair = 0; pair < self->pair_count; pair++) {
		if (strcmp(self->pairs[pair].variant->name, note->policy) != 0 ||
		    strcmp(self->pairs[pair].scenario, note->scenario) != 0 ||
		    self->pairs[pair].owner_fences != note->owner_fences ||
		    !search(self, pair, what, PFS_SEARCH_ROTATE, note->executions))
			continue;
		say_noticed(self, row, pair, self->result.executions);
		return true;
	}
	return false;
}

/* First few executions of every pair, then more of each: most orders are noticed at once. */
static bool try_all(struct weakening *self, const struct weak_place *what, uint64_t executions,
		    struct pfs_weaken_row *row)
{
	static const enum pfs_search_kind kinds[] = { PFS_SEARCH_ROTATE, PFS_SEARCH_ALL };
	uint64_t spent = 0;
	for (uint64_t most = executions < 100 ? executions : 100;; most *= 10) {
		most = most < executions ? most : executions;
		for (uint32_t i = 0; i < 2 * self->pair_count; i++) {
			uint32_t pair = i / 2;
			if (!what->met[pair])
				continue;
			bool failed = search(self, pair, what, kinds[i % 2], most);
			spent += self->result.executions;
			if (!failed)
				continue;
			say_noticed(self, row, pair, spent);
			return true;
		}
		if (most == executions)
			break;
	}
	(void)printf("not noticed in %llu executions", (unsigned long long)spent);
	return false;
}

/* False: not noticed. Places with a sentence are searched only if `all`. */
static bool try_place(struct weakening *self, const struct weak_place *what, uint64_t executions,
		      bool all)
{
	struct pfs_weaken_row *row = pfs_weaken_table_add(&self->table);
	row->file = pfs_trace_base_name(what->place->file);
	row->function = what->place->function;
	row->label = what->label[0] != '\0' ? what->label : "-";
	(void)snprintf(row->operation, sizeof(row->operation), "%s", text_of(what));
	const char *const fields[5] = { row->file, row->function, row->label, what->place->text,
					row->operation };
	const struct pfs_weaken_note *note = pfs_weaken_notes_find(&self->notes, fields);
	(void)printf("%-14s %4d %-24s %-4s %-20s %-23s ", row->file, what->place->line,
		     row->function, row->label, what->place->text, row->operation);
	bool has_sentence = note != NULL && note->policy[0] == '\0';
	row->sentence = has_sentence ? note->sentence : NULL;
	bool noticed = note != NULL && !has_sentence && try_note(self, what, note, row);
	if (!noticed && (all || !has_sentence))
		noticed = try_all(self, what, executions, row);
	if (noticed == has_sentence) {
		(void)printf("%s  <-- %s\n", noticed ? "" : ",",
			     noticed ? "and its note says that no search shows it"
				     : "and no note says why");
		self->faults++;
	} else if (!noticed) {
		(void)printf("%s%.60s...\n", all ? ": " : "not searched: ", row->sentence);
	}
	(void)fflush(stdout);
	return noticed;
}

/* ---- the command ---- */

static bool has_label(const char *labels, const char *label)
{
	size_t length = strlen(label);
	for (const char *at = labels; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (length != 0 && strncmp(at, label, length) == 0 &&
		    (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

/* Finds notes of operations that the sources no longer have. */
static void look_for_old_notes(struct weakening *self)
{
	for (uint32_t i = 0; i < self->notes.count; i++) {
		const struct pfs_weaken_note *note = &self->notes.notes[i];
		if (note->met)
			continue;
		(void)printf("a note of %s, %s, %s, %s, %s: no such operation was tried  "
			     "<-- remove it\n",
			     note->file, note->function, note->edge, note->object, note->operation);
		self->faults++;
	}
}

/* 0, or what is wrong with the pairs as they are. */
static int find_places(struct weakening *self)
{
	for (uint32_t pair = 0; pair < self->pair_count; pair++) {
		if (!search(self, pair, NULL, PFS_SEARCH_ROTATE, LOOK_EXECUTIONS))
			continue;
		(void)printf("%s %s fails as it is: %s\n", self->pairs[pair].variant->name,
			     self->pairs[pair].scenario, self->result.message);
		return 1;
	}
	return 0;
}

int pfs_command_weaken(const struct pfs_weaken_options *options)
{
	struct weakening *self = &weakening;
	uint32_t noticed = 0;
	self->seed = options->seed;
	if (!pfs_weaken_notes_read(&self->notes, PFS_SIM_SOURCES "/sim/weaken.notes"))
		return 2;
	find_pairs(self);
	if (find_places(self) != 0)
		return 1;
	for (uint32_t at = 0; at < self->place_count; at++) {
		struct weak_place *place = &self->places[at];
		if (options->labels != NULL && !has_label(options->labels, place->label))
			continue;
		if (try_place(self, place, options->executions, !options->noted) ||
		    place->order != PFS_SIM_SEQ)
			continue;
		place->fully = true;
		(void)try_place(self, place, options->executions, !options->noted);
	}
	for (uint32_t i = 0; i < self->table.count; i++)
		noticed += self->table.rows[i].policy != NULL;
	(void)printf("%u of %u weaker orders are noticed\n", noticed, self->table.count);
	if (options->labels == NULL)
		look_for_old_notes(self);
	if (options->out != NULL &&
	    !pfs_weaken_table_write(&self->table, options->out, options->executions))
		return 2;
	if (self->faults != 0)
		(void)printf("%u faults: sim/weaken.notes says what no search can show\n",
			     self->faults);
	return self->faults != 0;
}
