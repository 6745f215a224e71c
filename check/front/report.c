#include "check/front/report.h"

#include <stdarg.h>
#include <string.h>

#include "check/front/assembly.h"
#include "check/front/shared.h"
#include "check/machine/trace.h"

/* ---- what was not searched ---- */

static bool none_ended(const struct pfs_check_report *self)
{
	return self->executions == self->incomplete + self->pruned;
}

__attribute__((format(printf, 5, 6))) static void add(struct pfs_check_report *self,
						      const char *option, const char *file,
						      int line, const char *format, ...)
{
	if (self->reason_count == PFS_REASONS_MAX)
		return;
	struct pfs_check_reason *reason = &self->reasons[self->reason_count++];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(reason->text, sizeof(reason->text), format, arguments);
	va_end(arguments);
	reason->option = option;
	reason->file = file != NULL && file[0] != '\0' ? file : NULL;
	reason->line = line;
}

static void add_stop(struct pfs_check_report *self, const struct pfs_check_arguments *arguments)
{
	static const char more[] = ": take more of them, a smaller scenario, or --preemptions 2";
	if (arguments->executions != 0 && self->executions >= arguments->executions)
		add(self, "executions", NULL, 0, "stopped after %llu executions (--executions)%s",
		    (unsigned long long)self->executions, more);
	else
		add(self, "seconds", NULL, 0, "stopped after %.1f s (--seconds)%s%s", self->seconds,
		    none_ended(self) ? ", in which no execution ended" : "", more);
}

/* How many time limits had to pass is known only where they did. */
static void add_limit(struct pfs_check_report *self, const struct pfs_check_arguments *arguments,
		      const struct pfs_shared_place *place)
{
	add(self, "spurious", place->file, place->line,
	    "an execution was given up where all threads wait, one with a time limit, after %llu "
	    "spurious events (--spurious): allow more of them",
	    (unsigned long long)arguments->spurious);
}

void pfs_report_reasons(struct pfs_check_report *self, const struct pfs_check_arguments *arguments)
{
	const struct pfs_shared_place *steps = pfs_shared_noted(PFS_NOTE_STEPS);
	const struct pfs_shared_place *limit = pfs_shared_noted(PFS_NOTE_LIMIT);
	const struct pfs_shared_place *looks = pfs_shared_noted(PFS_NOTE_LOOKS);
	const struct pfs_assembly *unseen = pfs_assembly_unseen(), *drawn = pfs_assembly_drawn();
	if (self->complete)
		return;
	if (self->stopped)
		add_stop(self, arguments);
	if (steps->is_noted)
		add(self, "steps", steps->file, steps->line,
		    "abandoned executions had more than --steps steps (%llu): check for an endless "
		    "loop",
		    (unsigned long long)arguments->steps);
	if (limit->is_noted)
		add_limit(self, arguments, limit);
	if (looks->is_noted)
		add(self, "looks", looks->file, looks->line,
		    "a loop was cut after %u iterations that only read and count (--looks)",
		    pfs_user.looks_max);
	if (unseen->count != 0)
		add(self, NULL, unseen->file, unseen->line,
		    "instructions in assembly access memory, which is not seen (%u of them)",
		    unseen->count);
	if (drawn->count != 0)
		add(self, NULL, drawn->file, drawn->line,
		    "instructions read the processor's clock or its random numbers, which no "
		    "schedule decides (%u of them)",
		    drawn->count);
	for (uint32_t n = 0; n < PFS_LEFT_COUNT; n++) {
		if ((self->left_out & UINT32_C(1) << n) != 0)
			add(self, NULL, NULL, 0, "%s", pfs_search_left_words(n));
	}
}

void pfs_report_print_reasons(const struct pfs_check_report *self,
			      const struct pfs_check_arguments *arguments, FILE *out)
{
	for (uint32_t i = 0; i < self->reason_count; i++) {
		const struct pfs_check_reason *reason = &self->reasons[i];
		(void)fprintf(out, "  %s", reason->text);
		if (reason->file != NULL)
			(void)fprintf(out, ", at %s:%d", pfs_trace_base_name(reason->file),
				      reason->line);
		(void)fputc('\n', out);
	}
	if (arguments->complete && !self->complete && !self->failed)
		(void)fprintf(out, "  these were not all executions, as --complete requires\n");
}

/* ---- what was ---- */

const char *pfs_report_verdict(const struct pfs_check_report *self)
{
	return self->unchecked    ? "not checked"
	       : self->failed     ? "failed"
	       : none_ended(self) ? "none ended"
				  : "no violation";
}

int pfs_report_status(const struct pfs_check_report *self,
		      const struct pfs_check_arguments *arguments)
{
	bool wanted = self->complete || !arguments->complete;
	return self->unchecked || (!self->failed && (none_ended(self) || !wanted)) ? 2
										   : self->failed;
}

/* What --no-races takes from the extent: with a race, plain accesses have more orders. */
static const char *unseen_races(const struct pfs_check_report *self,
				const struct pfs_check_arguments *arguments)
{
	if (!arguments->no_races || self->failed)
		return "";
	return self->complete ? " unless it has a data race, which was not looked for (--no-races)"
			      : "; data races were not looked for (--no-races)";
}

void pfs_report_print(const struct pfs_check_report *self,
		      const struct pfs_check_arguments *arguments, FILE *out)
{
	bool may_fail = false;
	for (uint32_t thread = 0; thread < PFS_USER_THREADS_MAX; thread++)
		may_fail |= pfs_user.may_fail[thread] != 0;
	(void)fprintf(out,
		      "%s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		      "%llu steps, %s%s%s\n",
		      self->scenario, arguments->memory, arguments->search,
		      (unsigned long long)self->executions, (unsigned long long)self->repeated,
		      (unsigned long long)self->incomplete, (unsigned long long)self->steps,
		      self->unchecked ? "CANNOT BE CHECKED"
		      : self->failed  ? "FAILED"
				      : self->extent,
		      unseen_races(self, arguments),
		      self->failed       ? ""
		      : none_ended(self) ? ": no execution ended that counts, so nothing is known"
					 : ": no violation");
	if (self->pruned != 0)
		(void)fprintf(out,
			      "  %llu of these executions do not count: an assumption did not hold "
			      "(pfs_check_assume)\n",
			      (unsigned long long)self->pruned);
	if (may_fail)
		(void)fprintf(out,
			      "  with up to %llu spurious failures and wakeups in an execution "
			      "(--spurious)\n",
			      (unsigned long long)arguments->spurious);
}
