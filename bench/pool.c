/*
 * pool.c - see pool.h.
 *
 * Invariant: generation grows by one for each job; a thread runs it if it is meant (only ==
 * ALL or its index) and then lowers running. All fields are guarded by the mutex.
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL UINT32_MAX

struct pool_thread {
	struct pfs_pool *pool;
	uint32_t index;
	pthread_t handle;
};

struct pfs_pool {
	pthread_mutex_t mutex;
	pthread_cond_t handed; /* a job, or leave */
	pthread_cond_t done;   /* running became 0 */
	uint64_t generation;
	uint32_t running;
	uint32_t only;
	bool leave;
	void (*job)(void *context, uint32_t thread_index);
	void *context;

	const struct pfs_placement *placement;
	hwloc_topology_t topology;
	enum pfs_status bind_status; /* of the first thread that could not be bound */
	struct pfs_message bind_message;

	uint32_t thread_count;
	struct pool_thread *threads;
};

static void *thread_main(void *opaque)
{
	struct pool_thread *self = opaque;
	struct pfs_pool *pool = self->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&pool->mutex);
	for (;;) {
		while (pool->generation == seen && !pool->leave)
			pthread_cond_wait(&pool->handed, &pool->mutex);
		if (pool->leave)
			break;
		seen = pool->generation;
		if (pool->only != ALL && pool->only != self->index)
			continue;
		pthread_mutex_unlock(&pool->mutex);
		pool->job(pool->context, self->index);
		pthread_mutex_lock(&pool->mutex);
		if (--pool->running == 0)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

static void hand(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		 void *context, uint32_t only)
{
	pthread_mutex_lock(&pool->mutex);
	pool->job = job;
	pool->context = context;
	pool->only = only;
	pool->running = only == ALL ? pool->thread_count : 1;
	pool->generation++;
	pthread_cond_broadcast(&pool->handed);
	pthread_mutex_unlock(&pool->mutex);
}

void pfs_pool_begin(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		    void *context)
{
	hand(pool, job, context, ALL);
}

void pfs_pool_wait(struct pfs_pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	while (pool->running != 0)
		pthread_cond_wait(&pool->done, &pool->mutex);
	pthread_mutex_unlock(&pool->mutex);
}

void pfs_pool_each(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		   void *context)
{
	hand(pool, job, context, ALL);
	pfs_pool_wait(pool);
}

void pfs_pool_turns(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		    void *context)
{
	for (uint32_t i = 0; i < pool->thread_count; i++) {
		hand(pool, job, context, i);
		pfs_pool_wait(pool);
	}
}

uint32_t pfs_pool_thread_count(const struct pfs_pool *pool)
{
	return pool->thread_count;
}

static void bind_job(void *context, uint32_t thread_index)
{
	struct pfs_pool *pool = context;
	struct pfs_message message;
	enum pfs_status status = pfs_placement_bind(pool->placement, pool->topology, thread_index,
						    &message);

	if (status == PFS_OK)
		return;
	pthread_mutex_lock(&pool->mutex);
	if (pool->bind_status == PFS_OK) {
		pool->bind_status = status;
		pool->bind_message = message;
	}
	pthread_mutex_unlock(&pool->mutex);
}

void pfs_pool_destroy(struct pfs_pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->mutex);
	pool->leave = true;
	pthread_cond_broadcast(&pool->handed);
	pthread_mutex_unlock(&pool->mutex);
	for (uint32_t i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i].handle, NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->handed);
	pthread_mutex_destroy(&pool->mutex);
	free(pool->threads);
	free(pool);
}

static enum pfs_status refuse(struct pfs_pool *pool, enum pfs_status status, const char *text,
			      struct pfs_message *message)
{
	snprintf(message->text, sizeof(message->text), "%s", text);
	pfs_pool_destroy(pool);
	return status;
}

enum pfs_status pfs_pool_create(struct pfs_pool **pool, const struct pfs_placement *placement,
				hwloc_topology_t topology, struct pfs_message *message)
{
	struct pfs_pool *self = calloc(1, sizeof(*self));
	uint32_t wanted = placement->thread_count;

	if (self == NULL)
		return refuse(NULL, PFS_NO_MEMORY, "no memory for the threads", message);
	self->placement = placement;
	self->topology = topology;
	pthread_mutex_init(&self->mutex, NULL);
	pthread_cond_init(&self->handed, NULL);
	pthread_cond_init(&self->done, NULL);
	self->threads = calloc(wanted, sizeof(*self->threads));
	if (self->threads == NULL)
		return refuse(self, PFS_NO_MEMORY, "no memory for the threads", message);
	for (uint32_t i = 0; i < wanted; i++) {
		struct pool_thread *thread = &self->threads[i];

		thread->pool = self;
		thread->index = i;
		if (pthread_create(&thread->handle, NULL, thread_main, thread) != 0)
			return refuse(self, PFS_NO_MEMORY,
				      "the system refuses to create that many threads; use fewer",
				      message);
		self->thread_count++; /* counts only those that destroy must join */
	}
	pfs_pool_each(self, bind_job, self);
	if (self->bind_status != PFS_OK)
		return refuse(self, self->bind_status, self->bind_message.text, message);
	*pool = self;
	return PFS_OK;
}
