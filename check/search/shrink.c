/* shrink.c - fewer switches, then fewer steps, in a schedule that fails; see search.h. */
#include <string.h>

#include "check/search/search.h"

#define REPLAYS_MAX 20000u
#define STEPS_MORE 200u

static uint32_t steps_of(const struct pfs_search_result *result)
{
	uint32_t steps = 0;
	for (uint32_t i = 0; i < result->segment_count; i++)
		steps += result->segments[i].steps;
	return steps;
}

/* Replay the segments; if they still fail in the same way, *result becomes what really ran. */
static bool still_fails(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			const struct pfs_segment *segments, uint32_t count,
			struct pfs_search_result *result)
{
	struct pfs_given given;
	pfs_given_init(&given, segments, count);
	enum pfs_machine_end end = pfs_scenario_run(scenario, machine, &given.scheduler);
	if (!pfs_search_is_same(result, end, machine->run.message))
		return false;
	static struct pfs_segment ran[PFS_SEARCH_SEGMENTS_MAX];
	uint32_t ran_count = pfs_segments_of(machine->run.schedule, machine->run.step_count, ran,
					     PFS_SEARCH_SEGMENTS_MAX);
	uint32_t steps = steps_of(result);
	if (ran_count > result->segment_count ||
	    (ran_count == result->segment_count && machine->run.step_count >= steps))
		return false;
	memcpy(result->segments, ran, ran_count * sizeof(ran[0]));
	result->segment_count = ran_count;
	(void)memcpy(result->message, machine->run.message, sizeof(result->message));
	return true;
}

/* Candidates from the segment at `at`: dropped, or moved after the same actor's previous or before
 * its next one. */
static uint32_t candidate(const struct pfs_search_result *result, uint32_t at, uint32_t way,
			  struct pfs_segment *out)
{
	const struct pfs_segment *segments = result->segments;
	uint32_t count = result->segment_count, length = 0, target = count;
	if (way == 1) {
		for (uint32_t i = at; i-- > 0 && target == count;)
			target = segments[i].actor == segments[at].actor ? i : count;
	} else if (way == 2) {
		for (uint32_t i = at + 1; i < count && target == count; i++)
			target = segments[i].actor == segments[at].actor ? i : count;
	}
	if (way != 0 && target == count)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		if (i == at)
			continue;
		out[length] = segments[i];
		if (i == target)
			out[length].steps += segments[at].steps;
		length++;
	}
	return length;
}

uint32_t pfs_search_shrink(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			   struct pfs_search_result *result)
{
	static struct pfs_segment tried[PFS_SEARCH_SEGMENTS_MAX];
	uint32_t replays = 0;
	uint32_t step_max = machine->setup.step_max;
	bool better = result->failed;
	if (scenario->is_endless) /* a schedule that does not fail would run forever */
		machine->setup.step_max = 2 * steps_of(result) + STEPS_MORE;
	while (better && replays < REPLAYS_MAX) {
		better = false;
		for (uint32_t at = 0; at < result->segment_count && replays < REPLAYS_MAX; at++) {
			for (uint32_t way = 0; way < 3; way++) {
				uint32_t count = candidate(result, at, way, tried);
				if (count == 0)
					continue;
				replays++;
				better |= still_fails(machine, scenario, tried, count, result);
			}
		}
	}
	machine->setup.step_max = step_max;
	return replays;
}
