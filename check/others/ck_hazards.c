/*
 * ck_hazards.c - Concurrency Kit's hazard pointers, whose code is in the library: here as `apt-get
 * source ck` has it, in the folder that CK_SOURCE names.
 *
 * PACKAGE libck-dev 0.7.1, $CK_SOURCE/src/ck_hp.c
 * BUILD -DCK_USE_CC_BUILTINS=1 -include ck_pr_c11.h -I$CK_SOURCE/src
 * RUN by_exchange --memory tso --no-races: complete
 * RUN by_store --memory tso --no-races: found assertion !ck_pr_load_int(&found->is_gone)
 * RUN by_fence --memory tso --no-races: complete
 * RUN stack_pops --memory tso --no-races: complete
 * RUN many --memory sc --no-races: found assertion !objects[0].is_gone
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h -I$CK_SOURCE/src
 * RUN by_exchange --no-races: found assertion !ck_pr_load_int(&found->is_gone)
 * RUN by_fence --no-races: complete
 * RUN stack_pops --no-races: complete
 *
 * by_exchange: a defect where memory is weaker than x86's: nothing orders who unlinks, and then
 * looks at the hazards of others, but what the unlink itself does. by_store: so a plain store is
 * not enough on x86, either.
 * many: known, and mended later: hazards beyond those that fit into a record's cache are not looked
 * at, and one more is written behind it.
 */
#include <stdlib.h>

#include <ck_hp.c>
#include <ck_hp_stack.h>

#include <pfslab/check.h>

#define MANY (CK_HP_CACHE + 2u)

struct object {
	ck_stack_entry_t link;
	ck_hp_hazard_t hazard;
	int is_gone;
};
static ck_hp_t state;
static ck_hp_record_t reader, writer, other;
static void *reader_pointers[MANY], *writer_pointers[MANY], *other_pointers[MANY];
static struct object objects[3], *current;
static ck_stack_t stack;

static void destroy(void *object)
{
	ck_pr_store_int(&((struct object *)object)->is_gone, 1);
}

static void begin(unsigned int degree)
{
	ck_hp_init(&state, degree, 1, destroy);
	ck_hp_register(&state, &reader, reader_pointers);
	ck_hp_register(&state, &writer, writer_pointers);
	ck_hp_register(&state, &other, other_pointers);
	current = &objects[0];
}

/* What is guarded, and still in place, stays. */
static void read(void *argument)
{
	struct object *found;
	do {
		found = ck_pr_load_ptr(&current);
		ck_hp_set_fence(&reader, 0, found);
	} while (found != ck_pr_load_ptr(&current));
	pfs_check_assert(!ck_pr_load_int(&found->is_gone));
	ck_hp_set(&reader, 0, NULL);
}

static void unlink_by_exchange(void *argument)
{
	struct object *old = ck_pr_fas_ptr(&current, &objects[1]);
	ck_hp_free(&writer, &old->hazard, old, old);
}

static void unlink_by_store(void *argument)
{
	ck_pr_store_ptr(&current, &objects[1]);
	ck_hp_free(&writer, &objects[0].hazard, &objects[0], &objects[0]);
}

static void unlink_by_fence(void *argument)
{
	ck_pr_store_ptr(&current, &objects[1]);
	ck_pr_fence_memory();
	ck_hp_free(&writer, &objects[0].hazard, &objects[0], &objects[0]);
}

PFS_CHECK_SCENARIO(by_exchange)
{
	begin(1);
	pfs_check_thread(read, 0);
	pfs_check_thread(unlink_by_exchange, 0);
}

PFS_CHECK_SCENARIO(by_store)
{
	begin(1);
	pfs_check_thread(read, 0);
	pfs_check_thread(unlink_by_store, 0);
}

PFS_CHECK_SCENARIO(by_fence)
{
	begin(1);
	pfs_check_thread(read, 0);
	pfs_check_thread(unlink_by_fence, 0);
}

static void free_last(void *argument)
{
	ck_hp_free(&writer, &objects[0].hazard, &objects[0], &objects[0]);
}

static void check_last(void *argument)
{
	pfs_check_assert(!objects[0].is_gone);
}

/* A reader has more hazards than a reclaimer keeps; the last is that of the object. */
PFS_CHECK_SCENARIO(many)
{
	begin(MANY);
	for (unsigned int i = 0; i < MANY; i++)
		ck_hp_set(&reader, i, &objects[1]);
	ck_hp_set(&reader, MANY - 1, &objects[0]);
	pfs_check_thread(free_last, 0);
	pfs_check_at_rest(check_last, 0);
}

static void pop(void *record)
{
	ck_stack_entry_t *entry = ck_hp_stack_pop_mpmc(record, &stack);
	if (entry == NULL)
		return;
	struct object *object = (struct object *)entry;
	pfs_check_assert(!ck_pr_load_int(&object->is_gone));
	ck_hp_set(record, 0, NULL);
	ck_hp_free(record, &object->hazard, object, object);
}

PFS_CHECK_SCENARIO(stack_pops)
{
	begin(1);
	ck_stack_init(&stack);
	ck_hp_stack_push_mpmc(&stack, &objects[0].link);
	ck_hp_stack_push_mpmc(&stack, &objects[1].link);
	pfs_check_thread(pop, &reader);
	pfs_check_thread(pop, &writer);
}
