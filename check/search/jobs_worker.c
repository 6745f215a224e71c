#define _GNU_SOURCE
#include "check/search/jobs_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct pfs_jobs_tally pfs_jobs_tally_of(const struct pfs_search_result *result)
{
	return (struct pfs_jobs_tally){ .executions = result->executions,
					.redundant = result->redundant,
					.incomplete = result->incomplete,
					.pruned = result->pruned,
					.steps = result->steps,
					.states = result->states,
					.complete = result->complete,
					.left_out = result->left_out,
					.bounded = result->bounded,
					.stopped = result->stopped };
}

/* ---- messages: between two processes of one program, so structs are sent unchanged ---- */

static bool put(FILE *to, const void *bytes, size_t size)
{
	return size == 0 || fwrite(bytes, size, 1, to) == 1;
}

static bool get(FILE *from, void *bytes, size_t size)
{
	return size == 0 || fread(bytes, size, 1, from) == 1;
}

static bool put_part(FILE *to, const struct pfs_part *part)
{
	return put(to, part, sizeof(*part)) &&
	       put(to, part->nodes, part->depth * sizeof(part->nodes[0]));
}

static bool get_part(FILE *from, struct pfs_parts *parts)
{
	struct pfs_part head, *part;
	if (!get(from, &head, sizeof(head)))
		return false;
	part = pfs_parts_add(parts, head.root, head.depth);
	if (part == NULL)
		return false;
	head.nodes = part->nodes;
	*part = head;
	return get(from, part->nodes, part->depth * sizeof(part->nodes[0]));
}

bool pfs_jobs_worker_send(struct pfs_jobs_worker *self, const struct pfs_search_options *options,
			  const struct pfs_part *part)
{
	return put(self->to, options, sizeof(*options)) && put_part(self->to, part) &&
	       fflush(self->to) == 0;
}

bool pfs_jobs_worker_receive(struct pfs_jobs_worker *self, struct pfs_search_result *result,
			     struct pfs_jobs_tally *tally, struct pfs_parts *rest)
{
	uint32_t count = 0, asked = 0;
	if (!get(self->from, result, sizeof(*result)) || !get(self->from, tally, sizeof(*tally)) ||
	    !get(self->from, &count, sizeof(count)) || !get(self->from, &asked, sizeof(asked)))
		return false;
	while (count-- > 0) {
		if (!get_part(self->from, rest))
			return false;
	}
	if (asked == 0)
		return true;
	rest->asked = calloc(asked, sizeof(*rest->asked));
	return rest->asked != NULL && get(self->from, rest->asked, asked * sizeof(*rest->asked));
}

static bool answer(FILE *to, const struct pfs_search_result *result,
		   const struct pfs_jobs_tally *tally, const struct pfs_parts *rest, uint32_t root)
{
	uint32_t asked = rest->asked != NULL ? root : 0;
	bool good = put(to, result, sizeof(*result)) && put(to, tally, sizeof(*tally)) &&
		    put(to, &rest->count, sizeof(rest->count)) && put(to, &asked, sizeof(asked));
	for (uint32_t i = 0; i < rest->count && good; i++)
		good = put_part(to, &rest->at[i]);
	return good && put(to, rest->asked, asked * sizeof(*rest->asked)) && fflush(to) == 0;
}

/* ---- the process ---- */

static void free_parts(struct pfs_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		free(parts->at[i].nodes);
	free(parts->at);
	free(parts->asked);
}

static void work(FILE *from, FILE *to, struct pfs_machine *machine,
		 const struct pfs_scenario *scenario, const struct pfs_jobs_sums *sums)
{
	static struct pfs_search_result result;
	for (bool good = true; good;) {
		struct pfs_search_options options;
		struct pfs_parts parts = { 0 }, rest = { 0 };
		if (!get(from, &options, sizeof(options)) || !get_part(from, &parts))
			return;
		for (uint32_t i = 0; i < sums->count; i++)
			*sums->at[i] = 0;
		(void)pfs_search_part(machine, scenario, &options, parts.at, &result, &rest);
		struct pfs_jobs_tally tally = pfs_jobs_tally_of(&result);
		for (uint32_t i = 0; i < sums->count; i++)
			tally.sums[i] = *sums->at[i];
		good = answer(to, &result, &tally, &rest, parts.at->root);
		free_parts(&parts);
		free_parts(&rest);
	}
}

bool pfs_jobs_worker_start(struct pfs_jobs_worker *self, struct pfs_machine *machine,
			   const struct pfs_scenario *scenario, const struct pfs_jobs_sums *sums)
{
	int ends[2];
	pid_t parent = getpid();
	*self = (struct pfs_jobs_worker){ 0 };
	(void)fflush(NULL); /* so that buffered output is printed once */
	(void)signal(SIGPIPE, SIG_IGN);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	self->process = fork();
	if (self->process == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(ends[0]);
		FILE *from = fdopen(ends[1], "r"), *to = fdopen(dup(ends[1]), "w");
		if (scenario->forked != NULL)
			scenario->forked(scenario->context);
		if (getppid() == parent && from != NULL && to != NULL)
			work(from, to, machine, scenario, sums);
		_exit(0);
	}
	(void)close(ends[1]);
	self->from = fdopen(ends[0], "r");
	self->to = fdopen(dup(ends[0]), "w");
	return self->process > 0 && self->from != NULL && self->to != NULL;
}

uint32_t pfs_jobs_workers_wait(const struct pfs_jobs_worker *workers, uint32_t count)
{
	struct pollfd waits[PFS_JOBS_MAX];
	for (uint32_t i = 0; i < count; i++)
		waits[i] = (struct pollfd){ .fd = fileno(workers[i].from), .events = POLLIN };
	while (poll(waits, count, -1) < 0 && errno == EINTR)
		continue;
	for (uint32_t i = 0; i < count; i++) {
		if (waits[i].revents != 0)
			return i;
	}
	return count;
}

const char *pfs_jobs_worker_fate(struct pfs_jobs_worker *self)
{
	static char text[128];
	int status = 0;
	if (waitpid(self->process, &status, 0) == self->process && WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text),
			       "a job was ended by signal %d (%s); no result; search again, with "
			       "fewer --jobs if memory is short",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, sizeof(text),
			       "a job ended before its work was done; no result, search again");
	self->process = 0;
	return text;
}

void pfs_jobs_worker_end(struct pfs_jobs_worker *self)
{
	if (self->process > 0) {
		(void)kill(self->process, SIGKILL);
		(void)waitpid(self->process, NULL, 0);
	}
	if (self->from != NULL)
		(void)fclose(self->from);
	if (self->to != NULL)
		(void)fclose(self->to);
}
