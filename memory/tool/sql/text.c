/*
 * text.c - names of a box as UTF-8: what is none becomes '?', for clients refuse all of a result
 * with one such name in it.
 */
#include "session.h"

/* Bytes of the character that begins here; 0: it is none. */
static size_t character_bytes(const unsigned char *text)
{
	size_t bytes = text[0] < 0x80                      ? 1
		       : text[0] >= 0xC2 && text[0] < 0xE0 ? 2
		       : (text[0] & 0xF0) == 0xE0          ? 3
		       : text[0] >= 0xF0 && text[0] < 0xF5 ? 4
							   : 0;
	for (size_t i = 1; i < bytes; i++)
		if ((text[i] & 0xC0) != 0x80)
			return 0;
	/* Longer than need be, a surrogate, beyond Unicode. */
	if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] >= 0xA0) ||
	    (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] >= 0x90))
		return 0;
	return bytes;
}

void pfs_sql_text(char *text)
{
	while (*text != '\0') {
		size_t bytes = character_bytes((const unsigned char *)text);
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
