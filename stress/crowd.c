#include "crowd.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "containers/compiler.h"

#define PAGE_RECORDS 32u
#define RECORDS_A_THREAD 64u
#define MISSING_IN_LAST_PAGE 5u
#define WRAP_BELOW_LAST 40u /* a record publishes this often within milliseconds */

static const char *layout_name(enum pfs_layout layout)
{
	static const char *const names[] = { "in_record", "side_by_side", "bare", "own_word" };
	return names[layout];
}

void pfs_harm(const struct pfs_crowd *crowd, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, "pfs-stress: harm: %s, %s, %s, seed %llu: %s\n",
		      pfs_variant_name(crowd->options->policy), layout_name(crowd->layout),
		      pfs_mode_name(crowd->mode), (unsigned long long)crowd->options->seed, text);
	PFS_SAY_SEED();
	_exit(1);
}

static void sleep_seconds(double seconds)
{
	struct timespec wait = { .tv_sec = (time_t)seconds };
	wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
	while (nanosleep(&wait, &wait) != 0)
		;
}

struct starter {
	struct pfs_crowd *crowd;
	void (*body)(struct pfs_crowd *crowd, uint32_t index);
	uint32_t index;
	pthread_t native;
	pthread_barrier_t *begin; /* all start together; NULL: at once */
};

static void *run_starter(void *opaque)
{
	struct starter *self = opaque;
	if (self->begin != NULL)
		(void)pthread_barrier_wait(self->begin);
	self->body(self->crowd, self->index);
	return NULL;
}

static void begin_thread(struct starter *starter)
{
	if (pthread_create(&starter->native, NULL, run_starter, starter) != 0)
		pfs_harm(starter->crowd, "thread %u could not be started", starter->index);
}

void pfs_crowd_threads(struct pfs_crowd *self, void (*body)(struct pfs_crowd *, uint32_t),
		       double seconds)
{
	uint32_t count = self->options->threads;
	struct starter *starters = calloc(count, sizeof(*starters));
	pthread_barrier_t begin;
	if (starters == NULL || pthread_barrier_init(&begin, NULL, count + 1) != 0)
		pfs_harm(self, "no memory for the threads");
	for (uint32_t i = 0; i < count; i++) {
		starters[i] = (struct starter){
			.crowd = self, .body = body, .index = i, .begin = &begin
		};
		begin_thread(&starters[i]);
	}
	(void)pthread_barrier_wait(&begin);
	if (seconds > 0) {
		sleep_seconds(seconds);
		atomic_store_explicit(&self->stop, true, memory_order_relaxed);
	}
	for (uint32_t i = 0; i < count; i++)
		(void)pthread_join(starters[i].native, NULL);
	(void)pthread_barrier_destroy(&begin);
	free(starters);
}

static void come_again(struct pfs_worker *self)
{
	pfs_thread_detach(self->thread);
	if (pfs_thread_attach(self->crowd->container, &self->thread) != PFS_OK)
		pfs_harm(self->crowd, "no memory for a thread that comes again");
}

static void do_something_else(struct pfs_worker *self, uint32_t what)
{
	if (what < 2)
		pfs_worker_walk(self);
	else if (what < 40)
		pfs_worker_look_up(self);
	else if (what < 60)
		pfs_worker_ask_owns(self);
	else if (what < 61)
		self->deeds->gave_back += pfs_reclaim_now(self->thread);
	else if (what < 64) /* a step of the decay, if no other thread is in one */
		self->deeds->gave_back += pfs_reclaim_pass(self->thread);
	else if (what < 65)
		come_again(self);
	else
		pfs_worker_take_over(self);
}

static void do_with_record(struct pfs_worker *self)
{
	uint32_t position = pfs_below(&self->random, self->held_count);
	uint32_t what = pfs_below(&self->random, 16);
	if (what < 2)
		(void)pfs_worker_hand_over(self, position);
	else if (what < 4)
		pfs_worker_rewrite(self, position);
	else
		pfs_worker_free(self, position);
}

/* The first thread makes the load rise and fall, so that pages are added and given back. */
static uint32_t turn_of_tide(struct pfs_worker *self)
{
	static const uint32_t tides[] = { 0, 5, 50, 100, 100, 100 };
	struct pfs_crowd *crowd = self->crowd;
	if (self->index == 0)
		atomic_store_explicit(&crowd->tide, tides[pfs_below(&self->random, 6)],
				      memory_order_relaxed);
	uint32_t tide = atomic_load_explicit(&crowd->tide, memory_order_relaxed);
	return crowd->hold_max * tide / 100;
}

static void do_with_many(struct pfs_worker *self, uint32_t target)
{
	uint32_t count = 1 + pfs_below(&self->random, PFS_MANY_MAX);
	if (self->held_count + count <= target)
		pfs_worker_allocate_many(self, count);
	else
		pfs_worker_free_many(self, count < self->held_count ? count : self->held_count);
}

static void work(struct pfs_crowd *crowd, uint32_t index)
{
	struct pfs_worker self;
	uint32_t target = crowd->hold_max;
	pfs_worker_begin(&self, crowd, index);
	for (uint64_t round = 0; !pfs_crowd_flag(&crowd->stop); round++) {
		uint32_t what = pfs_below(&self.random, 1024);
		if (round % 512 == 511)
			target = turn_of_tide(&self);
		if (what < 128)
			do_something_else(&self, what);
		else if (what < 144)
			do_with_many(&self, target);
		else if (self.held_count < target && what < 700)
			(void)pfs_worker_allocate(&self);
		else if (self.held_count != 0)
			do_with_record(&self);
	}
	pfs_worker_end(&self);
}

/* Stop while the record is DIRTY. Abandon it when the other threads are done. */
static void park_dirty(struct pfs_crowd *crowd, uint32_t index)
{
	struct pfs_thread *thread = NULL;
	struct pfs_claim claim = { .record = NULL };
	if (pfs_thread_attach(crowd->container, &thread) != PFS_OK)
		pfs_harm(crowd, "no memory for a thread");
	for (;;) {
		claim = pfs_allocate(thread);
		if (claim.record != NULL)
			break;
		crowd->deeds[index].refused++;
		(void)usleep(100);
	}
	if (crowd->has_index)
		atomic_store_explicit(&crowd->owners[pfs_index(thread, claim.record)],
				      PFS_OWNER_PARKED, memory_order_relaxed);
	atomic_store_explicit(&crowd->is_parked, true, memory_order_relaxed);
	while (!pfs_crowd_flag(&crowd->unpark))
		(void)usleep(1000);
	if (crowd->has_index)
		atomic_store_explicit(&crowd->owners[pfs_index(thread, claim.record)], 0,
				      memory_order_relaxed);
	pfs_abandon(thread, claim);
	pfs_thread_detach(thread);
}

static void park_reading(struct pfs_crowd *crowd, uint32_t index)
{
	struct pfs_worker self;
	(void)index;
	pfs_worker_begin(&self, crowd, crowd->options->threads + 1);
	pfs_worker_park_in_section(&self);
	pfs_worker_end(&self);
}

/* Free the records that were left in the boxes, through a worker of the crowd's own. */
static void empty_boxes(struct pfs_crowd *self)
{
	struct pfs_worker worker;
	for (uint32_t i = 0; i < self->options->threads; i++) {
		pfs_worker_begin(&worker, self, i);
		pfs_worker_take_over(&worker);
		pfs_worker_end(&worker);
	}
}

static void size_container(struct pfs_crowd *self)
{
	uint32_t threads = self->options->threads;
	bool is_history = self->mode == PFS_MODE_HISTORY;
	self->config.page_records = is_history ? 4 : PAGE_RECORDS;
	self->config.page_max = is_history ? 3 + threads / 4 : 2 * threads;
	self->capacity = (uint64_t)self->config.page_max * self->config.page_records;
	if (!is_history)
		self->capacity -= MISSING_IN_LAST_PAGE;
	self->config.record_max = self->capacity;
	/* A ninth of the room stays, or they want more than there is. */
	uint64_t wanted = (self->faults & PFS_FAULT_MAXIMUM) != 0 || is_history
				  ? self->capacity * 3 / 2
				  : self->capacity * 8 / 9;
	self->hold_max = (uint32_t)(wanted / threads) + is_history;
}

void pfs_crowd_create(struct pfs_crowd *self)
{
	struct pfs_message message = { "" };
	pfs_test_source_init(&self->source);
	self->config.source = &self->source.source;
	if (pfs_container_create(self->options->policy, &self->config, &self->container,
				 &message) != PFS_OK)
		pfs_harm(self, "%s", message.text);
	if ((self->faults & PFS_FAULT_WRAP) != 0) {
		pfs_crowd_preset_versions(self->container, WRAP_BELOW_LAST);
		for (uint64_t i = 0; i < self->capacity; i++)
			self->versions[i] = (1u << 30) - 1 - WRAP_BELOW_LAST;
	}
	if ((self->faults & PFS_FAULT_MEMORY) != 0)
		pfs_test_source_refuse(&self->source, 3, 0);
}

void pfs_crowd_destroy(struct pfs_crowd *self)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	self->reclaimed += counts.reclaimed;
	pfs_container_destroy(self->container);
	if (pfs_test_source_out(&self->source) != 0)
		pfs_harm(self, "%llu pages leaked",
			 (unsigned long long)pfs_test_source_out(&self->source));
}

static void run_hot(struct pfs_crowd *self, double seconds)
{
	struct starter parker = { .crowd = self, .body = park_dirty };
	struct starter reader = { .crowd = self, .body = park_reading };
	uint32_t parked = (self->faults & PFS_FAULT_PARKED) != 0;
	pfs_crowd_create(self);
	parker.index = self->options->threads;
	if (parked)
		begin_thread(&parker);
	while (parked && !pfs_crowd_flag(&self->is_parked))
		(void)usleep(100);
	if ((self->faults & PFS_FAULT_READER) != 0)
		begin_thread(&reader);
	pfs_crowd_threads(self, work, seconds);
	if ((self->faults & PFS_FAULT_READER) != 0)
		(void)pthread_join(reader.native, NULL);
	empty_boxes(self);
	pfs_crowd_check_quiet(self, parked);
	pfs_test_source_refuse(&self->source, 0, 0);
	pfs_crowd_check_filled(self, parked);
	if (parked) {
		atomic_store_explicit(&self->unpark, true, memory_order_relaxed);
		(void)pthread_join(parker.native, NULL);
		pfs_crowd_check_filled(self, 0);
	}
	pfs_crowd_destroy(self);
}

static void report(const struct pfs_crowd *self)
{
	struct pfs_deeds sum = { 0 };
	for (uint32_t i = 0; i < self->options->threads; i++) {
		const struct pfs_deeds *deeds = &self->deeds[i];
		sum.allocations += deeds->allocations;
		sum.refused += deeds->refused;
		sum.handed += deeds->handed;
		sum.walks += deeds->walks;
		sum.reads += deeds->reads;
		sum.gave_back += deeds->gave_back;
	}
	(void)printf("%s %s %s: %llu allocated, %llu refused, %llu handed over, %llu walks, "
		     "%llu reads confirmed, %llu pages given back, %llu of them on demand: fine\n",
		     pfs_variant_name(self->options->policy), layout_name(self->layout),
		     pfs_mode_name(self->mode), (unsigned long long)sum.allocations,
		     (unsigned long long)sum.refused, (unsigned long long)sum.handed,
		     (unsigned long long)sum.walks, (unsigned long long)sum.reads,
		     (unsigned long long)self->reclaimed, (unsigned long long)sum.gave_back);
	(void)fflush(stdout);
}

/* The word is behind the body. Pages go with their addresses, their memory, or nothing. */
static void use_own_words(struct pfs_crowd *self, uint64_t seed)
{
	self->config.word_offset = PFS_BODY_WORDS * 8;
	self->config.record_size_bytes = self->config.word_offset + 8;
	if (self->reclaims)
		self->config.give_back = (enum pfs_give_back)(seed % 3);
}

static void configure(struct pfs_crowd *self)
{
	const struct pfs_stress_options *options = self->options;
	uint32_t traits = pfs_variant_traits(options->policy);
	self->has_words = (traits & PFS_TRAIT_WORDS) != 0 &&
			  (self->layout != PFS_LAYOUT_BARE || options->bare_words);
	self->has_index = (traits & PFS_TRAIT_INDEX) != 0;
	self->reclaims = (traits & PFS_TRAIT_RECLAIM) != 0;
	self->bounded = (traits & PFS_TRAIT_BOUNDED) != 0;
	self->faults = options->faults;
	if (!self->has_words)
		self->faults &= ~(uint32_t)PFS_FAULT_WRAP;
	if (!self->has_index)
		self->faults &= ~(uint32_t)PFS_FAULT_READER;
	if ((traits & PFS_TRAIT_GROW) == 0 || !self->bounded)
		self->faults &= ~(uint32_t)PFS_FAULT_MEMORY; /* create has all its memory */
	pfs_config_init(&self->config);
	self->config.layout = self->layout;
	self->config.bare_words = options->bare_words;
	if (self->layout == PFS_LAYOUT_OWN_WORD)
		use_own_words(self, options->seed);
	self->config.full_flags = options->full_flags;
	self->config.seed = options->seed;
	self->config.reclaim.period_ms = self->reclaims ? 1 : 0;
	self->config.reclaim.idle_passes = 1;
	self->config.reclaim.headroom_percent = 0;
	self->config.reclaim.spare_pages = 0;
	/* At once, or along one of two curves. */
	self->config.reclaim.decay_passes = (uint32_t)(2 - options->seed % 3) * 2;
	size_container(self);
}

void pfs_crowd_run(const struct pfs_stress_options *options, enum pfs_layout layout,
		   enum pfs_mode mode, double seconds)
{
	struct pfs_crowd self;
	memset(&self, 0, sizeof(self));
	self.options = options;
	self.layout = layout;
	self.mode = mode;
	configure(&self);
	self.owners = calloc(self.capacity, sizeof(*self.owners));
	self.versions = calloc(self.capacity, sizeof(*self.versions));
	self.boxes = calloc(options->threads, sizeof(*self.boxes));
	self.deeds = calloc(options->threads + 2, sizeof(*self.deeds));
	if (self.owners == NULL || self.versions == NULL || self.boxes == NULL ||
	    self.deeds == NULL)
		pfs_harm(&self, "no memory for the crowd");
	if (mode == PFS_MODE_HISTORY)
		pfs_crowd_run_history(&self, seconds);
	else
		run_hot(&self, seconds);
	report(&self);
	free(self.owners);
	free(self.versions);
	free(self.boxes);
	free(self.deeds);
}
