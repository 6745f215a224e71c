/*
 * action.c - keeps a handler in front of the program's action for a signal.
 *
 * Ordering:  [CU3] theirs: store, release  <->  [CU4] theirs: load, acquire
 *            carries: the program's action, written before its place becomes current
 *            [CU5] front: store, release   <->  [CU6] front: load, acquire
 *            carries: number and handler of ours
 */
#define _GNU_SOURCE
#include "action.h"

#include <sys/syscall.h>
#include <unistd.h>

#define FRONTS 2u

/* Those that were ever in front. */
static _Atomic(struct pfs_action *) fronts[FRONTS];

/* glibc's sigaction under a name that no library replaces. */
extern int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

/* Not getpid: a small program would have 64 KiB of glibc's code resident for that call alone. The
 * code of syscall is beside mmap's, which is resident already. */
static pid_t process(void)
{
	return (pid_t)syscall(SYS_getpid);
}

/* Ends the program as without a handler: by the repeated access, or by the signal that was sent. */
static void end_by_default(int number, bool was_sent)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };
	(void)__sigaction(number, &none, NULL);
	if (was_sent)
		(void)syscall(SYS_tgkill, process(), gettid(), number);
}

static struct sigaction *theirs_now(struct pfs_action *self)
{
	return &self->kept[pfs_load_acquire(&self->theirs)]; /* [CU4] acquire, pairs with [CU3] */
}

void pfs_action_pass_on(struct pfs_action *self, int number, siginfo_t *info, void *context)
{
	struct sigaction action = *theirs_now(self);
	bool was_sent = info->si_code <= 0;
	if (action.sa_handler == SIG_IGN && was_sent)
		return;
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
		end_by_default(number, was_sent);
		return;
	}
	if ((action.sa_flags & (int)SA_RESETHAND) != 0) {
		const struct sigaction none = { .sa_handler = SIG_DFL };
		(void)pfs_action_set(self, &none, NULL);
	}
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* With the flags and the mask of the program's action, which it may rely on. */
static int install(const struct pfs_action *self, const struct sigaction *action)
{
	struct sigaction ours = { .sa_flags = SA_ONSTACK };
	if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
		ours = *action;
	ours.sa_flags = (ours.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	ours.sa_sigaction = self->handle;
	return __sigaction(self->number, &ours, NULL);
}

/* A vfork's child shares this memory, but has actions of its own until it execs. */
static int act_alone(struct pfs_action *self, const struct sigaction *action,
		     struct sigaction *before)
{
	struct sigaction now;
	int result = __sigaction(self->number, action, &now);
	if (result == 0 && before != NULL)
		*before = now.sa_sigaction == self->handle ? *theirs_now(self) : now;
	return result;
}

int pfs_action_set(struct pfs_action *self, const struct sigaction *action,
		   struct sigaction *before)
{
	if (process() != self->owner)
		return act_alone(self, action, before);
	struct sigaction now = *theirs_now(self);
	if (action != NULL) {
		/* relaxed: a program changes the action of a signal on one thread at a time. */
		uint32_t place = (pfs_fetch_add_relaxed(&self->written, 1) + 1) % PFS_ACTIONS_KEPT;
		self->kept[place] = *action;
		pfs_store_release(&self->theirs, place); /* [CU3] release, pairs with [CU4] */
		if (install(self, action) != 0)
			return -1;
	}
	if (before != NULL)
		*before = now;
	return 0;
}

void pfs_action_child(struct pfs_action *self)
{
	self->owner = process();
}

struct pfs_action *pfs_action_of(int number)
{
	for (uint32_t i = 0; i < FRONTS; i++) {
		/* [CU6] acquire, pairs with [CU5]. */
		struct pfs_action *one = pfs_load_acquire(&fronts[i]);
		/* relaxed: whoever changes the action meanwhile comes before or after. */
		if (one != NULL && one->number == number && pfs_load_relaxed(&one->is_in_front))
			return one;
	}
	return NULL;
}

static void enlist(struct pfs_action *self)
{
	for (uint32_t i = 0; i < FRONTS; i++) {
		struct pfs_action *before = NULL;
		/* [CU5] release, pairs with [CU6]. */
		if (pfs_cas_release(&fronts[i], &before, self) || before == self)
			return;
	}
}

void pfs_action_begin(struct pfs_action *self, int number, pfs_action_handler *handle)
{
	struct sigaction now;
	self->number = number;
	self->handle = handle;
	self->owner = process();
	if (__sigaction(self->number, NULL, &now) != 0)
		return;
	self->kept[0] = now;
	pfs_store_release(&self->theirs, 0); /* [CU3] release, pairs with [CU4] */
	if (install(self, &now) != 0)
		return;
	pfs_store_relaxed(&self->is_in_front, 1); /* relaxed: [CU5] carries it */
	enlist(self);
}

void pfs_action_end(struct pfs_action *self)
{
	struct sigaction now;
	/* relaxed: one thread at a time begins and ends. */
	if (pfs_load_relaxed(&self->is_in_front) == 0 || __sigaction(self->number, NULL, &now) != 0)
		return;
	if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == self->handle)
		(void)__sigaction(self->number, theirs_now(self), NULL);
	pfs_store_relaxed(&self->is_in_front, 0); /* relaxed: as above */
}
