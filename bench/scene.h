/*
 * scene.h - one trial of a workload on real threads, from an empty container to its end.
 *
 * Containers are made and threads attach; workers prepare and settle in turns; a warm-up sizes the
 * batches; the window is measured; latencies are sampled in a window of their own; then everything
 * is checked, because a structure that is fast and wrong is the classic failure.
 */
#ifndef PFS_BENCH_SCENE_H
#define PFS_BENCH_SCENE_H

#include "placement.h"
#include "trial.h"
#include "workload.h"

/* What does not change from trial to trial. */
struct pfs_scene_plan {
	const struct pfs_options *options;
	const struct pfs_workload *workload;
	const struct pfs_variant *variant; /* NULL if the workload has no policy */
	const struct pfs_calls *calls;     /* of the variant, as api says */
	enum pfs_api api;
	const struct pfs_placement *placement;
	hwloc_topology_t topology;
	uint32_t pu_allowed; /* PUs this process may use */
	const struct pfs_clock *clock;
	struct pfs_series *series;
	const char *name;
	const struct pfs_replay *replay; /* NULL if the workload has no trace */
	double occupancy;
	uint32_t records; /* 0 if the workload has none */
	bool touched;     /* pages of memory that was touched before */
};

struct pfs_outcome {
	struct pfs_trial trial;
	bool crowded;
	uint64_t items;            /* triples */
	bool has_items;            /* does a worker do any? */
	uint64_t ops;              /* all operations, of readers too */
	uint64_t ops_min, ops_max; /* of the workers whose operations are items */
	uint32_t container_count;
	struct pfs_counts before; /* the window, summed over the containers */
	struct pfs_counts after;
	uint64_t page_ideal;            /* sum; UINT64_MAX: not known */
	double occupancy;               /* at the window's end, of pages then; NaN: no pages */
	struct pfs_histogram histogram; /* ticks */
	uint64_t reclaimed_timed;       /* pages given back while calls were timed */
	struct {
		const char *name;
		double value;
	} extras[PFS_EXTRAS_MAX];
	uint32_t extra_count;
};

/* PFS_OK; or PFS_NO_MEMORY, PFS_NO_NODE, PFS_BAD_CONFIG if it could not run, PFS_BAD_VARIANT if a
 * check failed: *message then says what. */
enum pfs_status pfs_scene_run(const struct pfs_scene_plan *plan, struct pfs_outcome *outcome,
			      struct pfs_message *message);

/* The configuration of a scene's container, for checks before anything runs. */
void pfs_scene_configure(const struct pfs_scene *scene, uint32_t container,
			 struct pfs_config *config);

/* PFS_OK, or PFS_BAD_CONFIG and *message says why: a container is not possible, or too small for
 * the threads. It reads options, workload, variant, replay and thread_count of *scene. */
enum pfs_status pfs_scene_check(const struct pfs_scene *scene, struct pfs_message *message);

#endif
