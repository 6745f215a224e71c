#define _GNU_SOURCE
#include "check/front/locals.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "check/front/loops.h"
#include "check/front/user.h"
#include "check/machine/snapshot.h"

#define KEYS_MAX 64u
#define EXITS_MAX 64u
#define NO_KEY ((void (*)(void *))(uintptr_t)1)

struct at_exit {
	void (*destroy)(void *object);
	void *object;
};

struct own {
	uint32_t exit_count;
	struct at_exit exits[EXITS_MAX];
	void *values[KEYS_MAX];
};

static struct {
	uint32_t key_count, kept_count;         /* kept: made before the first execution */
	uint32_t used;                          /* bits: whose `own` is of this execution */
	void (*destroy[KEYS_MAX])(void *value); /* NO_KEY: deleted */
	struct own own[PFS_USER_THREADS_MAX + 1];
} locals;

static uint32_t current(void)
{
	return (uint32_t)(pfs_user_current() - pfs_user.threads);
}

static struct own *own(void)
{
	uint32_t at = current();
	if ((locals.used & UINT32_C(1) << at) == 0)
		memset(&locals.own[at], 0, sizeof(locals.own[at]));
	locals.used |= UINT32_C(1) << at;
	return &locals.own[at];
}

void pfs_locals_begin(void)
{
	if (pfs_user.executions == 0)
		locals.kept_count = locals.key_count;
	locals.key_count = locals.kept_count;
	locals.used = 0;
}

void pfs_locals_put(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &locals.key_count, sizeof(locals.key_count));
	pfs_snapshot_put(snapshot, &locals.used, sizeof(locals.used));
	pfs_snapshot_put(snapshot, locals.destroy, locals.key_count * sizeof(locals.destroy[0]));
	for (uint32_t rest = locals.used; rest != 0; rest &= rest - 1) {
		struct own *used = &locals.own[__builtin_ctz(rest)];
		pfs_snapshot_put(snapshot, used, sizeof(*used));
	}
}

int pfs_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	if (locals.key_count == KEYS_MAX)
		return EAGAIN;
	pfs_user_plain(key, sizeof(*key), true, __builtin_return_address(0));
	locals.destroy[locals.key_count] = destroy;
	*key = locals.key_count++;
	return 0;
}

int pfs_key_delete(pthread_key_t key)
{
	if (key >= locals.key_count || locals.destroy[key] == NO_KEY)
		return EINVAL;
	locals.destroy[key] = NO_KEY;
	return 0;
}

void *pfs_key_get(pthread_key_t key)
{
	return key < locals.key_count ? own()->values[key] : NULL;
}

int pfs_key_set(pthread_key_t key, const void *value)
{
	if (key >= locals.key_count || locals.destroy[key] == NO_KEY)
		return EINVAL;
	pfs_loops_effect(pfs_user_current());
	own()->values[key] = (void *)(uintptr_t)value;
	return 0;
}

int pfs_locals_at_exit(void (*destroy)(void *), void *object, void *library)
{
	struct own *self = own();
	(void)library;
	if (self->exit_count == EXITS_MAX) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "a thread has more than %u thread-local objects with destructors: "
				 "use fewer",
				 EXITS_MAX);
		return -1;
	}
	self->exits[self->exit_count++] = (struct at_exit){ destroy, object };
	return 0;
}

static bool destroy_values(struct own *self)
{
	bool any = false;
	for (uint32_t key = 0; key < locals.key_count; key++) {
		void *value = self->values[key];
		void (*destroy)(void *) = locals.destroy[key];
		if (value == NULL || destroy == NULL || destroy == NO_KEY)
			continue;
		self->values[key] = NULL;
		destroy(value);
		any = true;
	}
	return any;
}

void pfs_locals_end(void)
{
	if ((locals.used & UINT32_C(1) << current()) == 0)
		return;
	struct own *self = own();
	while (self->exit_count != 0) {
		const struct at_exit last = self->exits[--self->exit_count];
		last.destroy(last.object);
	}
	for (uint32_t round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
		if (!destroy_values(self))
			break;
	}
}
