#define _GNU_SOURCE
#include "check/front/thread_local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/machine/snapshot.h"

/* Of the dynamic linker: the address of a thread-local variable, by object and offset. */
extern void *__tls_get_addr(const size_t *index);

#define OBJECTS_MAX 16u
#define LINE ((size_t)64)

struct object {
	size_t number, bytes, stride;
	char *current; /* block */
	char *outside; /* the host thread's */
	char *blocks;  /* of threads, stride bytes each */
	char *initial, *kept;
};

/* What a replaced descriptor points to. */
struct variable {
	char **current;
	size_t offset;
};

static struct {
	struct object objects[OBJECTS_MAX];
	uint32_t count;
	uint32_t used; /* bits: threads whose blocks are of this execution */
	int errors[PFS_TLS_OUTSIDE + 1];
} tls;

uint32_t pfs_tls_current = PFS_TLS_OUTSIDE;

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

const char *pfs_tls_add(size_t number, const void *initial, size_t initial_bytes, size_t bytes,
			size_t align)
{
	const size_t index[2] = { number, 0 };
	size_t unit = align > LINE ? align : LINE;
	if (tls.count == OBJECTS_MAX)
		return "more of its libraries have thread-local variables than pfs-check supports";
	struct object *self = &tls.objects[tls.count++];
	/* The block does not exist before it is first accessed. */
	*self = (struct object){ .number = number,
				 .bytes = bytes,
				 .stride = (bytes + unit - 1) / unit * unit,
				 .outside = __tls_get_addr(index) };
	self->current = self->outside;
	self->initial = must(calloc(1, bytes));
	self->kept = must(malloc(bytes));
	memcpy(self->initial, initial, initial_bytes);
	/* A variable of a thread lies as far behind a multiple of the alignment as the host's. */
	size_t phase = (uintptr_t)self->outside % unit;
	self->blocks = must(aligned_alloc(unit, (PFS_TLS_OUTSIDE + 1) * self->stride + unit));
	self->blocks += phase;
	pfs_tls_current = PFS_TLS_OUTSIDE;
	return NULL;
}

static char *block_of(const struct object *object, uint32_t thread)
{
	return thread < PFS_TLS_OUTSIDE ? object->blocks + thread * object->stride
					: object->outside;
}

/* ---- addresses ---- */

void *pfs_tls_address(const size_t *index)
{
	for (uint32_t i = 0; i < tls.count; i++) {
		if (tls.objects[i].number == index[0])
			return tls.objects[i].current + index[1];
	}
	return __tls_get_addr(index);
}

/* A descriptor's function gets its address, and returns the variable's distance from the thread
 * pointer. It changes no other register. pfs_tls_described: the address that it finds. */
void pfs_tls_descriptor(void);
char *pfs_tls_described(void **descriptor);

#ifdef __x86_64__
__asm__(".text\n"
	".globl pfs_tls_descriptor\n"
	".type pfs_tls_descriptor, @function\n"
	"pfs_tls_descriptor:\n"
	"	pushq %rcx\n"
	"	movq 8(%rax), %rax\n"
	"	movq (%rax), %rcx\n"
	"	movq 8(%rax), %rax\n"
	"	addq (%rcx), %rax\n"
	"	subq %fs:0, %rax\n"
	"	popq %rcx\n"
	"	ret\n"
	".size pfs_tls_descriptor, .-pfs_tls_descriptor\n"
	".globl pfs_tls_described\n"
	".type pfs_tls_described, @function\n"
	"pfs_tls_described:\n"
	"	movq %rdi, %rax\n"
	"	subq $8, %rsp\n"
	"	call *(%rax)\n"
	"	addq $8, %rsp\n"
	"	addq %fs:0, %rax\n"
	"	ret\n"
	".size pfs_tls_described, .-pfs_tls_described\n");
#else
__asm__(".text\n"
	".globl pfs_tls_descriptor\n"
	".type pfs_tls_descriptor, %function\n"
	"pfs_tls_descriptor:\n"
	"	stp x1, x2, [sp, #-16]!\n"
	"	ldr x0, [x0, #8]\n"
	"	ldp x1, x2, [x0]\n"
	"	ldr x1, [x1]\n"
	"	add x0, x1, x2\n"
	"	mrs x1, tpidr_el0\n"
	"	sub x0, x0, x1\n"
	"	ldp x1, x2, [sp], #16\n"
	"	ret\n"
	".size pfs_tls_descriptor, .-pfs_tls_descriptor\n"
	".globl pfs_tls_described\n"
	".type pfs_tls_described, %function\n"
	"pfs_tls_described:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	ldr x1, [x0]\n"
	"	blr x1\n"
	"	mrs x1, tpidr_el0\n"
	"	add x0, x0, x1\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size pfs_tls_described, .-pfs_tls_described\n");
#endif

void pfs_tls_describe(void **descriptor)
{
	const char *found = pfs_tls_described(descriptor);
	for (uint32_t i = 0; i < tls.count; i++) {
		struct object *object = &tls.objects[i];
		size_t offset = (uintptr_t)found - (uintptr_t)object->outside;
		if (offset >= object->bytes)
			continue;
		struct variable *variable = must(malloc(sizeof(*variable)));
		*variable = (struct variable){ &object->current, offset };
		descriptor[0] = (void *)(uintptr_t)pfs_tls_descriptor;
		descriptor[1] = variable;
		return;
	}
}

bool pfs_tls_find(const void *address, struct pfs_tls_place *place)
{
	for (uint32_t i = 0; i < tls.count; i++) {
		const struct object *object = &tls.objects[i];
		size_t in_all = (uintptr_t)address - (uintptr_t)object->blocks;
		size_t in_host = (uintptr_t)address - (uintptr_t)object->outside;
		*place = (struct pfs_tls_place){ PFS_TLS_OUTSIDE, i == 0, in_host };
		if (in_host < object->bytes)
			return true;
		if (in_all >= PFS_TLS_OUTSIDE * object->stride)
			continue;
		place->thread = (uint32_t)(in_all / object->stride);
		place->offset = in_all % object->stride;
		return true;
	}
	return false;
}

bool pfs_tls_is_current(const void *address)
{
	for (uint32_t i = 0; i < tls.count; i++) {
		if ((uintptr_t)address - (uintptr_t)tls.objects[i].current < tls.objects[i].bytes)
			return true;
	}
	return false;
}

bool pfs_tls_block(uint32_t at, const void **first, size_t *bytes)
{
	if (at >= tls.count)
		return false;
	*first = tls.objects[at].outside;
	*bytes = tls.objects[at].bytes;
	return true;
}

/* ---- between executions, and between threads ---- */

void pfs_tls_keep(void)
{
	for (uint32_t i = 0; i < tls.count; i++)
		memcpy(tls.objects[i].kept, tls.objects[i].outside, tls.objects[i].bytes);
}

static void select_blocks(uint32_t thread)
{
	for (uint32_t i = 0; i < tls.count; i++)
		tls.objects[i].current = block_of(&tls.objects[i], thread);
	pfs_tls_current = thread;
}

void pfs_tls_restore(void)
{
	for (uint32_t i = 0; i < tls.count; i++)
		memcpy(tls.objects[i].outside, tls.objects[i].kept, tls.objects[i].bytes);
	tls.used = 0;
	memset(tls.errors, 0, sizeof(tls.errors));
	errno = 0;
	select_blocks(PFS_TLS_OUTSIDE);
}

void pfs_tls_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t i = 0; i < tls.count; i++) {
		const struct object *object = &tls.objects[i];
		pfs_snapshot_put(snapshot, object->outside, object->bytes);
		for (uint32_t rest = tls.used; rest != 0; rest &= rest - 1)
			pfs_snapshot_put(snapshot, block_of(object, (uint32_t)__builtin_ctz(rest)),
					 object->bytes);
		pfs_snapshot_put(snapshot, &tls.objects[i].current, sizeof(object->current));
	}
	tls.errors[pfs_tls_current] = errno;
	pfs_snapshot_put(snapshot, &errno, sizeof(errno));
	pfs_snapshot_put(snapshot, tls.errors, sizeof(tls.errors));
	pfs_snapshot_put(snapshot, &pfs_tls_current, sizeof(pfs_tls_current));
	pfs_snapshot_put(snapshot, &tls.used, sizeof(tls.used));
}

void pfs_tls_change(uint32_t next)
{
	if (next != PFS_TLS_OUTSIDE && (tls.used & UINT32_C(1) << next) == 0) {
		for (uint32_t i = 0; i < tls.count; i++)
			memcpy(block_of(&tls.objects[i], next), tls.objects[i].initial,
			       tls.objects[i].bytes);
		tls.used |= UINT32_C(1) << next;
	}
	tls.errors[pfs_tls_current] = errno;
	errno = tls.errors[next];
	select_blocks(next);
}
