/*
 * program.h - of the program with known stacks, what stands in a C++ library.
 */
#ifndef PFS_STRESS_SAMPLING_PROGRAM_H
#define PFS_STRESS_SAMPLING_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls back through a few C++ functions; what comes back is from operator new. */
void *program_cxx(void (*call)(void));

#ifdef __cplusplus
}
#endif
#endif
