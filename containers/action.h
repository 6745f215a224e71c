/*
 * action.h - a signal's handler of ours in front of the program's own action. Ours looks first;
 * what is not its own is passed on, with the flags and the mask that the program chose.
 *
 * A library that defines sigaction and signal asks pfs_action_of, and leads calls for a signal that
 * is handled to pfs_action_set: the program then sees its own actions only. Without that, a handler
 * that the program installs later replaces ours.
 */
#ifndef PFS_ACTION_H
#define PFS_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "atomic.h"

#define PFS_ACTIONS_KEPT 16u /* old ones stay valid for handlers that are reading them */

typedef void pfs_action_handler(int number, siginfo_t *info, void *context);

/* Zero at first. */
struct pfs_action {
	int number;
	pfs_action_handler *handle;    /* ours */
	pid_t owner;                   /* the process whose actions these are */
	_Atomic(uint32_t) is_in_front; /* ours is installed */
	_Atomic(uint32_t) theirs;      /* the current one of `kept`; [CU3] [CU4] */
	_Atomic(uint32_t) written;     /* of them; one caller of sigaction at a time */
	struct sigaction kept[PFS_ACTIONS_KEPT];
};

/* begin: install our handler, in front of the action that the signal has now. end: give that back,
 * unless another handler was installed since. Both by one thread at a time. */
void pfs_action_begin(struct pfs_action *self, int number, pfs_action_handler *handle);
void pfs_action_end(struct pfs_action *self);

/* sigaction of the program, while ours is in front. Returns what sigaction does. */
int pfs_action_set(struct pfs_action *self, const struct sigaction *action,
		   struct sigaction *before);

/* In our handler: act as the program's action would have. */
void pfs_action_pass_on(struct pfs_action *self, int number, siginfo_t *info, void *context);

/* In a forked child: the actions are the child's from now on. */
void pfs_action_child(struct pfs_action *self);

/* The one that is in front for a signal; NULL: none is. */
struct pfs_action *pfs_action_of(int number);

#endif
