/*
 * program.h - the part of the program with known stacks that is a C++ library,
 * and what others share.
 */
#ifndef PFS_STRESS_SAMPLING_PROGRAM_H
#define PFS_STRESS_SAMPLING_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `call` through a few C++ functions; returns a block of operator new. */
void *program_cxx(void (*call)(void));

/* Allocates. */
void leaf(void);

#ifdef __cplusplus
}
#endif
#endif
