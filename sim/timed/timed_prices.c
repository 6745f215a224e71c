/*
 * timed_prices.c - costs in picoseconds, and between which L3s and nodes which of them applies.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/timed/timed_engine.h"

static uint64_t ps(double ns)
{
	return (uint64_t)(ns * (double)PFS_TIMED_PS + 0.5);
}

/* How much farther it is than to the nearest node of another package, if the firmware says so. */
static double farther(const struct pfs_topology *topology, uint32_t from, uint32_t to)
{
	uint32_t least = UINT32_MAX, count = topology->node_count;
	if (topology->distance == NULL)
		return 1;
	for (uint32_t a = 0; a < count; a++) {
		for (uint32_t b = 0; b < count; b++) {
			uint32_t told = topology->distance[a * count + b];
			if (topology->package[a] != topology->package[b] && told < least)
				least = told;
		}
	}
	uint32_t told = topology->distance[from * count + to];
	return least == UINT32_MAX || told < least ? 1 : (double)told / least;
}

/* Between the L3s of two PUs. */
static double between(const struct pfs_costs *costs, const struct pfs_topology *topology,
		      const struct pfs_pu *from, const struct pfs_pu *to)
{
	if (from->l3 == to->l3)
		return costs->l3_ns;
	if (from->package != to->package)
		return costs->remote_ns * farther(topology, from->node, to->node);
	return from->node == to->node ? costs->node_ns : costs->package_ns;
}

/* From another node of the package: the mean of near and far. */
static double memory_between(const struct pfs_costs *costs, const struct pfs_topology *topology,
			     uint32_t from, uint32_t to)
{
	if (from == to)
		return costs->memory_near_ns;
	if (topology->package[from] == topology->package[to])
		return (costs->memory_near_ns + costs->memory_far_ns) / 2;
	return costs->memory_far_ns * farther(topology, from, to);
}

static bool make_tables(struct pfs_timed_prices *prices, const struct pfs_costs *costs,
			const struct pfs_topology *topology)
{
	static _Thread_local const struct pfs_pu *pu_of[PFS_TOPOLOGY_PU_MAX];
	uint32_t groups = topology->l3_count, nodes = topology->node_count;
	memset(pu_of, 0, sizeof(pu_of));
	prices->transfer = calloc((size_t)groups * groups, sizeof(*prices->transfer));
	prices->memory = calloc((size_t)nodes * nodes, sizeof(*prices->memory));
	prices->place_of_l3 = calloc(groups, sizeof(*prices->place_of_l3));
	prices->package_of_l3 = calloc(groups, sizeof(*prices->package_of_l3));
	if (prices->transfer == NULL || prices->memory == NULL || prices->place_of_l3 == NULL ||
	    prices->package_of_l3 == NULL)
		return false;
	for (uint32_t pu = 0; pu < topology->pu_count; pu++) {
		pu_of[topology->pu[pu].l3] = &topology->pu[pu];
		prices->package_of_l3[topology->pu[pu].l3] = topology->pu[pu].package;
		prices->place_of_l3[topology->pu[pu].l3] =
			(uint16_t)(topology->node_count < topology->package_count
					   ? topology->pu[pu].package
					   : topology->pu[pu].node);
	}
	for (uint32_t a = 0; a < groups; a++) {
		for (uint32_t b = 0; b < groups; b++) {
			if (pu_of[a] != NULL && pu_of[b] != NULL)
				prices->transfer[a * groups + b] =
					(uint32_t)ps(between(costs, topology, pu_of[a], pu_of[b]));
		}
	}
	for (uint32_t a = 0; a < nodes; a++) {
		for (uint32_t b = 0; b < nodes; b++)
			prices->memory[a * nodes + b] =
				(uint32_t)ps(memory_between(costs, topology, a, b));
	}
	return true;
}

/* PUs that share a cache do not divide it: it has its full size for each. */
static uint32_t lines_of(double kib)
{
	double lines = kib * 1024 / 64;
	return lines < 1 ? 1 : lines > 1e9 ? 1000000000 : (uint32_t)lines;
}

bool pfs_timed_price(struct pfs_timed_prices *prices, const struct pfs_timed_plan *plan)
{
	const struct pfs_costs *costs = plan->costs;
	*prices = (struct pfs_timed_prices){
		.load = ps(costs->load_ns),
		.store = ps(costs->store_ns),
		.rmw = ps(costs->rmw_ns),
		.plain = ps(costs->plain_ns),
		.l2 = ps(costs->l2_ns),
		.smt = ps(costs->smt_ns),
		.l3_hit = ps(costs->l3_hit_ns),
		.read_gap = ps(costs->read_gap_ns),
		.futex_sleep = ps(costs->futex_sleep_ns),
		.futex_wake = ps(costs->futex_wake_ns),
		.wake = ps(costs->wake_ns),
		.context_switch = ps(costs->switch_ns),
		.slice = ps(costs->slice_ns),
		.yield = ps(costs->yield_ns),
		.barrier = ps(costs->barrier_ns),
		.barrier_cpu = ps(costs->barrier_cpu_ns),
		.ipi = ps(costs->ipi_ns),
		.interrupt = ps(costs->interrupt_ns),
		.map = ps(costs->map_ns),
		.unmap = ps(costs->unmap_ns),
		.fault = ps(costs->fault_ns),
		.jitter_q32 = (uint64_t)(costs->jitter * 4294967295.0),
		.request_q16 = (uint64_t)(costs->request_share * 65536.0),
		.hold = ps(costs->hold_share * costs->l3_ns),
		.late = ps(costs->l3_ns),
		.read_takes = costs->read_takes >= 0.5,
		.upgrade_q16 = (uint64_t)(costs->upgrade_share * 65536.0),
		.late_q32 = (uint64_t)(costs->late_share * 4294967295.0),
		.stream_q16 = (uint64_t)(costs->stream_share * 65536.0),
		.bypass_max = (uint32_t)costs->bypass_max,
		.l1_lines = lines_of(costs->l1_kib),
		.l2_lines = lines_of(costs->l2_kib),
		.l3_lines = lines_of(costs->l3_kib),
	};
	if (!make_tables(prices, costs, plan->topology))
		return false;
	uint32_t least = UINT32_MAX, groups = plan->topology->l3_count;
	for (uint32_t i = 0; i < groups * groups; i++)
		least = prices->transfer[i] != 0 && prices->transfer[i] < least
				? prices->transfer[i]
				: least;
	prices->ahead = (uint64_t)(least * costs->request_share * costs->upgrade_share *
				   (1 - costs->jitter));
	return true;
}
