/*
 * litmus_random.c - programs drawn at random, and programs as text.
 */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "check/litmus/litmus.h"

#define DRAWN_EVENTS 7u /* without fences */
#define DRAWN_LOCATIONS 3u

enum orders { WITHOUT_SEQ, ONLY_SEQ, ANY_ORDER, HALF_SEQ, ORDERS_COUNT };

/* A random one of the orders that C11 has for such an operation; bit n: enum pfs_sim_order n. */
static uint8_t draw_order(uint32_t valid, enum orders orders, uint64_t *random)
{
	uint32_t seq = 1u << PFS_SIM_SEQ;
	if (orders == ONLY_SEQ || (orders == HALF_SEQ && pfs_random_below(random, 2) == 0))
		return PFS_SIM_SEQ;
	if (orders != ANY_ORDER)
		valid &= ~seq;
	for (;;) {
		uint32_t order = pfs_random_below(random, PFS_SIM_SEQ + 1);
		if ((valid >> order & 1) != 0)
			return (uint8_t)order;
	}
}

/* Not stronger than the order of success. */
static uint8_t draw_failure(uint8_t order, uint64_t *random)
{
	uint32_t choice = pfs_random_below(random, 3);
	if (choice == 0 || !pfs_order_acquires(order))
		return PFS_SIM_RELAXED;
	return choice == 2 && order == PFS_SIM_SEQ ? PFS_SIM_SEQ : PFS_SIM_ACQUIRE;
}

static uint32_t valid_orders(uint8_t kind)
{
	uint32_t relaxed = 1u << PFS_SIM_RELAXED, acquire = 1u << PFS_SIM_ACQUIRE;
	uint32_t release = 1u << PFS_SIM_RELEASE, both = 1u << PFS_SIM_ACQ_REL;
	uint32_t seq = 1u << PFS_SIM_SEQ;
	switch (kind) {
	case PFS_SIM_LOAD: return relaxed | acquire | seq;
	case PFS_SIM_STORE: return relaxed | release | seq;
	case PFS_SIM_FENCE: return acquire | release | both | seq;
	default: return relaxed | acquire | release | both | seq;
	}
}

static void draw_event(struct pfs_litmus_program *program, uint32_t thread, uint8_t kind,
		       enum orders orders, uint64_t *random)
{
	struct pfs_litmus_event *event = &program->events[program->event_count++];
	*event = (struct pfs_litmus_event){ .kind = kind,
					    .order = draw_order(valid_orders(kind), orders, random),
					    .thread = (uint8_t)thread,
					    .location = PFS_LITMUS_NO_LOCATION,
					    .reg = PFS_LITMUS_NO_EVENT };
	if (kind == PFS_SIM_FENCE) {
		program->has_fence = true;
		program->has_seq_fence |= event->order == PFS_SIM_SEQ;
		return;
	}
	event->location = (uint8_t)pfs_random_below(random, DRAWN_LOCATIONS);
	event->value = 1 + pfs_random_below(random, 2);
	if (kind == PFS_SIM_CAS) {
		event->expected = pfs_random_below(random, 3);
		event->failure = orders == ONLY_SEQ ? PFS_SIM_SEQ
						    : draw_failure(event->order, random);
	}
	if (pfs_litmus_reads(kind))
		event->reg = (uint8_t)program->reg_count++;
}

void pfs_litmus_draw(struct pfs_litmus_program *program, uint64_t seed, uint32_t number)
{
	static const uint8_t kinds[] = { PFS_SIM_LOAD,     PFS_SIM_STORE, PFS_SIM_LOAD,
					 PFS_SIM_STORE,    PFS_SIM_LOAD,  PFS_SIM_STORE,
					 PFS_SIM_EXCHANGE, PFS_SIM_ADD,   PFS_SIM_CAS };
	uint64_t random = seed * UINT64_C(1000003) + number;
	enum orders orders = (enum orders)(number % ORDERS_COUNT);
	bool fences = number / ORDERS_COUNT % 2 == 1;
	for (int i = 0; i < 4; i++)
		(void)pfs_random_next(&random); /* so that neighbouring seeds differ */
	*program = (struct pfs_litmus_program){ .thread_count = 2 + pfs_random_below(&random, 3) };
	for (uint32_t thread = 0; thread < program->thread_count; thread++) {
		uint32_t count = 1 + pfs_random_below(&random, 3);
		for (uint32_t i = 0; i < count && program->event_count < DRAWN_EVENTS; i++) {
			if (fences && i != 0 && pfs_random_below(&random, 2) == 0)
				draw_event(program, thread, PFS_SIM_FENCE, orders, &random);
			draw_event(program, thread, kinds[pfs_random_below(&random, sizeof(kinds))],
				   orders, &random);
		}
	}
}

/* One operation, at most 32 bytes. */
static void write_event(const struct pfs_litmus_event *event, char *text, size_t bytes)
{
	static const char *const orders[] = { "rlx", "acq", "rel", "ar", "sc" };
	const char *order = orders[event->order];
	char where = event->location < PFS_LITMUS_LOCATIONS ? "xyzw"[event->location] : '-';
	switch (event->kind) {
	case PFS_SIM_BARRIER: (void)snprintf(text, bytes, "F"); break;
	case PFS_SIM_FENCE: (void)snprintf(text, bytes, "T %s", order); break;
	case PFS_SIM_LOAD: (void)snprintf(text, bytes, "R %c %s", where, order); break;
	case PFS_SIM_CAS:
		(void)snprintf(text, bytes, "C %c %s %u %u%s%s", where, order, event->expected,
			       event->value, event->failure != 0 ? " " : "",
			       event->failure != 0 ? orders[event->failure] : "");
		break;
	default:
		(void)snprintf(text, bytes, "%c %c %s %u", "RWCXA"[event->kind], where, order,
			       event -> value);
	}
}

void pfs_litmus_write(const struct pfs_litmus_program *program, char *text)
{
	size_t at = 0;
	*text = '\0';
	for (uint32_t i = 0; i < program->event_count && at < PFS_LITMUS_TEXT; i++) {
		const struct pfs_litmus_event *event = &program->events[i];
		char one[48];
		write_event(event, one, sizeof(one));
		at += (size_t)snprintf(text + at, PFS_LITMUS_TEXT - at, "%s%s",
				       i == 0                                           ? ""
				       : event->thread != program->events[i - 1].thread ? " | "
											: "; ",
				       one);
	}
}
