/* life.c - machines and their threads: created, reset, destroyed; and their bad accesses. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/actors.h"
#include "check/machine/current.h"
#include "check/machine/grow.h"
#include "check/machine/trace.h"

#define STEP_MAX_DEFAULT 1000000u
#define SIGNAL_STACK_BYTES 65536

static _Thread_local char *signal_stack;

static void on_bad_access(int signal_number, siginfo_t *info, void *context)
{
	enum pfs_sim_memory_state state = PFS_SIM_UNUSED;
	(void)context;
	if (pfs_current != NULL && pfs_current->hooks.fault != NULL &&
	    pfs_current->hooks.fault(info->si_addr))
		return;
	if (pfs_current == NULL ||
	    (pfs_current->run.running == NULL && !pfs_current->aside.is_on)) {
		(void)signal(signal_number, SIG_DFL);
		return; /* and fault again */
	}
	bool in_region = pfs_sim_memory_has(&pfs_current->memory, info->si_addr, &state);
	const struct pfs_vthread *running = pfs_current->run.running;
	if (running == NULL)
		pfs_machine_find(PFS_FOUND_BAD_ACCESS, PFS_NO_SIDES,
				 "set-up or final check: plain access to %s",
				 in_region && state == PFS_SIM_GONE ? "a page that was given back"
								    : "a bad address");
	struct pfs_finding_side side;
	uint32_t count = pfs_side_after(running, &side);
	pfs_machine_find(PFS_FOUND_BAD_ACCESS, &side, count, "thread %u: %s, %s", running->id,
			 pfs_fiber_ran_over(&running->fiber, info->si_addr) ? "stack overflow"
			 : in_region && state == PFS_SIM_GONE
				 ? "plain access to a page that was given back"
				 : "plain access to a bad address",
			 pfs_trace_after(running->pending.place));
}

/* On a stack of its own, because the fiber's may have overflowed. The handler leaves by a fiber
 * switch, so the signal must stay unblocked. */
static bool catch_bad_access(void)
{
	struct sigaction action = { .sa_sigaction = on_bad_access };
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	if (signal_stack == NULL)
		signal_stack = malloc(SIGNAL_STACK_BYTES);
	stack_t stack = { .ss_sp = signal_stack, .ss_size = SIGNAL_STACK_BYTES };
	return signal_stack != NULL && sigaltstack(&stack, NULL) == 0 &&
	       sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

struct pfs_machine *pfs_machine_create(const struct pfs_memory_model *model)
{
	struct pfs_machine *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return NULL;
	if (!catch_bad_access() || pfs_fiber_init(&self->aside.fiber) != 0) {
		free(self);
		return NULL;
	}
	if (pfs_sim_memory_init(&self->memory) != 0) {
		pfs_fiber_fini(&self->aside.fiber);
		free(self);
		return NULL;
	}
	self->model = model;
	self->setup.watch = true;
	self->setup.drains_end = true;
	self->hooks.plain = pfs_races_plain;
	self->setup.step_max = STEP_MAX_DEFAULT;
	self->setup.repeats_max = PFS_VIEWS_REPEATS_MAX;
	self->run.last_actor = PFS_NOBODY;
	pfs_current = self;
	return self;
}

void pfs_machine_destroy(struct pfs_machine *self)
{
	if (self == NULL)
		return;
	for (uint32_t id = 0; id < self->made_count; id++) {
		pfs_fiber_fini(&self->threads[id]->fiber);
		if (self->model->thread_fini != NULL)
			self->model->thread_fini(self->threads[id]);
		free(self->threads[id]);
	}
	pfs_fiber_fini(&self->aside.fiber);
	pfs_sim_memory_fini(&self->memory);
	pfs_clocks_fini(&self->clocks);
	pfs_races_fini(&self->races);
	if (self->model->fini != NULL)
		self->model->fini(self);
	pfs_fences_fini(&self->fences);
	pfs_news_fini(&self->news);
	free(self->threads);
	free(self->run.schedule);
	pfs_trace_fini(self);
	free(self);
	pfs_current = NULL;
}

void pfs_machine_reset(struct pfs_machine *self)
{
	pfs_sim_memory_reset(&self->memory);
	pfs_trace_reset(self);
	self->thread_count = 0;
	self->run.primed_count = 0;
	self->run.step_count = 0;
	self->run.yielded = false;
	self->run.is_known = false;
	pfs_news_reset(&self->news);
	self->run.last_actor = PFS_NOBODY;
	self->run.running = NULL;
	self->run.end = PFS_END_DONE;
	self->run.message[0] = '\0';
	self->run.finding.kind = PFS_FOUND_FAILURE;
	self->run.finding.side_count = 0;
	pfs_current = self;
}

static struct pfs_vthread *vthread_new(const struct pfs_memory_model *model)
{
	struct pfs_vthread *thread = calloc(1, sizeof(*thread));
	if (thread == NULL)
		return NULL;
	if (model->thread_init != NULL && !model->thread_init(thread)) {
		free(thread);
		return NULL;
	}
	if (pfs_fiber_init(&thread->fiber) != 0) {
		if (model->thread_fini != NULL)
			model->thread_fini(thread);
		free(thread);
		return NULL;
	}
	return thread;
}

uint32_t pfs_machine_spawn(struct pfs_machine *self, uint32_t node, void (*body)(void *argument),
			   void *argument)
{
	uint32_t id = self->thread_count;
	if (id == PFS_MACHINE_THREADS_MAX ||
	    !pfs_grow((void **)&self->threads, &self->thread_room, id + 1, sizeof(*self->threads)))
		return PFS_THREAD_NONE;
	if (id == self->made_count) {
		self->threads[id] = vthread_new(self->model);
		if (self->threads[id] == NULL)
			return PFS_THREAD_NONE;
		self->made_count++;
	}
	struct pfs_vthread *thread = self->threads[id];
	/* All but the fiber and the buffer. */
	thread->machine = self;
	thread->body = body;
	thread->argument = argument;
	thread->pending = (struct pfs_sim_operation){ 0 };
	thread->state = PFS_VTHREAD_READY;
	thread->id = id;
	thread->node = node;
	thread->steps = 0;
	thread->stop_after = UINT32_MAX;
	thread->looks = (struct pfs_looks){ 0 };
	thread->buffer_first = thread->buffer_count = 0;
	pfs_fiber_set(&thread->fiber, pfs_machine_body, thread, id);
	self->thread_count++;
	return id;
}
