/*
 * known.h - what the libraries of known.c allocate.
 */
#ifndef PFS_STRESS_KNOWN_H
#define PFS_STRESS_KNOWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

void *known_one(size_t bytes); /* of libknown-one.so.1 */
void *known_two(size_t bytes); /* of libknown-two.so, by operator new */

/* Every call that allocates, resizes or frees; the blocks left, and their requested sum. */
size_t known_calls(void **kept, uint32_t *count);

/* Memory that is not a block. */
static inline void *mmap_bytes(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	return memory != MAP_FAILED ? memory : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
