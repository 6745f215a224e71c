#define _GNU_SOURCE
#include "check/front/relied.h"

#include <string.h>
#include <sys/mman.h>

#include "check/front/heap.h"
#include "check/front/library.h"
#include "check/front/shared.h"
#include "check/machine/machine.h"
#include "check/machine/snapshot.h"

#define ENTRIES_MAX 64u
#define WANTED "one more place that a loop relies on"

/* Where a place is, in words that mean the same in another process. */
enum region { HEAP, VARIABLES, REGIONS };

static struct relied {
	struct entry {
		uint64_t offset;
		uint32_t region, bytes;
		uint32_t threads; /* bits: who relies */
		bool wrong;
	} entries[ENTRIES_MAX];
	uint32_t count;
	bool is_changed;
} * relied, given; /* given: of a saved schedule */

static uint32_t touched[ENTRIES_MAX]; /* of the relying threads, in this execution; bits */
static bool is_frozen;
static const uint32_t none;
const uint32_t *pfs_relied_count = &none;

bool pfs_relied_begin(void)
{
	void *memory = mmap(NULL, sizeof(*relied), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	relied = memory;
	pfs_relied_count = &relied->count;
	return true;
}

void pfs_relied_reset(void)
{
	*relied = given;
	is_frozen = false;
}

void pfs_relied_execution(void)
{
	memset(touched, 0, sizeof(touched));
}

void pfs_relied_put(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, touched, sizeof(touched));
}

void pfs_relied_freeze(void)
{
	is_frozen = true;
}

bool pfs_relied_changed(void)
{
	bool was = relied->is_changed;
	relied->is_changed = false;
	return was;
}

/* ---- entries ---- */

static const char *base_of(uint32_t region)
{
	return region == HEAP ? pfs_check_heap_first() : pfs_library_first();
}

static const char *first_of(const struct entry *entry)
{
	return base_of(entry->region) + entry->offset;
}

static struct entry *find(const void *address, uint32_t size_bytes)
{
	for (uint32_t i = 0; i < __atomic_load_n(&relied->count, __ATOMIC_ACQUIRE); i++) {
		struct entry *entry = &relied->entries[i];
		if (first_of(entry) == (const char *)address && entry->bytes == size_bytes)
			return entry;
	}
	return NULL;
}

static struct entry *add(const void *address, uint32_t size_bytes)
{
	uint32_t region = pfs_check_heap_has(address) ? HEAP : VARIABLES;
	if (relied->count == ENTRIES_MAX ||
	    (region == VARIABLES && !pfs_library_has(address, size_bytes)))
		return NULL;
	struct entry *entry = &relied->entries[relied->count];
	*entry = (struct entry){ .offset = (uint64_t)((const char *)address - base_of(region)),
				 .region = region,
				 .bytes = size_bytes };
	__atomic_store_n(&relied->count, relied->count + 1, __ATOMIC_RELEASE);
	return entry;
}

bool pfs_relied_on(uint32_t thread, const void *address, uint32_t size_bytes)
{
	struct entry *entry = find(address, size_bytes);
	bool is_known = entry != NULL &&
			(entry->wrong || (entry->threads & UINT32_C(1) << thread) != 0);
	if (is_known || is_frozen)
		return is_known && !entry->wrong;
	pfs_shared_lock();
	entry = find(address, size_bytes);
	if (entry == NULL)
		entry = add(address, size_bytes);
	if (entry != NULL) {
		entry->threads |= UINT32_C(1) << thread;
		relied->is_changed = true;
	}
	pfs_shared_unlock();
	if (entry != NULL)
		pfs_machine_fail(WANTED);
	return false;
}

void pfs_relied_compare(uint32_t thread, const void *address, size_t size_bytes)
{
	const char *first = address;
	bool is_wrong = false;
	if (is_frozen)
		return;
	for (uint32_t i = 0; i < __atomic_load_n(&relied->count, __ATOMIC_ACQUIRE); i++) {
		struct entry *entry = &relied->entries[i];
		if (first_of(entry) >= first + size_bytes || first >= first_of(entry) + entry->bytes)
			continue;
		touched[i] |= entry->threads & UINT32_C(1) << thread;
		if (!entry->wrong && (touched[i] & ~(UINT32_C(1) << thread)) != 0)
			entry->wrong = relied->is_changed = is_wrong = true;
	}
	if (is_wrong)
		pfs_machine_fail(WANTED);
}

/* ---- of a saved schedule ---- */

void pfs_relied_write(FILE *file)
{
	for (uint32_t i = 0; i < relied->count; i++) {
		const struct entry *entry = &relied->entries[i];
		(void)fprintf(file, " --relied %u.%llu.%u.%u.%d", entry->region,
			      (unsigned long long)entry->offset, entry->bytes, entry->threads,
			      entry->wrong);
	}
}

bool pfs_relied_read(const char *text)
{
	struct entry *entry = &given.entries[given.count];
	unsigned long long offset;
	int wrong, length = 0;
	if (given.count == ENTRIES_MAX ||
	    sscanf(text, "%u.%llu.%u.%u.%d%n", &entry->region, &offset, &entry->bytes,
		   &entry->threads, &wrong, &length) != 5 ||
	    text[length] != '\0' || entry->region >= REGIONS)
		return false;
	entry->offset = offset;
	entry->wrong = wrong != 0;
	given.count++;
	return true;
}
