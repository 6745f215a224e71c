/*
 * share.h - what the two halves of share.cc call of each other.
 */
#ifndef PFS_TESTS_SHARE_H
#define PFS_TESTS_SHARE_H

/* Without frame pointers. Each allocates at the depth 0. */
using by = void(int depth);
void by_new(int depth);
void by_array(int depth);
void by_aligned(int depth);
void by_nothrow(int depth);
void by_realloc(int depth);
void by_memalign(int depth);
void by_mallocx(int depth);
void by_rallocx(int depth);
void by_xallocx(int depth);

/* With a frame pointer: calls it. */
void up(by *call, int depth);

#endif
