#include "check/front/volatile.h"

#include <stdint.h>
#include <string.h>

#include "check/front/loops.h"
#include "check/front/user.h"

static struct {
	bool is_on;
	struct pfs_sim_operation operation; /* open */
	uint64_t before;                    /* in memory */
} access;

void pfs_volatile_begin(void)
{
	access.is_on = true;
}

static uint64_t swap(void *address, uint32_t size_bytes, uint64_t value)
{
	uint64_t before = 0;
	memcpy(&before, address, size_bytes); /* little endian */
	memcpy(address, &value, size_bytes);
	return before;
}

/* The access has been made. */
static void close(void)
{
	struct pfs_sim_operation operation = access.operation;
	operation.operand = swap(operation.address, operation.size_bytes, access.before);
	if (operation.kind != PFS_SIM_STORE)
		return;
	uint64_t entry[PFS_LOOPS_REGISTERS]; /* of the call that closes it */
	memcpy(entry, pfs_loops_entry, sizeof(entry));
	pfs_loops_skip();
	(void)pfs_user_execute(&operation);
	memcpy(pfs_loops_entry, entry, sizeof(entry));
}

void pfs_volatile_access(void *address, size_t size_bytes, bool writes, const void *code)
{
	const void *own;
	bool runs = pfs_user.machine != NULL && pfs_user.machine->run.running != NULL;
	if (!access.is_on || !runs || size_bytes > sizeof(uint64_t) ||
	    (uintptr_t)address % size_bytes != 0) {
		pfs_user_plain(address, size_bytes, writes, code);
		pfs_loops_skip();
		return;
	}
	struct pfs_sim_operation operation = { .address = address,
					       .place = pfs_user_place(code, &own),
					       .size_bytes = (uint32_t)size_bytes,
					       .kind = PFS_SIM_LOAD,
					       .order = PFS_SIM_RELAXED };
	if (writes) {
		pfs_loops_skip();
		operation.kind = PFS_SIM_STORE;
		memcpy(&access.before, address, size_bytes);
	} else {
		uint64_t seen = pfs_user_execute(&operation);
		access.before = swap(address, operation.size_bytes, seen);
	}
	access.operation = operation;
	pfs_user.closes = close;
}
