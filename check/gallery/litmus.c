/*
 * litmus.c - small programs of two to four threads, of which each forbids one outcome (the names
 * are those of L. Maranget, S. Sarkar and P. Sewell, "A tutorial introduction to the ARM and POWER
 * relaxed memory models", 2012). With weaker orders C11 allows it, and it is found.
 *
 * BUG 1: store buffering with release and acquire: both may look before the other's store is seen.
 * BUG 2: a message that is published relaxed.
 * BUG 3: readers of independent writes with acquire: each sees another order of them.
 * BUG 4: two pairs of stores in opposite orders, with release: each location keeps its first.
 * BUG 5: a message that is handed on relaxed. (That it was seen relaxed does not matter: who learns
 *        of a load sees nothing older than it did.)
 * BUG 6: a message that is handed on by way of a second flag, and was published relaxed.
 * BUG 7: a store and a load, behind a store to the same location, with release and acquire.
 * BUG 8: a store that follows from a load, relaxed: it goes behind what came before the load.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

/* The order of a program, or a weaker one with its bug. */
#define ORDER(bug, strong, weak) (BUG == (bug) ? memory_order_##weak : memory_order_##strong)
#define STORE(location, value, order) atomic_store_explicit(&(location), value, order)
#define LOAD(location, order) atomic_load_explicit(&(location), order)
#define THREAD(name) static void name(void *argument __attribute__((unused)))
/* Two threads, and what must hold when they have ended. */
#define PAIR(name)                                 \
	PFS_CHECK_SCENARIO(name)                   \
	{                                          \
		pfs_check_thread(name##_one, 0);   \
		pfs_check_thread(name##_other, 0); \
		pfs_check_at_rest(name##_rest, 0); \
	}

static atomic_int x, y, z;
static int seen[4];

/* ---- store buffering (SB) ---- */

THREAD(sb_one)
{
	STORE(x, 1, ORDER(1, seq_cst, release));
	seen[0] = LOAD(y, ORDER(1, seq_cst, acquire));
}

THREAD(sb_other)
{
	STORE(y, 1, ORDER(1, seq_cst, release));
	seen[1] = LOAD(x, ORDER(1, seq_cst, acquire));
}

THREAD(sb_rest)
{
	pfs_check_assert(seen[0] == 1 || seen[1] == 1);
}

PAIR(sb)

/* ---- message passing (MP) ---- */

THREAD(mp_send)
{
	STORE(x, 1, memory_order_relaxed);
	STORE(y, 1, ORDER(2, release, relaxed));
}

THREAD(mp_receive)
{
	if (LOAD(y, memory_order_acquire) == 1)
		pfs_check_assert(LOAD(x, memory_order_relaxed) == 1);
}

PFS_CHECK_SCENARIO(mp)
{
	pfs_check_thread(mp_send, 0);
	pfs_check_thread(mp_receive, 0);
}

/* ---- independent reads of independent writes (IRIW) ---- */

THREAD(iriw_write_x)
{
	STORE(x, 1, memory_order_seq_cst);
}

THREAD(iriw_write_y)
{
	STORE(y, 1, memory_order_seq_cst);
}

THREAD(iriw_read_x)
{
	seen[0] = LOAD(x, ORDER(3, seq_cst, acquire));
	seen[1] = LOAD(y, ORDER(3, seq_cst, acquire));
}

THREAD(iriw_read_y)
{
	seen[2] = LOAD(y, ORDER(3, seq_cst, acquire));
	seen[3] = LOAD(x, ORDER(3, seq_cst, acquire));
}

THREAD(iriw_rest)
{
	pfs_check_assert(!(seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0));
}

PFS_CHECK_SCENARIO(iriw)
{
	pfs_check_thread(iriw_write_x, 0);
	pfs_check_thread(iriw_write_y, 0);
	pfs_check_thread(iriw_read_x, 0);
	pfs_check_thread(iriw_read_y, 0);
	pfs_check_at_rest(iriw_rest, 0);
}

/* ---- two pairs of stores (2+2W) ---- */

THREAD(two_two_w_one)
{
	STORE(x, 1, ORDER(4, seq_cst, release));
	STORE(y, 2, ORDER(4, seq_cst, release));
}

THREAD(two_two_w_other)
{
	STORE(y, 1, ORDER(4, seq_cst, release));
	STORE(x, 2, ORDER(4, seq_cst, release));
}

THREAD(two_two_w_rest)
{
	pfs_check_assert(x == 2 || y == 2);
}

PAIR(two_two_w)

/* ---- a message that is handed on (WRC), and by way of a second flag (ISA2) ---- */

THREAD(wrc_write)
{
	STORE(x, 1, memory_order_relaxed);
}

THREAD(wrc_hand_on)
{
	if (LOAD(x, memory_order_relaxed) == 1)
		STORE(y, 1, ORDER(5, release, relaxed));
}

THREAD(isa2_write)
{
	STORE(x, 1, memory_order_relaxed);
	STORE(z, 1, ORDER(6, release, relaxed));
}

THREAD(isa2_hand_on)
{
	if (LOAD(z, memory_order_acquire) == 1)
		STORE(y, 1, memory_order_release);
}

PFS_CHECK_SCENARIO(wrc)
{
	pfs_check_thread(wrc_write, 0);
	pfs_check_thread(wrc_hand_on, 0);
	pfs_check_thread(mp_receive, 0);
}

PFS_CHECK_SCENARIO(isa2)
{
	pfs_check_thread(isa2_write, 0);
	pfs_check_thread(isa2_hand_on, 0);
	pfs_check_thread(mp_receive, 0);
}

/* ---- R: a load behind the last of two stores; S: a store behind what a load saw ---- */

THREAD(r_one)
{
	STORE(x, 1, ORDER(7, seq_cst, release));
	STORE(y, 1, ORDER(7, seq_cst, release));
}

THREAD(r_other)
{
	STORE(y, 2, ORDER(7, seq_cst, release));
	seen[0] = LOAD(x, ORDER(7, seq_cst, acquire));
}

THREAD(r_rest)
{
	pfs_check_assert(!(y == 2 && seen[0] == 0));
}

PAIR(r)

THREAD(s_one)
{
	STORE(x, 2, memory_order_relaxed);
	STORE(y, 1, memory_order_release);
}

THREAD(s_other)
{
	seen[0] = LOAD(y, ORDER(8, acquire, relaxed));
	STORE(x, 1, memory_order_relaxed);
}

THREAD(s_rest)
{
	pfs_check_assert(!(seen[0] == 1 && x == 2));
}

PAIR(s)

/* ---- one location has one order (CoRR), whatever the orders are ---- */

THREAD(corr_look)
{
	int first = LOAD(x, memory_order_relaxed);
	pfs_check_assert(first == 0 || LOAD(x, memory_order_relaxed) == 1);
}

THREAD(corr_write)
{
	STORE(x, 1, memory_order_relaxed);
}

PFS_CHECK_SCENARIO(corr)
{
	pfs_check_thread(corr_write, 0);
	pfs_check_thread(corr_look, 0);
}
