/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_status.cc - the status variables: SHOW GLOBAL STATUS LIKE 'Pfslab%'.
 */
#include "pfslab_status.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "pfslab_server.h"

namespace
{

constexpr size_t containers_max = 64;
constexpr size_t values_of_each = 11;

struct Value {
	char name[64];
	long long number;
};

/* What the server reads after the call, in the same thread. Several threads may ask at once: the
 * server's lock is shared. So each has its own, until it ends. */
struct Rows {
	Value values[containers_max * values_of_each + 1];
	st_mysql_show_var variables[containers_max * values_of_each + 2];
	size_t count;
};
thread_local std::unique_ptr<Rows> rows_of_thread;
st_mysql_show_var no_rows; /* what ends a list, all zero */

/* Containers of one name are partitions: the second one is NAME_1. */
unsigned partition_of(size_t position)
{
	unsigned partition = 0;
	for (size_t i = 0; i < position; i++)
		partition += strcmp(pfslab::list_at(i).name, pfslab::list_at(position).name) == 0;
	return partition;
}

/* A variable of a container, or of the library: then container is NULL. */
void put(Rows &rows, const char *container, unsigned partition, const char *what, uint64_t number)
{
	Value &value = rows.values[rows.count];
	st_mysql_show_var &variable = rows.variables[rows.count++];
	if (container == nullptr)
		snprintf(value.name, sizeof(value.name), "%s", what);
	else if (partition == 0)
		snprintf(value.name, sizeof(value.name), "%s_%s", container, what);
	else
		snprintf(value.name, sizeof(value.name), "%s_%u_%s", container, partition, what);
	value.number = static_cast<long long>(number);
	variable.name = value.name;
	variable.value = &value.number;
	variable.type = SHOW_LONGLONG;
}

/* True if the library counts skips and needless growths. */
bool put_all(Rows &rows, const pfslab::Listed &entry, unsigned partition)
{
	pfslab::Counts counts = entry.counts(entry.context);
	put(rows, entry.name, partition, "pages", counts.pages);
	put(rows, entry.name, partition, "pages_peak", counts.pages_peak);
	put(rows, entry.name, partition, "pages_given_back", counts.given_back);
	put(rows, entry.name, partition, "growths", counts.growths);
	put(rows, entry.name, partition, "growths_needless", counts.needless_growths);
	put(rows, entry.name, partition, "live", counts.live);
	put(rows, entry.name, partition, "lost", counts.lost);
	put(rows, entry.name, partition, "page_skips", counts.page_skips);
	put(rows, entry.name, partition, "record_skips", counts.record_skips);
	put(rows, entry.name, partition, "resident_bytes", counts.resident_bytes);
	put(rows, entry.name, partition, "overhead_bytes", counts.overhead_bytes);
	return counts.counted;
}

} // namespace

int pfslab_show(MYSQL_THD, struct st_mysql_show_var *variable, void *, struct system_status_var *,
		enum enum_var_type)
{
	variable->type = SHOW_ARRAY;
	variable->value = &no_rows;
	if (rows_of_thread == nullptr)
		rows_of_thread.reset(new (std::nothrow) Rows);
	if (rows_of_thread == nullptr)
		return 0;
	Rows &rows = *rows_of_thread;
	rows.count = 0;
	bool counted = false;
	for (size_t i = 0; i < containers_max && pfslab::list_at(i).name != nullptr; i++)
		counted = put_all(rows, pfslab::list_at(i), partition_of(i)) || counted;
	put(rows, nullptr, 0, "counted", counted ? 1 : 0);
	rows.variables[rows.count] = no_rows;
	variable->value = rows.variables;
	return 0;
}
