/*
 * operation.h - how a virtual thread describes one shared access to the machine.
 */
#ifndef PFS_SIM_OPERATION_H
#define PFS_SIM_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfs_sim_kind {
	PFS_SIM_LOAD,
	PFS_SIM_STORE,
	PFS_SIM_CAS,
	PFS_SIM_EXCHANGE,
	PFS_SIM_ADD,
	PFS_SIM_OR,
	PFS_SIM_XOR,
	PFS_SIM_NAND,
	PFS_SIM_AND,
	PFS_SIM_LOCK,     /* can run only while the mutex is free */
	PFS_SIM_TRY_LOCK, /* 0: taken */
	PFS_SIM_UNLOCK,
	PFS_SIM_YIELD,
	PFS_SIM_AWAIT,   /* a load that can run only once a predicate holds for its value */
	PFS_SIM_NOTE,    /* of a check: orders like a store, changes nothing */
	PFS_SIM_BARRIER, /* a part of the barrier of all threads: in thread `operand` */
	PFS_SIM_UNMAP,   /* operand bytes from address go back to the system */
	PFS_SIM_DRAIN,   /* store buffers: the oldest store reaches memory */
	PFS_SIM_FENCE,   /* seq, of its thread alone; others are no steps: fences.h */
	PFS_SIM_CHOOSE,  /* one of `operand`; the scheduler decides which one */
	PFS_SIM_KIND_COUNT
};

enum pfs_sim_order {
	PFS_SIM_RELAXED,
	PFS_SIM_ACQUIRE,
	PFS_SIM_RELEASE,
	PFS_SIM_ACQ_REL,
	PFS_SIM_SEQ
};

/* One operation in the source: static, one for each expansion. */
struct pfs_sim_place {
	const char *file;
	const char *function;
	const char *text; /* the object as written */
	int line;
};

struct pfs_sim_operation {
	void *address;
	uint64_t operand;  /* stored or added value; bytes of PFS_SIM_UNMAP; of an operation of 16
			    * bytes: its struct pfs_sim_wide */
	uint64_t expected; /* of PFS_SIM_CAS */
	const struct pfs_sim_place *place;
	uint32_t size_bytes;
	uint8_t kind;    /* enum pfs_sim_kind */
	uint8_t order;   /* enum pfs_sim_order */
	uint8_t failure; /* order of a compare-and-swap that fails; 0: relaxed */
};

/*
 * The values of an operation of 16 bytes, for models that keep only the newest value: the machine's
 * expected, seen and written are the lower halves. Lives until the operation has returned.
 */
struct pfs_sim_wide {
	unsigned __int128 operand, expected;
	unsigned __int128 seen, written; /* after it was executed */
	bool wrote;
};
#define PFS_SIM_WIDE_BYTES 16u

#define PFS_SIM_PLACE(text_)                                                              \
	({                                                                                \
		static const struct pfs_sim_place place_ = { __FILE__, __func__, (text_), \
							     __LINE__ };                  \
		&place_;                                                                  \
	})

/* The calls behind atomic_backend.h and mutex_backend.h; see machine.c. */
uint64_t pfs_sim_load(void *address, uint32_t size_bytes, enum pfs_sim_order order,
		      const struct pfs_sim_place *place);
void pfs_sim_store(void *address, uint32_t size_bytes, uint64_t value, enum pfs_sim_order order,
		   const struct pfs_sim_place *place);
/* *seen has size_bytes; replaced on failure. */
bool pfs_sim_cas(void *address, uint32_t size_bytes, void *seen, uint64_t value,
		 enum pfs_sim_order order, const struct pfs_sim_place *place);
/* All others; returns what was seen. */
uint64_t pfs_sim_change(enum pfs_sim_kind kind, void *address, uint32_t size_bytes,
			uint64_t operand, enum pfs_sim_order order,
			const struct pfs_sim_place *place);

/* Any operation, by all its fields; returns what was seen. */
uint64_t pfs_sim_execute(const struct pfs_sim_operation *operation);

/* Between these two the calling thread's operations and plain accesses take no time, are no
 * scheduling points and are not reported: for metrics. They nest; see containers/counts.h. */
void pfs_sim_quiet(void);
void pfs_sim_loud(void);
bool pfs_sim_is_quiet(void);

#endif
