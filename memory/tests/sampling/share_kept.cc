/*
 * share_kept.cc - the half of share.cc that keeps frame pointers.
 */
#include "share.h"

void up(by *call, int depth)
{
	call(depth);
	__asm__ volatile("" : : : "memory"); /* prevents a tail call */
}
