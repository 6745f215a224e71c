/*
 * say.c - messages and texts that commands of pfs-mem share.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "command.h"

int pfs_complain(int status, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	(void)fprintf(stderr, "pfs-mem: %s\n", pfs_one_line(text));
	return status;
}

int pfs_complain_of(const struct pfs_message *message)
{
	return pfs_complain(PFS_EXIT_REFUSED, "%s", message->text);
}

char *pfs_time_text(uint64_t realtime_ns, char *text, size_t text_bytes)
{
	struct tm parts;
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	if (realtime_ns == 0 || localtime_r(&seconds, &parts) == NULL ||
	    strftime(text, text_bytes, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		*text = '\0';
	return text;
}

char *pfs_who_text(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		   char *text, size_t text_bytes)
{
	const struct pfs_seen_account *account;
	switch (table) {
	case PFS_TABLE_THREAD:
		(void)snprintf(text, text_bytes, "%llu %s",
			       (unsigned long long)snapshot->threads[who].thread_id,
			       snapshot->threads[who].name);
		break;
	case PFS_TABLE_ACCOUNT:
		account = &snapshot->accounts[who];
		(void)snprintf(text, text_bytes, "%s@%s",
			       account->has_user ? account->user_name : "NULL",
			       account->has_host ? account->host_name : "NULL");
		break;
	case PFS_TABLE_USER:
		account = &snapshot->users[who];
		(void)snprintf(text, text_bytes, "%s",
			       account->has_user ? account->user_name : "NULL");
		break;
	case PFS_TABLE_HOST:
		account = &snapshot->hosts[who];
		(void)snprintf(text, text_bytes, "%s",
			       account->has_host ? account->host_name : "NULL");
		break;
	default: (void)snprintf(text, text_bytes, "all");
	}
	return text;
}

void pfs_remark(const struct pfs_snapshot *snapshot)
{
	char died[160];
	if (!snapshot->info.is_live)
		(void)pfs_complain(0, "process %u %s", snapshot->info.pid,
				   pfs_box_died(&snapshot->info, died, sizeof(died)));
	pfs_remark_left_out(snapshot);
}

void pfs_remark_left_out(const struct pfs_snapshot *snapshot)
{
	if (snapshot->rows_missed != 0)
		(void)pfs_complain(0,
				   "%llu rows changed during every attempt to read them: their "
				   "COUNT and SUM columns may not match",
				   (unsigned long long)snapshot->rows_missed);
	if (snapshot->lost[PFS_LOST_THREADS] != 0)
		(void)pfs_complain(
			0,
			"%llu threads were not counted, because more lived than the box "
			"has room for; they allocated %llu bytes: start the program with "
			"pfs-mem run --threads N",
			(unsigned long long)snapshot->lost[PFS_LOST_THREADS],
			(unsigned long long)snapshot->lost[PFS_LOST_THREAD_BYTES]);
	for (uint32_t i = 0; i < snapshot->limit_count; i++) {
		const struct pfs_seen_limit *limit = &snapshot->limits[i];
		if (!limit->is_used && limit->limit_bytes != UINT64_MAX)
			(void)pfs_complain(0,
					   "the limit of %s %s%s%s did nothing: no thread had that "
					   "name ('pfs-mem top %u --by %s' lists them)",
					   limit->scope == PFS_SCOPE_ACCOUNT ? "account" : "user",
					   limit->user, limit->has_host ? "@" : "", limit->host,
					   snapshot->info.pid,
					   limit->scope == PFS_SCOPE_ACCOUNT ? "account" : "user");
	}
	if (snapshot->damaged != 0)
		(void)pfs_complain(0, "%llu damaged records were left out; the first: %s",
				   (unsigned long long)snapshot->damaged, snapshot->damage.text);
}
