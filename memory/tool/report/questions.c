/*
 * questions.c - what a report asks a box. Each query is also what its figure says under it: who
 * runs it by pfs-mem sql gets the figure's numbers.
 */
#include "report.h"

#define P "CURRENT_NUMBER_OF_BYTES_USED"
#define H "HIGH_NUMBER_OF_BYTES_USED"
#define NUMBERS "sum(" P ") AS current_bytes, sum(" H ") AS high_bytes, " \
		"sum(CURRENT_COUNT_USED) AS blocks, sum(COUNT_ALLOC) AS allocations"
#define OF_ALL "count(*) OVER () AS rows_of_all, sum(sum(" P ")) OVER () AS bytes_of_all"
#define ACCOUNT "CASE WHEN USER IS NULL AND HOST IS NULL THEN 'background' " \
		"ELSE ifnull(USER, '') || ifnull('@' || HOST, '') END"
#define LARGEST(count) "ORDER BY current_bytes DESC, high_bytes DESC, 1 LIMIT " count

/*
 * Of every %llu ticks that with the most tracked, and the last one; of their rows the whole, and
 * those of the eight names that ever had most.
 */
#define HISTORY(kind)                                                                          \
	"WITH shown AS (SELECT TICK, max(BYTES) FROM memory_history WHERE KIND = 'total' "     \
	"GROUP BY TICK / %llu UNION SELECT max(TICK), 0 FROM memory_history), "                \
	"largest AS (SELECT NAME FROM memory_history WHERE KIND = '" kind "' AND NAME IS NOT " \
	"NULL GROUP BY NAME ORDER BY max(BYTES) DESC, NAME LIMIT 8) "                          \
	"SELECT TICK, TIME, KIND, NAME, sum(BYTES) AS BYTES, RSS FROM memory_history "         \
	"WHERE TICK IN (SELECT TICK FROM shown) AND (KIND = 'total' OR (KIND = '" kind "' "    \
	"AND NAME IN (SELECT NAME FROM largest))) GROUP BY TICK, KIND, NAME "                  \
	"ORDER BY TICK, KIND = 'total' DESC, NAME"

static const char history_note[] =
	"Stacked: what is tracked, in blocks that are in use. The line is what is resident, as the "
	"system says; it is below the stack where memory was asked for and not yet touched. Where "
	"there are more ticks than are shown, those with the most tracked are.";

const struct pfs_question pfs_questions[PFS_QUESTIONS] = {
	[PFS_ASK_HEAD] = { "program", "The program", "SELECT * FROM global_status", NULL },
	[PFS_ASK_INSTRUMENTS] = {
		"instruments", "By instrument",
		"SELECT EVENT_NAME AS instrument, " NUMBERS ", " OF_ALL
		" FROM memory_summary_global_by_event_name GROUP BY EVENT_NAME "
		"HAVING allocations > 0 OR blocks > 0 " LARGEST("15"),
		"High: at most so much was in use at once." },
	[PFS_ASK_ACCOUNTS] = {
		"accounts", "By pool or account",
		"SELECT " ACCOUNT " AS account, " NUMBERS ", " OF_ALL
		" FROM memory_summary_by_account_by_event_name GROUP BY USER, HOST "
		"HAVING allocations > 0 OR blocks > 0 " LARGEST("15"),
		"Of a program that knows nothing of accounts, a pool is the threads whose names "
		"differ by the digits at their end. High: the sum over instruments." },
	[PFS_ASK_PAIRS] = {
		"pairs", "By pool and instrument",
		"SELECT " ACCOUNT " || ' ' || EVENT_NAME AS pair, " NUMBERS ", " OF_ALL
		" FROM memory_summary_by_account_by_event_name GROUP BY USER, HOST, EVENT_NAME "
		"HAVING blocks > 0 OR current_bytes > 0 " LARGEST("10"), NULL },
	[PFS_ASK_USERS] = {
		"users", "By user",
		"SELECT ifnull(USER, 'background') AS user, " NUMBERS ", " OF_ALL
		" FROM memory_summary_by_user_by_event_name GROUP BY USER "
		"HAVING allocations > 0 OR blocks > 0 " LARGEST("10"), NULL },
	[PFS_ASK_THREADS] = {
		"threads", "By thread",
		"SELECT m.THREAD_ID || ' ' || NAME AS thread, current_bytes, high_bytes, blocks, "
		"allocations, count(*) OVER () AS rows_of_all, "
		"sum(current_bytes) OVER () AS bytes_of_all FROM (SELECT THREAD_ID, " NUMBERS
		" FROM memory_summary_by_thread_by_event_name GROUP BY THREAD_ID) AS m "
		"JOIN threads AS t ON t.THREAD_ID = m.THREAD_ID " LARGEST("15"),
		"Threads that live. What ended threads left is in their pools, not here." },
	[PFS_ASK_HISTORY_INSTRUMENTS] = { "history-instruments", "By instrument",
					  HISTORY("instrument"), history_note },
	[PFS_ASK_HISTORY_POOLS] = { "history-pools", "By pool or account",
				    HISTORY("pool"), history_note },
	[PFS_ASK_OS] = { "adds-up", "What is resident", "SELECT * FROM memory_os",
			 "Rows with a colour are parts of what is resident, and their sum is it, "
			 "to the byte." },
};
