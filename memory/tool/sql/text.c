/*
 * text.c - makes the names of a box UTF-8, because clients refuse a whole result for one name
 * that is not.
 */
#include "base/utf8.h"
#include "session.h"

void pfs_sql_text(char *text)
{
	while (*text != '\0') {
		size_t bytes = pfs_utf8_bytes(text, SIZE_MAX);
		if (bytes == 0)
			*text = '?';
		text += bytes == 0 ? 1 : bytes;
	}
}

static void make_people(struct pfs_seen_account *people, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		pfs_sql_text(people[i].user_name);
		pfs_sql_text(people[i].host_name);
	}
}

void pfs_sql_make_text(struct pfs_snapshot *snapshot)
{
	pfs_sql_text(snapshot->info.path);
	pfs_sql_text(snapshot->info.rule);
	pfs_sql_text(snapshot->info.program);
	pfs_sql_text(snapshot->info.command);
	pfs_sql_text(snapshot->damage.text);
	for (uint32_t i = 0; i < snapshot->instrument_count; i++)
		pfs_sql_text(snapshot->instruments[i].name);
	for (uint32_t i = 0; i < snapshot->thread_count; i++)
		pfs_sql_text(snapshot->threads[i].name);
	for (uint32_t i = 0; i < snapshot->module_count; i++)
		pfs_sql_text(snapshot->modules[i].path);
	for (uint32_t i = 0; i < snapshot->owner_count; i++)
		pfs_sql_text(snapshot->owners[i].name);
	for (uint32_t i = 0; i < snapshot->limit_count; i++) {
		pfs_sql_text(snapshot->limits[i].user);
		pfs_sql_text(snapshot->limits[i].host);
	}
	for (uint32_t i = 0; i < PFS_BOX_TICK_ARENAS; i++)
		pfs_sql_text(snapshot->arenas[i].pool);
	for (uint32_t i = 0; i < snapshot->tick_count; i++)
		for (uint32_t j = 0; j < PFS_BOX_TICK_ARENAS; j++)
			pfs_sql_text(snapshot->ticks[i].arenas[j].pool);
	make_people(snapshot->accounts, snapshot->account_count);
	make_people(snapshot->users, snapshot->user_count);
	make_people(snapshot->hosts, snapshot->host_count);
}
