#define _GNU_SOURCE
#include "check/machine/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define WIPED_BYTES ((size_t)8192)
#define COLOURS 60u
#define COLOUR_BYTES 64u

/* Only the used part is touched: about 8 KiB. */
static size_t stack_bytes = (size_t)128 * 1024, guard_bytes = 4096;

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
static _Thread_local struct pfs_fiber *leaving;

static void announce(struct pfs_fiber *from, struct pfs_fiber *to)
{
	leaving = from;
	__sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
}

/*
 * A fiber that is not resumed leaves AddressSanitizer's marks of its frames. Later mappings at
 * these addresses must not find the marks, and munmap keeps them: clear them here.
 */
static void forget_frames(const struct pfs_fiber *self)
{
	__asan_unpoison_memory_region(self->stack, self->stack_bytes);
}

/* The bounds of the OS thread's stack are known from the first switch away from it. */
static void arrive(void *fake_stack)
{
	const void *bottom = NULL;
	size_t bytes = 0;
	__sanitizer_finish_switch_fiber(fake_stack, &bottom, &bytes);
	if (leaving->stack == NULL) {
		leaving->stack = (char *)(uintptr_t)bottom;
		leaving->stack_bytes = bytes;
	}
}
#else
static void announce(struct pfs_fiber *from, struct pfs_fiber *to)
{
	(void)from, (void)to;
}

static void arrive(void *fake_stack)
{
	(void)fake_stack;
}

static void forget_frames(const struct pfs_fiber *self)
{
	(void)self;
}
#endif

static void run_entry(void *opaque)
{
	struct pfs_fiber *self = opaque;
	arrive(NULL);
	self->entry(self->argument);
	__builtin_trap(); /* entry never returns */
}

static char *coloured_top(const struct pfs_fiber *self, unsigned colour)
{
	return self->stack + self->stack_bytes - (size_t)(colour % COLOURS) * COLOUR_BYTES;
}

void pfs_fiber_wipe(struct pfs_fiber *self)
{
	forget_frames(self);
	memset(self->stack + self->stack_bytes - WIPED_BYTES, 0, WIPED_BYTES);
}

bool pfs_fiber_is_bytes(void)
{
#if defined(PFS_SIM_UCONTEXT) || defined(WITH_ASAN) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

#ifdef PFS_SIM_UCONTEXT
static _Thread_local void *starting; /* makecontext passes ints only */

static void start(void)
{
	run_entry(starting);
}

void pfs_fiber_set(struct pfs_fiber *self, void (*entry)(void *argument), void *argument,
		   unsigned colour)
{
	forget_frames(self);
	self->entry = entry;
	self->argument = argument;
	self->stack_pointer = NULL;
	(void)getcontext(&self->context);
	self->context.uc_stack.ss_sp = self->stack;
	self->context.uc_stack.ss_size = (size_t)(coloured_top(self, colour) - self->stack);
	self->context.uc_link = NULL;
	makecontext(&self->context, start, 0);
}

static void swap(struct pfs_fiber *from, struct pfs_fiber *to)
{
	starting = to;
	(void)swapcontext(&from->context, &to->context);
}
#else
void pfs_fiber_swap(void **from, void *to);
void pfs_fiber_start(void);

/* Save the callee-saved registers on the old stack, load those of the new one. A new fiber begins
 * in pfs_fiber_start with rbx = run_entry's argument and r12 = run_entry; the undefined return
 * address and rbp = 0 end a debugger's backtrace there. */
__asm__(".text\n"
	".p2align 4\n"
	".globl pfs_fiber_swap\n"
	".type pfs_fiber_swap, @function\n"
	"pfs_fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size pfs_fiber_swap, .-pfs_fiber_swap\n"
	".globl pfs_fiber_start\n"
	".type pfs_fiber_start, @function\n"
	"pfs_fiber_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	movq %rbx, %rdi\n"
	"	call *%r12\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size pfs_fiber_start, .-pfs_fiber_start\n");

void pfs_fiber_set(struct pfs_fiber *self, void (*entry)(void *argument), void *argument,
		   unsigned colour)
{
	/* Six registers as pfs_fiber_swap pops them, the return address, and a zero. The call in
	 * pfs_fiber_start needs a stack pointer that is a multiple of 16. */
	uint64_t *top = (uint64_t *)(void *)coloured_top(self, colour);
	forget_frames(self);
	self->entry = entry;
	self->argument = argument;
	*--top = 0;
	*--top = 0;
	*--top = (uint64_t)(uintptr_t)pfs_fiber_start;
	*--top = 0;                              /* rbp */
	*--top = (uint64_t)(uintptr_t)self;      /* rbx */
	*--top = (uint64_t)(uintptr_t)run_entry; /* r12 */
	*--top = 0;
	*--top = 0;
	*--top = 0;
	self->stack_pointer = top;
}

static void swap(struct pfs_fiber *from, struct pfs_fiber *to)
{
	pfs_fiber_swap(&from->stack_pointer, to->stack_pointer);
}
#endif

int pfs_fiber_init(struct pfs_fiber *self)
{
	memset(self, 0, sizeof(*self));
	char *bytes = mmap(NULL, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -1;
	if (mprotect(bytes, guard_bytes, PROT_NONE) != 0) {
		(void)munmap(bytes, guard_bytes + stack_bytes);
		return -1;
	}
	self->stack = bytes + guard_bytes;
	self->stack_bytes = stack_bytes;
	return 0;
}

void pfs_fiber_stacks(size_t stack, size_t guard)
{
	stack_bytes = stack;
	guard_bytes = guard;
}

bool pfs_fiber_ran_over(const struct pfs_fiber *self, const void *address)
{
	return (uintptr_t)self->stack - (uintptr_t)address - 1 < guard_bytes;
}

void pfs_fiber_fini(struct pfs_fiber *self)
{
	if (self->stack != NULL) {
		forget_frames(self);
		(void)munmap(self->stack - guard_bytes, guard_bytes + stack_bytes);
	}
	self->stack = NULL;
}

void pfs_fiber_switch(struct pfs_fiber *from, struct pfs_fiber *to)
{
	announce(from, to);
	swap(from, to);
	arrive(from->fake_stack);
}
