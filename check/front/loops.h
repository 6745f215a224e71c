/*
 * loops.h - which iterations of the checked program's loops have no effect.
 *
 * A thread visits a place when it calls an atomic operation that may only read, a function that
 * tries a lock, or a yield. If it returns to a place in the state of an earlier visit (registers,
 * stack and errno are compared), and has changed nothing since, the iteration between had no
 * effect: the same execution exists without it. So the thread waits there: PFS_YIELD_LOOP of
 * news.h. What it passes to the call is compared, too, and how often it has read a clock or,
 * if the program reads any, slept.
 *
 * Effects are: what changes atomic memory; a plain write outside of the thread's own stack; malloc
 * and free; a call of a library's function that is not seen; a spurious failure; a value of a key.
 * A section of a mutex without effects has none, if the program never tries to lock one. A plain
 * read is an input that no news tells of: it counts as an effect if the iteration also releases,
 * other than by a mutex; else a change of what was read comes with news, or is a data race.
 *
 * Bytes of a stack that another thread has written, or that are atomic, are shared memory, and not
 * compared. A plain write of the thread itself to such bytes is an effect.
 *
 * A loop that only reads, but comes back in another state each time, counts something. Up to
 * pfs_user.looks_max iterations are executed with all schedules. Then there are two more: it waits
 * until there is news, or until no other thread can go on; or it goes on at once until it does
 * something else. The search is not complete, and says so. While it goes on alone, loads that read
 * the same are no steps.
 */
#ifndef PFS_CHECK_LOOPS_H
#define PFS_CHECK_LOOPS_H

#include "check/front/user.h"
#include "check/front/unseen.h"

#if defined(__x86_64__)
#define PFS_LOOPS_REGISTERS 7u
/* A function of this name, which the program calls: keeps the registers that a call preserves, and
 * goes on in the target. The return address is on the stack. */
#define PFS_LOOPS_ENTRY(name, target)                    \
	__asm__(".text\n"                                \
		".globl " name "\n"                      \
		".type " name ", @function\n" name ":\n" \
		"	movq %rsp, pfs_loops_entry(%rip)\n"    \
		"	movq %rbx, pfs_loops_entry+8(%rip)\n"  \
		"	movq %rbp, pfs_loops_entry+16(%rip)\n" \
		"	movq %r12, pfs_loops_entry+24(%rip)\n" \
		"	movq %r13, pfs_loops_entry+32(%rip)\n" \
		"	movq %r14, pfs_loops_entry+40(%rip)\n" \
		"	movq %r15, pfs_loops_entry+48(%rip)\n" \
		"	jmp " target "\n"                \
		".size " name ", .-" name "\n")
#else
#define PFS_LOOPS_REGISTERS 22u
#define PFS_LOOPS_ENTRY(name, target)                    \
	__asm__(".text\n"                                \
		".globl " name "\n"                      \
		".type " name ", %function\n" name ":\n" \
		"	adrp x16, pfs_loops_entry\n"           \
		"	add x16, x16, :lo12:pfs_loops_entry\n" \
		"	mov x17, sp\n"                         \
		"	stp x17, x30, [x16]\n"                 \
		"	stp x19, x20, [x16, #16]\n"            \
		"	stp x21, x22, [x16, #32]\n"            \
		"	stp x23, x24, [x16, #48]\n"            \
		"	stp x25, x26, [x16, #64]\n"            \
		"	stp x27, x28, [x16, #80]\n"            \
		"	stp x29, xzr, [x16, #96]\n"            \
		"	stp d8, d9, [x16, #112]\n"             \
		"	stp d10, d11, [x16, #128]\n"           \
		"	stp d12, d13, [x16, #144]\n"           \
		"	stp d14, d15, [x16, #160]\n"           \
		"	b " target "\n"                  \
		".size " name ", .-" name "\n")
#endif

/* Of the last call; the stack pointer first, 0: the call was looked at. */
extern uint64_t pfs_loops_entry[PFS_LOOPS_REGISTERS];

/* Before an execution; adds to the snapshot all that an execution changes here. */
void pfs_loops_begin(void);
void pfs_loops_put(struct pfs_machine_snapshot *snapshot);

/* A thread begins: its stack is compared up to here. */
void pfs_loops_enter(struct pfs_user_thread *self, const void *frame);

/* A visit: it counts once the operation is known to have had no effect. */
#define PFS_LOOPS_GIVEN 5u
struct pfs_loops_visit {
	uint64_t registers[PFS_LOOPS_REGISTERS];
	uint64_t given[PFS_LOOPS_GIVEN]; /* to the call, in registers that it need not preserve */
	uint32_t count; /* of this place, since the last effect; 0: not looked at */
	uint32_t step;  /* the first after it */
};

/* Zeroes below the caller's frame: a variable that the program has not written yet has what an
 * earlier call left there. */
void pfs_loops_wipe(void);

/* Any other effect: something that other threads, or the thread itself later, may notice. */
static inline void pfs_loops_effect(struct pfs_user_thread *self)
{
	self->visits = NULL;
	self->rushes = 0;
	self->has_look = self->fenced = false;
}

/* Before others can run: what it has called in libraries may have had effects (unseen.h). */
static inline void pfs_loops_call(struct pfs_user_thread *self)
{
	if (pfs_unseen_calls != 0)
		pfs_loops_effect(self);
	pfs_unseen_calls = 0;
}

/* The thread has called what PFS_LOOPS_ENTRY names, and is about to do it. It may wait. */
void pfs_loops_look(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		    struct pfs_loops_visit *visit);
static inline void pfs_loops_visit(struct pfs_user_thread *self,
				   const struct pfs_sim_operation *operation,
				   struct pfs_loops_visit *visit)
{
	pfs_loops_call(self);
	visit->count = 0;
	if (pfs_loops_entry[0] != 0)
		pfs_loops_look(self, operation, visit);
}

/* Of what it leaves on the stack, only this is another the next time. */
static inline void pfs_loops_leave(struct pfs_loops_visit *visit)
{
	visit->count = visit->step = 0;
	__asm__ volatile("" : : "m"(*visit));
}

/* The call is not a visit. */
static inline void pfs_loops_skip(void)
{
	pfs_loops_entry[0] = 0;
}

/* Nothing was changed since. */
void pfs_loops_keep(struct pfs_user_thread *self, const struct pfs_loops_visit *visit);

/* It goes on alone in a loop that counts, and a load reads the same again: no step. */
bool pfs_loops_repeats(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		       uint64_t *seen);
static inline bool pfs_loops_rushes(struct pfs_user_thread *self,
				    const struct pfs_sim_operation *operation, uint64_t *seen)
{
	return self->rushes > 1 && pfs_loops_repeats(self, operation, seen);
}

/* It has executed an operation. owner, also below: the thread on whose stack the bytes are. */
void pfs_loops_note(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		    uint64_t seen, uint32_t owner, const struct pfs_loops_visit *visit);

/* It executes a fence; a plain access, on a stack or elsewhere. */
void pfs_loops_fence(struct pfs_user_thread *self, enum pfs_sim_order order);
void pfs_loops_on_stack(struct pfs_user_thread *self, uint32_t owner, const void *address,
			size_t size_bytes, bool writes);
static inline void pfs_loops_plain(struct pfs_user_thread *self, uint32_t owner,
				   const void *address, size_t size_bytes, bool writes)
{
	if (owner != PFS_THREAD_NONE)
		pfs_loops_on_stack(self, owner, address, size_bytes, writes);
	else if (writes)
		pfs_loops_effect(self);
	else
		self->inputs++;
}

/* It calls a function: what is below the caller's frame was shared by one that has returned. */
void pfs_loops_unshare(struct pfs_user_thread *self, uintptr_t frame);

/* The program is open: does it call a function that tries to lock a mutex? */
void pfs_loops_find_trials(void);

#endif
