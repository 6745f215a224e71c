/*
 * questions.c - what a report asks a box. A figure shows its query: pfs-mem sql answers it with
 * the figure's numbers.
 */
#include "report.h"

#define P "CURRENT_NUMBER_OF_BYTES_USED"
#define H "HIGH_NUMBER_OF_BYTES_USED"
#define NUMBERS                                                   \
	"sum(" P ") AS current_bytes, sum(" H ") AS high_bytes, " \
	"sum(CURRENT_COUNT_USED) AS blocks, sum(COUNT_ALLOC) AS allocations"
#define OF_ALL "count(*) OVER () AS rows_of_all, sum(sum(" P ")) OVER () AS bytes_of_all"
#define ACCOUNT                                                      \
	"CASE WHEN USER IS NULL AND HOST IS NULL THEN 'background' " \
	"ELSE ifnull(USER, '') || ifnull('@' || HOST, '') END"
#define LARGEST(count) "ORDER BY current_bytes DESC, high_bytes DESC, 1 LIMIT " count

/*
 * Of every %llu ticks that with the most tracked, and the last one; of their rows the whole, and
 * those of the eight names that ever had most.
 */
/* clang-format off */
#define HISTORY(kind)                                                                          \
	"WITH shown AS (SELECT TICK, max(BYTES) FROM memory_history WHERE KIND = 'total' "     \
	"GROUP BY TICK / %llu UNION SELECT max(TICK), 0 FROM memory_history), "                \
	"largest AS (SELECT NAME FROM memory_history WHERE KIND = '" kind "' AND NAME IS NOT " \
	"NULL GROUP BY NAME ORDER BY max(BYTES) DESC, NAME LIMIT 8) "                          \
	"SELECT TICK, TIME, KIND, NAME, sum(BYTES) AS BYTES, RSS FROM memory_history "         \
	"WHERE TICK IN (SELECT TICK FROM shown) AND (KIND = 'total' OR (KIND = '" kind "' "    \
	"AND NAME IN (SELECT NAME FROM largest))) GROUP BY TICK, KIND, NAME "                  \
	"ORDER BY TICK, KIND = 'total' DESC, NAME"
/* clang-format on */

static const char history_note[] =
	"Stacked: tracked bytes of blocks in use. The line is the resident set; it is below the "
	"stack where memory was allocated but not yet touched. If not all ticks fit, those with "
	"the most tracked bytes are shown.";

/* A damaged box can have any number; sums of these do not overflow. */
#define BOUNDED(bytes) "min(" bytes ", 1 << 58)"
#define ARENA_NAME "coalesce(POOL, 'arena ' || ARENA, '(others)')"

/* Of every %llu ticks the one with the most resident; and the last one. */
#define SHOWN                                                              \
	"WITH shown AS (SELECT TICK, max(RSS) FROM memory_arenas_history " \
	"GROUP BY TICK / %llu UNION SELECT max(TICK), 0 FROM memory_arenas_history), "
#define OF_SHOWN " FROM memory_arenas_history WHERE TICK IN (SELECT TICK FROM shown)"

/* The sum of all arenas, and the eight with the highest maximum. */
/* clang-format off */
#define ARENAS_OVER_TIME(bytes)                                                            \
	SHOWN "each AS (SELECT TICK, TIME, " ARENA_NAME " AS NAME, " BOUNDED(bytes)        \
	" AS BYTES, RSS" OF_SHOWN "), largest AS (SELECT NAME FROM each GROUP BY NAME "    \
	"ORDER BY max(BYTES) DESC, NAME LIMIT 8) "                                         \
	"SELECT TICK, TIME, 'total' AS KIND, 'all arenas' AS NAME, sum(BYTES) AS BYTES, "  \
	"RSS FROM each GROUP BY TICK UNION ALL SELECT TICK, TIME, 'arena', NAME, "         \
	"sum(BYTES), RSS FROM each WHERE NAME IN (SELECT NAME FROM largest) "              \
	"GROUP BY TICK, NAME ORDER BY TICK, KIND DESC, NAME"
/* clang-format on */

/* PLACE: from the bottom to the top, so that the upper edges are allocated, active and so on. */
#define STATE(name, bytes, place) \
	" UNION ALL SELECT TICK, TIME, 'state', '" name "', " bytes ", RSS, " place " FROM sums"
/* clang-format off */
#define STATES_OVER_TIME                                                                   \
	SHOWN "sums AS (SELECT TICK, TIME, RSS, sum(" BOUNDED("ALLOCATED_BYTES") ") AS a, " \
	"sum(" BOUNDED("ACTIVE_BYTES") ") AS b, sum(" BOUNDED("RESIDENT_BYTES") ") AS c, "  \
	"sum(" BOUNDED("MAPPED_BYTES") ") AS d" OF_SHOWN " GROUP BY TICK) "                 \
	"SELECT TICK, TIME, 'total' AS KIND, 'mapped' AS NAME, d AS BYTES, RSS, "           \
	"0 AS PLACE FROM sums" STATE("allocated", "a", "1")                                 \
	STATE("active, not allocated", "b - a", "2")                                        \
	STATE("resident, not active", "c - b", "3")                                         \
	STATE("mapped, not resident", "d - c", "4") " ORDER BY TICK, PLACE"
/* clang-format on */

/* A pool without an arena, an arena without a pool, or both with one name. */
/* clang-format off */
#define BESIDE                                                                             \
	"WITH owners AS (SELECT ifnull(USER, 'background') AS pool, sum(" P ") AS held "   \
	"FROM memory_summary_by_account_by_event_name GROUP BY USER "                      \
	"HAVING sum(COUNT_ALLOC) > 0 OR sum(CURRENT_COUNT_USED) > 0), "                    \
	"arenas AS (SELECT POOL AS pool, sum(" BOUNDED("ALLOCATED_BYTES") ") AS allocated, " \
	"sum(" BOUNDED("CACHED_BYTES") ") AS cached FROM memory_arenas GROUP BY POOL), "   \
	"each AS (SELECT owners.pool, held, allocated, cached FROM owners LEFT JOIN arenas " \
	"ON arenas.pool = owners.pool UNION ALL SELECT ifnull(pool, 'arenas of no pool'), " \
	"NULL, allocated, cached FROM arenas WHERE pool IS NULL OR pool NOT IN (SELECT pool " \
	"FROM owners)) SELECT pool, held AS owner_bytes, allocated AS arena_bytes, "       \
	"cached AS cached_bytes, allocated - held AS arena_beyond_owner, "                 \
	"count(*) OVER () AS rows_of_all, sum(held) OVER () AS owners_of_all, "            \
	"sum(allocated) OVER () AS arenas_of_all FROM each "                               \
	"ORDER BY max(ifnull(held, 0), ifnull(allocated, 0)) DESC, 1 LIMIT 16"
/* clang-format on */

/* An owner's sum includes those below it, and its path is shorter: so it comes before them. */
#define OWNERS                                                                          \
	"WITH each AS (SELECT ifnull(PARENT || '/', '') || NAME AS owner, OWN_BYTES, "  \
	"SUM_BYTES, HIGH_BYTES, LIMIT_BYTES, REFUSED, count(*) OVER () AS rows_of_all " \
	"FROM memory_trace ORDER BY SUM_BYTES DESC, length(owner), owner LIMIT 100) "   \
	"SELECT * FROM each ORDER BY replace(owner, '/', char(1))"

static const char no_tick[] = "Not known: no tick was written.";
static const char no_arena[] = "Not known: no tick of this program recorded arenas. Only the "
			       "allocator of libpfsmem.so has them.";

const struct pfs_question pfs_questions[PFS_QUESTIONS] = {
	[PFS_ASK_HEAD] = { "program", "The program", "SELECT * FROM global_status", .note = NULL },
	[PFS_ASK_PARTS] = { "parts", "Everything it holds",
			    "SELECT NAME AS holder, KIND AS kind, BYTES AS bytes, AT_MOST AS "
			    "at_most, "
			    "count(*) OVER () AS rows_of_all, sum(BYTES) OVER () AS bytes_of_all "
			    "FROM memory_parts WHERE BYTES > 0 ORDER BY BYTES DESC, NAME LIMIT 12",
			    "heap: counted blocks, exact. mapped: mapped without malloc. All but "
			    "heap "
			    "is what was resident at the last tick; \u2264: some of it was mapped "
			    "since then, and perhaps not used.",
			    .none = NULL },
	[PFS_ASK_INSTRUMENTS] = { "instruments", "By instrument",
				  "SELECT EVENT_NAME AS instrument, " NUMBERS ", " OF_ALL
				  " FROM memory_summary_global_by_event_name GROUP BY EVENT_NAME "
				  "HAVING allocations > 0 OR blocks > 0 " LARGEST("15"),
				  "≤ High: an upper bound of the most that was in use at "
				  "once. HIGH_IS tells whether it was reached.",
				  .none = NULL },
	[PFS_ASK_ACCOUNTS] = { "accounts", "By pool or account",
			       "SELECT " ACCOUNT " AS account, " NUMBERS ", " OF_ALL
			       " FROM memory_summary_by_account_by_event_name GROUP BY USER, HOST "
			       "HAVING allocations > 0 OR blocks > 0 " LARGEST("15"),
			       "If the program sets no accounts, a pool is the threads whose names "
			       "differ only in the digits at the end. ≤ High: the sum over "
			       "instruments, an upper bound.",
			       .none = NULL },
	[PFS_ASK_PAIRS] = { "pairs", "By pool and instrument",
			    "SELECT " ACCOUNT " || ' ' || EVENT_NAME AS pair, " NUMBERS ", " OF_ALL
			    " FROM memory_summary_by_account_by_event_name GROUP BY USER, HOST, "
			    "EVENT_NAME "
			    "HAVING blocks > 0 OR current_bytes > 0 " LARGEST("10"),
			    .note = NULL },
	[PFS_ASK_USERS] = { "users", "By user",
			    "SELECT ifnull(USER, 'background') AS user, " NUMBERS ", " OF_ALL
			    " FROM memory_summary_by_user_by_event_name GROUP BY USER "
			    "HAVING allocations > 0 OR blocks > 0 " LARGEST("10"),
			    .note = NULL },
	[PFS_ASK_THREADS] = { "threads", "By thread",
			      "SELECT m.THREAD_ID || ' ' || NAME AS thread, current_bytes, "
			      "high_bytes, blocks, allocations, count(*) OVER () AS rows_of_all, "
			      "sum(current_bytes) OVER () AS bytes_of_all FROM (SELECT "
			      "THREAD_ID, " NUMBERS " FROM memory_summary_by_thread_by_event_name "
			      "GROUP BY THREAD_ID) AS m "
			      "JOIN threads AS t ON t.THREAD_ID = m.THREAD_ID " LARGEST("15"),
			      "Running threads. What ended threads left is in their pools, not "
			      "here.",
			      .none = NULL },
	[PFS_ASK_HISTORY_INSTRUMENTS] = { "history-instruments", "By instrument",
					  HISTORY("instrument"), history_note, no_tick, "tracked",
					  "other instruments" },
	[PFS_ASK_HISTORY_POOLS] = { "history-pools", "By pool or account", HISTORY("pool"),
				    history_note, no_tick, "tracked", "other pools" },
	[PFS_ASK_OS] = { "adds-up", "What is resident", "SELECT * FROM memory_os",
			 "Coloured rows are parts of the resident set and add up to it, to the "
			 "byte.",
			 .none = NULL },
	[PFS_ASK_ARENAS] = { "arenas", "By arena",
			     "SELECT " ARENA_NAME
			     " AS arena, THREADS AS threads, ALLOCATED_BYTES AS allocated, "
			     "CACHED_BYTES AS cached, ACTIVE_BYTES AS active, RESIDENT_BYTES AS "
			     "resident, MAPPED_BYTES AS mapped, RETAINED_BYTES AS retained FROM "
			     "memory_arenas ORDER BY RESIDENT_BYTES DESC, 1",
			     "At the last tick. Each column includes the one before: allocated, "
			     "blocks taken from slabs, including those in threads' rings (cached); "
			     "active, the pages that hold them; resident, also free pages not yet "
			     "purged; mapped, all address space, of which the retained part has no "
			     "memory.",
			     no_arena, .whole = NULL },
	[PFS_ASK_HISTORY_RESIDENT] = { "history-resident",
				       "Arenas' resident pages, and the resident set",
				       ARENAS_OVER_TIME("RESIDENT_BYTES"),
				       "Stacked: active pages of arenas, and free pages not yet "
				       "purged. The line is the resident set of the whole program: "
				       "what lies above the stack belongs to no arena; where the "
				       "line is below, arenas have pages not yet touched.",
				       no_arena, "all arenas", "other arenas" },
	[PFS_ASK_HISTORY_STATES] = { "history-states", "All arenas, by what the pages are for",
				     STATES_OVER_TIME,
				     "Stacked; the upper edges are allocated, active, resident and "
				     "mapped bytes. Active, not allocated: free within slabs. "
				     "Resident, not active: free pages not yet purged. Mapped, not "
				     "resident: retained address space.",
				     no_arena, "mapped", "the rest" },
	[PFS_ASK_BESIDE] = { "owners-arenas", "Pools: allocated by owner and by arena", BESIDE,
			     "By owner: what the pool's account has in use now, as asked for. By "
			     "arena: what is "
			     "allocated in the pool's arena, at the last tick, as blocks' classes. "
			     "A block that "
			     "another pool frees leaves its account at once, and its arena when "
			     "the ring of "
			     "who freed it gives it back: so the difference is classes and rings, "
			     "and not who "
			     "frees. Pools have arenas of their own with pfs-mem run --arenas "
			     "pool.",
			     "No memory is in use, and no tick recorded the arenas.",
			     .whole = NULL },
	[PFS_ASK_HISTORY_ARENAS] = { "history-arenas", "Allocated by arena",
				     ARENAS_OVER_TIME("ALLOCATED_BYTES"),
				     "Compare: Over time, by pool or account. The line is the "
				     "resident set.",
				     no_arena, "all arenas", "other arenas" },
	[PFS_ASK_OWNERS] = { "owners", "Owners of the memory trace", OWNERS,
			     "What parts of the program declare that they own; an owner's sum "
			     "includes the owners below it. "
			     "Dark: now. Pale: the maximum so far. Refused: how often a limit "
			     "refused.",
			     "The program names no owners (include/pfslab/memory_trace.h).",
			     .whole = NULL },
};
