/*
 * corner.h - what the corner programs share: named subtests, each run in a process of its own.
 *
 * A program defines its subtests by CORNER; main is in corner.c. `corner_x NAME` runs one subtest
 * and prints "ok NAME", "ok NAME: note", "late NAME: why" (right, but after harm),
 * "failed NAME: why" or "skipped NAME: why"; `--list` names them all. Failures are reported by
 * write(2), because the malloc under test may be broken.
 */
#ifndef CORNER_H
#define CORNER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct corner {
	const char *name;
	void (*run)(void);
	void (*before)(void); /* skips the subtest where it cannot run; or NULL */
	struct corner *next;
};

void corner_add(struct corner *corner);

/* Define a subtest: CORNER(name) { body }. */
#define CORNER(name) CORNER_AFTER(name, NULL)
#define CORNER_AFTER(name, before)                                          \
	static void name(void);                                             \
	static struct corner corner_##name = { #name, name, before, NULL }; \
	__attribute__((constructor)) static void add_##name(void)           \
	{                                                                   \
		corner_add(&corner_##name);                                 \
	}                                                                   \
	static void name(void)

/* The exit code: 0 ok or late, 1 failed (by an exit at once), 2 no such subtest, 77 skipped. Of
 * each program, unless it has a main of its own. */
int corner_main(int argc, char **argv);

/* Callable in any thread and in forked children; the first failure counts. */
__attribute__((noreturn, format(printf, 1, 2))) void corner_fail(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void corner_skip(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void corner_late(const char *format, ...);
/* Is printed after "ok NAME: ". */
__attribute__((format(printf, 1, 2))) void corner_note(const char *format, ...);

#define CORNER_CHECK(condition, ...)              \
	do {                                      \
		if (!(condition))                 \
			corner_fail(__VA_ARGS__); \
	} while (0)

/* Start threads with body(argument) and wait for them. */
void corner_threads(unsigned count, void *(*body)(void *), void *argument);
void corner_start(unsigned count, void *(*body)(void *), void *argument);
void corner_join(void);

/* Execute the running subtest again in this process, with an environment variable set. */
__attribute__((noreturn)) void corner_again(const char *name, const char *value);

/* The number of threads that this process has. */
unsigned corner_task_count(void);

void corner_check_zero(const unsigned char *block, size_t size, const char *when);

/* Fork a child that runs body and exits; it must exit with 0 within `seconds`. */
void corner_child(void (*body)(void *), void *argument, unsigned seconds);

/* Bytes of the resident set, and of the address space. */
size_t corner_resident_bytes(void);
size_t corner_address_bytes(void);

/* Fill a block with a pattern that depends on the seed. corner_stamp_differs returns the first
 * wrong offset, or length. */
void corner_stamp(void *block, size_t length, unsigned seed);
size_t corner_stamp_differs(const void *block, size_t length, unsigned seed);

/* The same value, hidden from the compiler. */
static inline size_t corner_opaque(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static inline void *corner_opaque_pointer(void *pointer)
{
	__asm__ volatile("" : "+r"(pointer));
	return pointer;
}

#ifdef __cplusplus
}
#endif
#endif
