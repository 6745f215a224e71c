#include "check/front/history.h"

#include <string.h>

#include <pfslab/check.h>

#include "check/front/loops.h"
#include "check/front/places.h"
#include "check/front/user.h"
#include "check/machine/depends.h"
#include "check/machine/snapshot.h"
#include "check/machine/trace.h"

#define REFUSED_SHOWN 4u

/* Of a call, in addition to its report. */
struct times {
	uint32_t stored; /* its thread's last buffered store, until that has left the buffer */
	uint32_t epoch;  /* its thread's time when it returned */
	uint32_t known[PFS_USER_THREADS_MAX]; /* what its thread knew when it began */
};

static struct {
	bool known;           /* of all executions */
	pfs_check_step *step; /* NULL: no specification */
	size_t state_bytes;
	char initial[PFS_HISTORY_STATE_MAX];
	uint32_t count, now;
	uint32_t current[PFS_USER_THREADS_MAX + 1]; /* 1 + the call that it is in; 0: none */
	struct pfs_call calls[PFS_HISTORY_MAX];
	struct times times[PFS_HISTORY_MAX];
	struct pfs_history_longest longest;
	bool do_not_fit;
	char clock; /* the cell of the notes */
} history;

void pfs_history_by_known(bool known)
{
	history.known = known;
}

void pfs_history_begin(void)
{
	history.step = NULL;
	history.count = history.now = 0;
	history.do_not_fit = false;
	memset(history.current, 0, sizeof(history.current));
}

void pfs_history_put(struct pfs_machine_snapshot *snapshot)
{
	if (history.step == NULL)
		return;
	pfs_snapshot_put(snapshot, &history.count, sizeof(history.count));
	pfs_snapshot_put(snapshot, &history.now, sizeof(history.now));
	pfs_snapshot_put(snapshot, history.current, sizeof(history.current));
	pfs_snapshot_put(snapshot, history.calls, history.count * sizeof(history.calls[0]));
	pfs_snapshot_put(snapshot, history.times, history.count * sizeof(history.times[0]));
}

void pfs_check_specification(const void *initial, size_t state_bytes, pfs_check_step *step)
{
	if (!pfs_user.in_setup) {
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			"pfs_check_specification in a thread: call it in a scenario's function");
		return;
	}
	if (state_bytes > PFS_HISTORY_STATE_MAX) {
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			"pfs_check_specification: the state has %zu bytes, the most is %u: "
			"make it smaller",
			state_bytes, PFS_HISTORY_STATE_MAX);
		return;
	}
	memcpy(history.initial, initial, state_bytes);
	history.state_bytes = state_bytes;
	history.step = step;
}

static bool runs(void)
{
	return pfs_user.machine != NULL && pfs_user.machine->run.running != NULL;
}

/* A thread, or PFS_USER_THREADS_MAX: set-up, and at rest. */
static uint32_t caller(void)
{
	uint32_t id = pfs_user_current()->id;
	return id < PFS_USER_THREADS_MAX ? id : PFS_USER_THREADS_MAX;
}

/* The clock ticks. */
static void tick(uint64_t which, const char *name, const void *code)
{
	const void *own;
	if (!runs() || history.known)
		return;
	/* clang-format off */
	struct pfs_sim_operation note = {
		&history.clock, which, 0, pfs_places_named(pfs_user_place(code, &own), name), 1,
		PFS_SIM_NOTE, PFS_SIM_RELAXED, PFS_SIM_RELAXED
	};
	/* clang-format on */
	pfs_loops_call(pfs_user_current());
	(void)pfs_sim_execute(&note);
	pfs_user_arrive();
}

/* Calls whose stores have left their buffers have ended. */
static void end_drained(void)
{
	const struct pfs_machine *machine = pfs_user.machine;
	for (uint32_t i = 0; i < history.count; i++) {
		struct pfs_call *call = &history.calls[i];
		if (!call->returned || call->ended != PFS_HISTORY_NEVER)
			continue;
		const struct pfs_vthread *thread = machine->threads[call->thread];
		if (thread->buffer_count == 0 ||
		    thread->buffer[thread->buffer_first].step > history.times[i].stored)
			call->ended = history.now++;
	}
}

static struct pfs_call *add_call(uint32_t thread, const char *name)
{
	uint32_t at = history.count;
	if (history.step == NULL) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "a call without a specification: the scenario's function calls "
				 "pfs_check_specification first");
	} else if (history.current[thread] != 0) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "call of %s inside a call of %s, which has not returned: end it "
				 "with pfs_check_return",
				 name, history.calls[history.current[thread] - 1].name);
	} else if (at == PFS_HISTORY_MAX) {
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			"more than %u calls of a specification in one execution: make fewer",
			PFS_HISTORY_MAX);
	} else {
		history.current[thread] = at + 1;
		history.count++;
		return &history.calls[at];
	}
	return NULL;
}

void pfs_check_call_at(int operation, const char *name, int64_t argument)
{
	struct pfs_machine *machine = pfs_user.machine;
	uint32_t id = caller();
	tick(PFS_NOTE_BEGIN, name, __builtin_return_address(0));
	struct pfs_call *call = add_call(id, name);
	if (call == NULL)
		return;
	if (runs())
		end_drained();
	*call = (struct pfs_call){ .name = name,
				   .operation = operation,
				   .argument = argument,
				   .phase = runs()              ? PFS_CALL_IN_THREAD
					    : pfs_user.in_setup ? PFS_CALL_SET_UP
								: PFS_CALL_AT_REST,
				   .thread = id,
				   .called = history.now++,
				   .ended = PFS_HISTORY_NEVER };
	if (!runs())
		return;
	if (history.known)
		memcpy(history.times[call - history.calls].known,
		       pfs_clock_of(&machine->clocks, id),
		       machine->clocks.threads * sizeof(uint32_t));
	pfs_trace_mark(machine, id, "[%s(%lld)", name, (long long)argument);
}

int64_t pfs_check_return(int64_t result)
{
	struct pfs_machine *machine = pfs_user.machine;
	uint32_t id = caller();
	if (history.current[id] == 0) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "pfs_check_return without pfs_check_call: begin the call first");
		return result;
	}
	uint32_t at = history.current[id] - 1;
	struct pfs_call *call = &history.calls[at];
	tick(PFS_NOTE_END, call->name, __builtin_return_address(0));
	history.current[id] = 0;
	call->returned = true;
	call->result = result;
	if (!runs()) {
		call->ended = history.now++;
		return result;
	}
	const struct pfs_vthread *thread = machine->threads[id];
	uint32_t waiting = thread->buffer_count;
	if (waiting == 0)
		call->ended = history.now++;
	else
		history.times[at].stored =
			thread->buffer[(thread->buffer_first + waiting - 1) % PFS_BUFFER_MAX].step;
	if (history.known)
		history.times[at].epoch = pfs_clock_of(&machine->clocks, id)[id];
	pfs_trace_mark(machine, id, "] %s = %lld", call->name, (long long)result);
	return result;
}

/* ---- at the end of the execution ---- */

/* Must the first come before the other? */
static bool precedes(uint32_t first, uint32_t other)
{
	const struct pfs_call *a = &history.calls[first], *b = &history.calls[other];
	if (!a->returned)
		return false;
	if (a->phase != b->phase)
		return a->phase < b->phase;
	if (a->thread == b->thread)
		return first < other;
	return history.known ? history.times[other].known[a->thread] >= history.times[first].epoch
			     : a->ended < b->called;
}

void pfs_history_check(void)
{
	uint64_t before[PFS_HISTORY_MAX];
	if (history.step == NULL)
		return;
	memset(before, 0, history.count * sizeof(before[0]));
	for (uint32_t a = 0; a < history.count; a++) {
		for (uint32_t b = 0; b < history.count; b++)
			before[b] |= (uint64_t)(a != b && precedes(a, b)) << a;
	}
	enum pfs_history_verdict verdict = pfs_history_order(history.calls, before, history.count,
							     history.initial, history.state_bytes,
							     history.step, &history.longest);
	history.do_not_fit = verdict == PFS_HISTORY_DO_NOT;
	if (verdict == PFS_HISTORY_DO_NOT)
		pfs_machine_find(PFS_FOUND_NOT_LINEARIZABLE, PFS_NO_SIDES,
				 "not linearizable: no order of the %u calls gives their results",
				 history.count);
	else if (verdict == PFS_HISTORY_TOO_MANY)
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "not enough memory to search for an order of %u calls: use fewer "
				 "overlapping calls, or a smaller state",
				 history.count);
}

static void put_call(FILE *out, const struct pfs_call *call)
{
	(void)fprintf(out, "%s(%lld)", call->name, (long long)call->argument);
	if (call->returned)
		(void)fprintf(out, " = %lld", (long long)call->result);
	else
		(void)fputs(" has not returned", out);
}

/* The time of a call, from left to right. */
static void put_bar(FILE *out, const struct pfs_call *call)
{
	for (uint32_t at = 0; at < history.now; at++)
		(void)fputc(at < call->called || (call->ended < at)   ? ' '
			    : at == call->called || at == call->ended ? '|'
								      : '-',
			    out);
}

void pfs_history_print(FILE *out)
{
	static const char *const who[] = {
		[PFS_CALL_SET_UP] = "set-up", [PFS_CALL_AT_REST] = "at rest"
	};
	const struct pfs_history_longest *longest = &history.longest;
	if (!history.do_not_fit)
		return;
	(void)fprintf(out, "calls, by time%s:\n",
		      history.known ? "; a call follows only calls that its thread knew of" : "");
	for (uint32_t i = 0; i < history.count; i++) {
		const struct pfs_call *call = &history.calls[i];
		if (call->phase == PFS_CALL_IN_THREAD)
			(void)fprintf(out, "  T%-6u ", call->thread);
		else
			(void)fprintf(out, "  %-7s ", who[call->phase]);
		put_bar(out, call);
		(void)fputc(' ', out);
		put_call(out, call);
		(void)fputc('\n', out);
	}
	(void)fprintf(out, "the longest order that gives their results:%s",
		      longest->count == 0 ? " none" : "");
	for (uint32_t i = 0; i < longest->count; i++) {
		(void)fputs(i == 0 ? " " : ", ", out);
		put_call(out, &history.calls[longest->order[i]]);
	}
	(void)fputc('\n', out);
	for (uint32_t i = 0; i < longest->refused_count && i < REFUSED_SHOWN; i++) {
		(void)fputs("  behind it ", out);
		put_call(out, &history.calls[longest->refused[i]]);
		(void)fprintf(out, " would have to be %lld\n", (long long)longest->wanted[i]);
	}
}
