#include "sim/command_weaken.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cases.h"

#define PLACES_MAX 256u
#define PAIRS_MAX 256u
#define LABEL_BYTES 8
#define LOOK_EXECUTIONS 40u /* of each pair, to see which places it executes */
#define LINES_ABOVE 8       /* a label stands in the comment above */

struct weak_place {
	const struct pfs_sim_place *place;
	uint8_t kind, order;
	char label[LABEL_BYTES];
	bool fully; /* seq becomes relaxed */
	bool met[PAIRS_MAX]; /* by this pair of policy and scenario */
	bool caught;
};

struct pair {
	const struct pfs_variant *variant;
	const char *scenario;
	bool owner_fences;
};

/* All that the command works on. */
static struct weakening {
	struct weak_place places[PLACES_MAX];
	struct pair pairs[PAIRS_MAX];
	uint32_t place_count, pair_count;
	uint32_t pair; /* of the execution that is running */
	uint64_t seed;
	struct pfs_case case_;
	struct pfs_search_result result;
} weakening;

/* ---- the places ---- */

/* "[L1]" at the beginning of a comment's line. */
static bool take_label(const char *line, char *label)
{
	const char *at = strchr(line, '[');
	if (at == NULL || at < line + 2 || at[-1] != ' ' || at[-2] != '*' ||
	    !isupper((unsigned char)at[1]) || !isdigit((unsigned char)at[2]))
		return false;
	size_t length = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	if (at[1 + length] != ']' || length >= LABEL_BYTES)
		return false;
	memcpy(label, at + 1, length);
	label[length] = '\0';
	return true;
}

/* The nearest label above the operation, in its source; "" if there is none. */
static void find_label(struct weak_place *self)
{
	static char lines[LINES_ABOVE + 1][256];
	FILE *file = fopen(self->place->file, "r");
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
	if (strstr(place->file, "containers/") == NULL && strstr(place->file, "variants/") == NULL)
		return;
	uint32_t at = 0;
	while (at < self->place_count &&
	       (self->places[at].place->line != place->line ||
		strcmp(self->places[at].place->file, place->file) != 0))
		at++;
	if (at == PLACES_MAX)
		return;
	if (at == self->place_count) {
		self->places[at] = (struct weak_place){ .place = place, .kind = operation->kind,
							.order = operation->order };
		find_label(&self->places[at]);
		self->place_count++;
	}
	self->places[at].met[self->pair] = true;
}

/* ---- searches ---- */

/* One search of a pair; what = NULL: only look which places there are. Returns true if it
 * failed. */
static bool search(struct weakening *self, uint32_t pair, const struct weak_place *what,
		   enum pfs_search_kind kind, uint64_t executions)
{
	struct pfs_scenario scenario;
	const struct pfs_search_options options = { .kind = kind, .seed = self->seed,
						    .execution_max = executions,
						    .append_only = true };
	(void)pfs_case_init(&self->case_, self->pairs[pair].scenario, self->pairs[pair].variant,
			    &scenario);
	self->case_.full_flags = true;
	self->case_.owner_fences = self->pairs[pair].owner_fences;
	struct pfs_machine *machine = pfs_machine_create(PFS_MACHINE_VIEWS);
	if (machine == NULL)
		return false;
	machine->step_max = 20000;
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
			    pfs_case_init(&self->case_, name, variant, &scenario) != NULL)
				continue;
			self->pairs[self->pair_count++] = (struct pair){ variant, name, false };
			if (pfs_case_heeds_fences(variant) && self->pair_count != PAIRS_MAX)
				self->pairs[self->pair_count++] =
					(struct pair){ variant, name, true };
		}
	}
}

static const char *text_of(const struct weak_place *what)
{
	static const char *const kinds[] = { "load", "store", "cas", "swap", "add", "or", "and" };
	static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", "seq" };
	static char text[48];
	bool steps = what->order == PFS_SIM_SEQ && !what->fully;
	(void)snprintf(text, sizeof(text), "%s %s -> %s", kinds[what->kind], orders[what->order],
		       !steps                         ? "relaxed"
		       : what->kind == PFS_SIM_LOAD  ? "acquire"
		       : what->kind == PFS_SIM_STORE ? "release"
						     : "acq_rel");
	return text;
}

/* Few executions of every pair first, then more of each: most are caught at once. */
static void try_place(struct weakening *self, struct weak_place *what, uint64_t executions)
{
	static const enum pfs_search_kind kinds[] = { PFS_SEARCH_ROTATE, PFS_SEARCH_ALL };
	uint64_t spent = 0;
	(void)printf("%-14s %4d %-4s %-23s ", pfs_trace_base_name(what->place->file),
		     what->place->line, what->label, text_of(what));
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
			what->caught = true;
			(void)printf("%-12s %-10s %7llu  %.60s\n",
				     self->pairs[pair].variant->name, self->pairs[pair].scenario,
				     (unsigned long long)spent, self->result.message);
			return;
		}
		if (most == executions)
			break;
	}
	(void)printf("not caught in %llu executions\n", (unsigned long long)spent);
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

/* Is each of the labels caught at some place? */
static bool all_caught(const struct weakening *self, const char *labels)
{
	bool all = true;
	char copy[256], *rest = copy, *label;
	(void)snprintf(copy, sizeof(copy), "%s", labels);
	while ((label = strsep(&rest, ",")) != NULL) {
		bool caught = false;
		for (uint32_t at = 0; at < self->place_count; at++)
			caught |= self->places[at].caught &&
				  strcmp(self->places[at].label, label) == 0;
		if (!caught)
			(void)printf("[%s] is not caught anywhere\n", label);
		all &= caught;
	}
	return all;
}

int pfs_command_weaken(const char *labels, uint64_t executions, uint64_t seed)
{
	struct weakening *self = &weakening;
	uint32_t tried = 0, caught = 0;
	self->seed = seed;
	find_pairs(self);
	for (uint32_t pair = 0; pair < self->pair_count; pair++) {
		if (!search(self, pair, NULL, PFS_SEARCH_ROTATE, LOOK_EXECUTIONS))
			continue;
		(void)printf("%s %s fails as it is: %s\n", self->pairs[pair].variant->name,
			     self->pairs[pair].scenario, self->result.message);
		return 1;
	}
	(void)printf("%-14s %4s %-4s %-23s %-12s %-10s %7s  %s\n", "file", "line", "edge",
		     "operation", "caught by", "scenario", "after", "as");
	for (uint32_t at = 0; at < self->place_count; at++) {
		if (labels != NULL && !has_label(labels, self->places[at].label))
			continue;
		try_place(self, &self->places[at], executions);
		(void)fflush(stdout);
		tried++;
		if (!self->places[at].caught && self->places[at].order == PFS_SIM_SEQ) {
			self->places[at].fully = true;
			try_place(self, &self->places[at], executions);
		}
		caught += self->places[at].caught;
	}
	(void)printf("%u of %u places are noticed\n", caught, tried);
	return labels == NULL || all_caught(self, labels) ? 0 : 1;
}
