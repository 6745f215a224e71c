/*
 * model_views.c - C11's orders: old values stay readable until something forbids it (views.h).
 */
#include "check/machine/depends.h"
#include "check/machine/model.h"

static void begin(struct pfs_machine *machine)
{
	pfs_views_begin(&machine->views, machine->thread_count);
}

static void fini(struct pfs_machine *machine)
{
	pfs_views_fini(&machine->views);
}

static void keep(struct pfs_machine *machine, struct pfs_machine_snapshot *snapshot)
{
	pfs_views_keep(&machine->views, snapshot);
}

static uint64_t peek(const struct pfs_vthread *thread, const struct pfs_sim_operation *operation,
		     uint32_t choice)
{
	return pfs_views_peek(thread->machine, operation, choice);
}

static void execute(struct pfs_machine *machine, struct pfs_vthread *thread, struct pfs_step *step,
		    uint32_t choice)
{
	const struct pfs_sim_operation *operation = &step->operation;
	step->source = PFS_STEP_NONE;
	if (pfs_model_has_bytes(operation))
		pfs_views_execute(machine, thread, step, choice);
	else if (operation->kind == PFS_SIM_BARRIER)
		pfs_views_fence(machine, (uint32_t)operation->operand);
	else if (operation->kind == PFS_SIM_YIELD)
		pfs_views_yield(machine, thread);
	else if (operation->kind == PFS_SIM_NOTE && operation->operand != 0)
		pfs_views_tick(machine, thread->id, operation->operand == PFS_NOTE_BEGIN);
}

static void fence(struct pfs_machine *machine, uint32_t thread, uint8_t order,
		  const struct pfs_view_message *known, const uint32_t *released)
{
	if (pfs_order_acquires(order))
		pfs_views_fence_acquire(machine, thread, known);
	if (order == PFS_SIM_SEQ)
		pfs_views_fence_seq(machine, thread);
	if (released != NULL)
		pfs_views_fence_release(machine, thread, released);
}

static uint32_t last(const struct pfs_machine *machine, uint32_t thread, const void *address)
{
	return pfs_views_last(&machine->views, thread, address);
}

static bool is_behind(const struct pfs_machine *machine, const struct pfs_news_read *read,
		      uint32_t message)
{
	return pfs_views_is_behind(&machine->views, read->address, message, read->message);
}

static bool has_news(const struct pfs_machine *machine, const struct pfs_news_read *read)
{
	return pfs_views_has_news(&machine->views, read);
}

static uint32_t order(const struct pfs_machine *machine, const void *address, uint32_t *steps,
		      uint32_t room)
{
	return pfs_views_order(&machine->views, address, steps, room);
}

/* clang-format off */
const struct pfs_memory_model pfs_model_views = {
	.name = "views", .keeps_old = true,
	.begin = begin, .fini = fini, .keep = keep,
	.can = pfs_views_can, .peek = peek, .execute = execute, .fence = fence,
	.choices = pfs_views_choices, .last = last, .is_behind = is_behind, .has_news = has_news,
	.rivals = pfs_views_rivals, .source = pfs_views_source, .order = order
};
/* clang-format on */
