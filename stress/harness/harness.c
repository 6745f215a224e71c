#include "stress/harness/harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers/compiler.h"

static const char *const layout_names[] = { "in_record", "side_by_side" };

void pfs_check_failed(const char *file, int line, const char *what, unsigned long long left,
		      unsigned long long right)
{
	(void)fprintf(stderr, "%s:%d: check failed: %s (%llu, %llu)\n", file, line, what, left,
		      right);
	PFS_SAY_SEED();
	_exit(1);
}

struct pfs_config pfs_case_config(const struct pfs_case *at)
{
	struct pfs_config config;
	pfs_config_init(&config);
	config.layout = at->layout;
	return config;
}

struct pfs_container *pfs_case_create(const struct pfs_case *at, const struct pfs_config *config)
{
	struct pfs_container *container = NULL;
	struct pfs_message message = { "" };
	if (pfs_container_create(at->variant, config, &container, &message) != PFS_OK) {
		(void)fprintf(stderr, "%s\n", message.text);
		exit(1);
	}
	return container;
}

struct pfs_thread *pfs_attach_or_fail(struct pfs_container *container)
{
	struct pfs_thread *thread = NULL;
	PFS_CHECK_IS(pfs_thread_attach(container, &thread), PFS_OK);
	return thread;
}

void *pfs_allocate_or_fail(struct pfs_thread *thread)
{
	struct pfs_claim claim = pfs_allocate(thread);
	PFS_CHECK(claim.record != NULL);
	pfs_publish(thread, claim);
	return claim.record;
}

struct pfs_counts pfs_counts_of(struct pfs_container *container)
{
	struct pfs_counts counts;
	pfs_container_counts(container, &counts);
	return counts;
}

struct starter {
	void (*body)(void *context, uint32_t index);
	void *context;
	uint32_t index;
	pthread_t native;
	pthread_barrier_t *begin; /* all start together */
};

static void *run_starter(void *opaque)
{
	struct starter *self = opaque;
	(void)pthread_barrier_wait(self->begin);
	self->body(self->context, self->index);
	return NULL;
}

void pfs_run_threads(uint32_t thread_count, void (*body)(void *context, uint32_t index),
		     void *context)
{
	struct starter *starters = calloc(thread_count, sizeof(*starters));
	pthread_barrier_t begin;
	PFS_CHECK(starters != NULL);
	PFS_CHECK_IS(pthread_barrier_init(&begin, NULL, thread_count), 0);
	for (uint32_t i = 0; i < thread_count; i++) {
		starters[i] = (struct starter){
			.body = body, .context = context, .index = i, .begin = &begin
		};
		PFS_CHECK_IS(pthread_create(&starters[i].native, NULL, run_starter, &starters[i]),
			     0);
	}
	for (uint32_t i = 0; i < thread_count; i++)
		PFS_CHECK_IS(pthread_join(starters[i].native, NULL), 0);
	(void)pthread_barrier_destroy(&begin);
	free(starters);
}

static void run_child(const struct pfs_test *test, const struct pfs_case *at, FILE *errors)
{
	struct rlimit no_core = { 0, 0 };
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)dup2(fileno(errors), STDERR_FILENO);
	(void)alarm(PFS_TEST_SECONDS);
	test->run(at);
	exit(0); /* not _exit: the sanitizers look at what is left */
}

static void print_errors(FILE *errors)
{
	char line[512];
	rewind(errors);
	while (fgets(line, sizeof(line), errors) != NULL)
		(void)printf("  | %s", line);
}

static bool errors_hold(FILE *errors, const char *text)
{
	char line[512];
	rewind(errors);
	while (fgets(line, sizeof(line), errors) != NULL) {
		if (strstr(line, text) != NULL)
			return true;
	}
	return false;
}

static bool is_passed(const struct pfs_test *test, int status, FILE *errors)
{
	if (test->dies_with == NULL)
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
	       errors_hold(errors, test->dies_with);
}

static bool run_one(const struct pfs_test *test, const struct pfs_case *at, const char *name)
{
	int status = 0;
	FILE *errors = tmpfile();
	if (errors == NULL) {
		perror("tmpfile");
		exit(1);
	}
	(void)fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		run_child(test, at, errors);
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("fork");
		exit(1);
	}
	bool passed = is_passed(test, status, errors);
	(void)printf("%s %s\n", passed ? "ok    " : "FAILED", name);
	if (!passed) {
		(void)printf("  | %s %d%s\n", WIFSIGNALED(status) ? "signal" : "exit",
			     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			     WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": timed out"
										: "");
		if (test->dies_with != NULL)
			(void)printf("  | it must abort and say: %s\n", test->dies_with);
		print_errors(errors);
		PFS_SAY_SEED();
	}
	(void)fclose(errors);
	return passed;
}

struct session {
	const char *wanted;
	bool list;
	unsigned passed, failed, skipped, listed;
};

static void visit(struct session *self, const struct pfs_test *test, const struct pfs_case *at)
{
	char name[160];
	if (test->each)
		(void)snprintf(name, sizeof(name), "%s[%s,%s]", test->name,
			       pfs_variant_name(at->variant), layout_names[at->layout]);
	else
		(void)snprintf(name, sizeof(name), "%s", test->name);
	if (self->wanted != NULL && strstr(name, self->wanted) == NULL)
		return;
	self->listed++;
	if (self->list) {
		(void)printf("%s\n", name);
		return;
	}
	if (PFS_UNDER_TSAN && test->threads && test->each &&
	    (pfs_variant_traits(at->variant) & PFS_TRAIT_C11) == 0) {
		(void)printf("skip   %s: ThreadSanitizer cannot see all its accesses\n", name);
		self->skipped++;
		return;
	}
	if (run_one(test, at, name))
		self->passed++;
	else
		self->failed++;
}

static void visit_each(struct session *self, const struct pfs_test *test)
{
	const struct pfs_variant *variant;
	for (size_t position = 0; (variant = pfs_variant_at(position)) != NULL; position++) {
		uint32_t traits = pfs_variant_traits(variant);
		if ((traits & test->traits) != test->traits || (traits & test->without) != 0)
			continue;
		for (int layout = PFS_LAYOUT_IN_RECORD; layout <= PFS_LAYOUT_SIDE_BY_SIDE;
		     layout++) {
			struct pfs_case at = { variant, (enum pfs_layout)layout };
			visit(self, test, &at);
		}
	}
}

/* What every child would otherwise repeat, above all reading the machine's topology. */
static void warm_up(void)
{
	struct pfs_case at = { pfs_variant_at(0), PFS_LAYOUT_IN_RECORD };
	struct pfs_config config = pfs_case_config(&at);
	pfs_container_destroy(pfs_case_create(&at, &config));
}

int pfs_tests_main(int argc, char **argv, const struct pfs_test *tests, size_t test_count)
{
	struct session session = { .wanted = NULL };
	session.list = argc > 1 && strcmp(argv[1], "--list") == 0;
	if (argc > 1 && !session.list)
		session.wanted = argv[1];
	if (!session.list)
		warm_up();
	for (size_t i = 0; i < test_count; i++) {
		struct pfs_case at = { pfs_variant_at(0), PFS_LAYOUT_IN_RECORD };
		if (tests[i].each)
			visit_each(&session, &tests[i]);
		else
			visit(&session, &tests[i], &at);
	}
	if (session.listed == 0) {
		(void)fprintf(stderr, "%s: no test has '%s' in its name; --list names them\n",
			      argv[0], session.wanted != NULL ? session.wanted : "");
		return 2;
	}
	if (!session.list)
		(void)printf("%u passed, %u failed, %u skipped\n", session.passed, session.failed,
			     session.skipped);
	return session.failed != 0;
}
