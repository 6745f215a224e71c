/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_names.h - what the status variables call a container, by the type of its records.
 */
#ifndef PFSLAB_NAMES_H
#define PFSLAB_NAMES_H

namespace pfslab
{

template <class T> struct Name {
	static constexpr const char *text = "other";
};

} // namespace pfslab

#define PFSLAB_NAME(type, name)                             \
	struct type;                                        \
	template <> struct pfslab::Name<type> {             \
		static constexpr const char *text = (name); \
	}

PFSLAB_NAME(PFS_mutex, "mutex");
PFSLAB_NAME(PFS_rwlock, "rwlock");
PFSLAB_NAME(PFS_cond, "cond");
PFSLAB_NAME(PFS_file, "file");
PFSLAB_NAME(PFS_socket, "socket");
PFSLAB_NAME(PFS_metadata_lock, "metadata_lock");
PFSLAB_NAME(PFS_setup_actor, "setup_actor");
PFSLAB_NAME(PFS_setup_object, "setup_object");
PFSLAB_NAME(PFS_table, "table");
PFSLAB_NAME(PFS_table_share, "table_share");
PFSLAB_NAME(PFS_table_share_index, "table_share_index");
PFSLAB_NAME(PFS_table_share_lock, "table_share_lock");
PFSLAB_NAME(PFS_program, "program");
PFSLAB_NAME(PFS_prepared_stmt, "prepared_stmt");
PFSLAB_NAME(PFS_account, "account");
PFSLAB_NAME(PFS_host, "host");
PFSLAB_NAME(PFS_thread, "thread");
PFSLAB_NAME(PFS_user, "user");

#endif
