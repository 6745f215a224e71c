/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_status.cc - the status variables: SHOW GLOBAL STATUS LIKE 'Pfslab%'.
 */
#include "pfslab_status.h"

#include <cstdio>
#include <cstring>

#include "pfslab_server.h"

namespace
{

constexpr size_t containers_max = 64;
constexpr size_t values_of_each = 11;

struct Value {
	char name[64];
	long long number;
};

/* The server calls this under a lock of its own, and reads the result under it. */
Value values[containers_max * values_of_each];
st_mysql_show_var variables[containers_max * values_of_each + 2];

/* Containers of one name are partitions: the second one is NAME_1. */
unsigned partition_of(size_t position)
{
	unsigned partition = 0;
	for (size_t i = 0; i < position; i++)
		partition += strcmp(pfslab::list_at(i).name, pfslab::list_at(position).name) == 0;
	return partition;
}

void put(size_t &count, const char *container, unsigned partition, const char *what,
	 uint64_t number)
{
	Value &value = values[count];
	if (partition == 0)
		snprintf(value.name, sizeof(value.name), "%s_%s", container, what);
	else
		snprintf(value.name, sizeof(value.name), "%s_%u_%s", container, partition, what);
	value.number = static_cast<long long>(number);
	variables[count].name = value.name;
	variables[count].value = &value.number;
	variables[count].type = SHOW_LONGLONG;
	count++;
}

void put_all(size_t &count, const pfslab::Listed &entry, unsigned partition)
{
	pfslab::Counts counts = entry.counts(entry.context);
	put(count, entry.name, partition, "pages", counts.pages);
	put(count, entry.name, partition, "pages_peak", counts.pages_peak);
	put(count, entry.name, partition, "pages_given_back", counts.given_back);
	put(count, entry.name, partition, "growths", counts.growths);
	put(count, entry.name, partition, "growths_needless", counts.needless_growths);
	put(count, entry.name, partition, "live", counts.live);
	put(count, entry.name, partition, "lost", counts.lost);
	put(count, entry.name, partition, "page_skips", counts.page_skips);
	put(count, entry.name, partition, "record_skips", counts.record_skips);
	put(count, entry.name, partition, "resident_bytes", counts.resident_bytes);
	put(count, entry.name, partition, "overhead_bytes", counts.overhead_bytes);
}

} // namespace

int pfslab_show(MYSQL_THD, struct st_mysql_show_var *variable, void *, struct system_status_var *,
		enum enum_var_type)
{
	size_t count = 0;
	for (size_t i = 0; i < containers_max && pfslab::list_at(i).name != nullptr; i++)
		put_all(count, pfslab::list_at(i), partition_of(i));
	memset(&variables[count], 0, sizeof(variables[count]));
	variable->type = SHOW_ARRAY;
	variable->value = variables;
	return 0;
}
