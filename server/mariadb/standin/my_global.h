/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * my_global.h - stand-in: the server's names of basic types.
 */
#ifndef STANDIN_MY_GLOBAL_H
#define STANDIN_MY_GLOBAL_H

#include <cassert>
#include <cstddef>
#include <cstdint>

#include <sys/types.h> /* uint, ulong */

typedef uint32_t uint32;
typedef int myf;

#endif
