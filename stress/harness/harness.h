/*
 * harness.h - the tests' own harness: a process for each test, so that one may abort or hang.
 *
 * A program lists its tests and hands them to pfs_tests_main. Each test runs in a forked
 * child under an alarm; a test that says so must abort with a line that names its text. The
 * checks end the process, so they work in any thread. Under ThreadSanitizer a race makes the
 * child's exit code 66, and the test fails.
 */
#ifndef PFS_HARNESS_H
#define PFS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/variant.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__SANITIZE_THREAD__)
#define PFS_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_UNDER_TSAN 1
#endif
#endif
#ifndef PFS_UNDER_TSAN
#define PFS_UNDER_TSAN 0
#endif

/* Of builds that judge each access, or count: all of the code runs. The plain build and the one
 * with delays run it in many orders. */
#if PFS_UNDER_TSAN || defined(__SANITIZE_ADDRESS__) || defined(PFS_COUNTING)
#define PFS_SHORT 1
#else
#define PFS_SHORT 0
#endif

/* What a parameterized test runs with. */
struct pfs_case {
	const struct pfs_variant *variant;
	enum pfs_layout layout;
};

#ifdef PFS_DELAYS
#define PFS_TEST_SECONDS 110u /* below the 120 s of ctest */
#else
#define PFS_TEST_SECONDS 60u
#endif

struct pfs_test {
	const char *name;
	void (*run)(const struct pfs_case *at);
	bool each; /* for each variant with the traits, in both layouts */
	uint32_t traits;
	uint32_t without;      /* and for none that has one of these */
	bool threads;          /* starts threads: needs PFS_TRAIT_C11 under ThreadSanitizer */
	const char *dies_with; /* the test must abort, and stderr must hold this text */
};

/*
 * pfs_tests_main - run the tests whose name holds argv[1] (all without it; --list names them).
 *
 * Returns   the exit code: 0 all passed, 1 some failed, 2 no test has such a name.
 * Errors    none besides.
 * Progress  blocking.
 * Order     none.
 */
int pfs_tests_main(int argc, char **argv, const struct pfs_test *tests, size_t test_count);

void pfs_check_failed(const char *file, int line, const char *what, unsigned long long left,
		      unsigned long long right) __attribute__((noreturn));

/* In any thread. PFS_CHECK_IS says both values. */
#define PFS_CHECK(condition)                                                    \
	do {                                                                    \
		if (!(condition))                                               \
			pfs_check_failed(__FILE__, __LINE__, #condition, 0, 1); \
	} while (0)
#define PFS_CHECK_IS(left, right)                                                                 \
	do {                                                                                      \
		unsigned long long left_ = (unsigned long long)(left);                            \
		unsigned long long right_ = (unsigned long long)(right);                          \
		if (left_ != right_)                                                              \
			pfs_check_failed(__FILE__, __LINE__, #left " == " #right, left_, right_); \
	} while (0)

/* Or the test fails. The configuration is the default with the layout of the case. */
struct pfs_config pfs_case_config(const struct pfs_case *at);
struct pfs_container *pfs_case_create(const struct pfs_case *at, const struct pfs_config *config);
struct pfs_thread *pfs_attach_or_fail(struct pfs_container *container);
void *pfs_allocate_or_fail(struct pfs_thread *thread); /* and publish */
struct pfs_counts pfs_counts_of(struct pfs_container *container);

/* Run body(context, i) in thread_count threads, and wait for them. */
void pfs_run_threads(uint32_t thread_count, void (*body)(void *context, uint32_t index),
		     void *context);

#ifdef __cplusplus
}
#endif
#endif
