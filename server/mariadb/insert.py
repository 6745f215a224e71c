#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""insert.py - put the adapter into a source tree of MariaDB 10.11.

usage: insert.py SOURCE PFSLAB
SOURCE: the server's source tree, which is changed. PFSLAB: this project's source tree.

The adapter's files are copied into storage/perfschema and sql; ten files of the server get a few
lines each. Running it again changes nothing. Exit 0: the tree has the adapter. 1: a place was not
found, which means another version of the server; nothing was changed. 2: bad usage.
"""
import pathlib
import re
import shutil
import sys

FILES = {
    "storage/perfschema": ["pfslab_accounts.cc", "pfslab_accounts.h", "pfslab_container.h",
                           "pfslab_memory.h", "pfslab_names.h", "pfslab_server.cc",
                           "pfslab_server.h", "pfslab_status.cc", "pfslab_status.h"],
    "sql": ["pfslab_accounts_option.inc", "pfslab_option.inc"],
}

# Each: file, a pattern that must match exactly once, and what stands there afterwards; \g<0> is the
# match. The patterns are the server's identifiers and as little else as makes them unique.
EDITS = [
    ("storage/perfschema/pfs_buffer_container.h",
     r"\n#ifdef USE_SCALABLE\ntypedef PFS_buffer_scalable_container<PFS_mutex,",
     '\n#include "pfslab_container.h"\n\\g<0>'),
    ("storage/perfschema/pfs_global.cc",
     r"(?<=void \*pfs_malloc\(PFS_builtin_memory_class \*klass, size_t size, myf flags\)\n\{)\n",
     "\n  PFSLAB_MALLOC(klass, size);\n"),
    ("storage/perfschema/pfs_global.cc",
     r"(?<=void pfs_free\(PFS_builtin_memory_class \*klass, size_t size, void \*ptr\)\n\{)\n",
     "\n  PFSLAB_FREE(klass, size, ptr);\n"),
    ("storage/perfschema/pfs_global.cc",
     r'#include "pfs_global.h"\n',
     '\\g<0>#include "pfslab_memory.h"\n'),
    ("storage/perfschema/ha_perfschema.cc",
     r'#include "ha_perfschema.h"\n',
     '\\g<0>#include "pfslab_server.h"\n#include "pfslab_status.h"\n'),
    ("storage/perfschema/ha_perfschema.cc",
     r"(?<=\n)  \{NullS, NullS, SHOW_LONG\}\n",
     '  {"Pfslab", (char*) &pfslab_show, SHOW_FUNC},\n\\g<0>'),
    ("sql/sys_vars.cc",
     r"(?<=\n)static Sys_var_mybool Sys_pfs_enabled\(",
     '#include "pfslab_option.inc"\n#include "pfslab_accounts_option.inc"\n\\g<0>'),
    ("storage/perfschema/CMakeLists.txt",
     r"MYSQL_ADD_PLUGIN\(perfschema \$\{PERFSCHEMA_SOURCES\}",
     "SET(PFSLAB_SOURCE \"@PFSLAB@\" CACHE PATH \"\")\n"
     "INCLUDE_DIRECTORIES(${PFSLAB_SOURCE}/include)\n"
     "LIST(APPEND PERFSCHEMA_SOURCES pfslab_accounts.cc pfslab_server.cc pfslab_status.cc)\n"
     "\\g<0>"),
    ("storage/perfschema/CMakeLists.txt",
     r"IF \(TARGET perfschema\)\n",
     # The accounts' library lies beside the containers'.
     "\\g<0>  STRING(REPLACE libpfslab libpfsaccounts PFSLAB_ACCOUNTS \"${PFSLAB_LIBRARY}\")\n"
     "  TARGET_LINK_LIBRARIES(perfschema ${PFSLAB_LIBRARY} ${PFSLAB_ACCOUNTS})\n"),
]
# Calls of the storage engine that read records of containers, one row or one statement at a time.
READERS = ["rnd_next", "rnd_pos", "update_row", "delete_row", "delete_all_rows"]
EDITS += [("storage/perfschema/ha_perfschema.cc",
           r"(?<=\n)int ha_perfschema::" + name + r"\([^)]*\)\n\{\n",
           "\\g<0>  pfslab::Read_scope pfslab_scope;\n") for name in READERS]

# A table that sorts notes which records it read, and takes the one in place 0 for noted already. In
# the server as it is, that is a record of its own; a policy may put any record there.
EDITS += [("storage/perfschema/pfs_engine_table.cc",
           r"(?<=\n)  if \(n == m_last_item\)\n",
           "  if (n == m_last_item && is_item_set(n))\n")]

# The accounts: the server's calls for memory, threads and accounts (pfslab_accounts.h).
EDITS += [
    ("storage/perfschema/pfs_instr.h",
     r"struct PFS_ALIGNED PFS_thread : PFS_connection_slice\n\{\n",
     '#include "pfslab_accounts.h"\n\\g<0>  struct pfs_memory_thread *m_pfslab_life;\n'),
    ("storage/perfschema/pfs_instr.cc",
     r"\nvoid destroy_thread\([^)]*\)\n\{\n",
     "\\g<0>  pfslab::life_end(pfs);\n"),
    ("storage/perfschema/pfs_builtin_memory.h",
     r'#include "pfs_instr_class.h"\n',
     '\\g<0>#include "pfslab_accounts.h"\n'),
]
EDITS += [("storage/perfschema/pfs_builtin_memory.h",
           r"\n  inline void count_" + name + r"\(size_t size\)\n  \{\n",
           "\\g<0>    pfslab::builtin_" + hook + "(m_class.m_name, size);\n")
          for name, hook in (("alloc", "allocated"), ("free", "freed"))]
CALLS = {
    "memory_alloc": "Allocation<PFS_thread, PSI_thread> pfslab_hook(PFSLAB_THREAD, key, size, "
                    "owner)",
    "memory_realloc": "Transfer<PFS_thread, PSI_thread> pfslab_hook(PFSLAB_THREAD, key, old_size, "
                      "new_size, owner)",
    "memory_claim": "Transfer<PFS_thread, PSI_thread> pfslab_hook(PFSLAB_THREAD, key, size, size, "
                    "owner)",
    "memory_free": "freed(PFSLAB_THREAD, size, owner)",
    "register_memory": "Registration<PSI_memory_info_v1> pfslab_hook(category, info, count, "
                       "PSI_FLAG_GLOBAL)",
    "set_thread_user": "Account_change<PFS_thread> pfslab_hook(PFSLAB_THREAD)",
    "set_thread_account": "Account_change<PFS_thread> pfslab_hook(PFSLAB_THREAD)",
}
EDITS += [("storage/perfschema/pfs.cc",
           r"\n\w+ pfs_" + name + r"_v1\([^)]*\)\n\{\n",
           "\\g<0>  pfslab::" + hook + ";\n") for name, hook in CALLS.items()]


def edited(text, pattern, replacement, pfslab):
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise ValueError(f"{len(found)} places match {pattern!r}, not one")
    return re.sub(pattern, replacement.replace("@PFSLAB@", str(pfslab)), text)


def edit_all(source, pfslab):
    texts = {}
    for name, pattern, replacement in EDITS:
        path = source / name
        try:
            text = texts[path] if path in texts else path.read_text(encoding="utf-8")
            texts[path] = edited(text, pattern, replacement, pfslab)
        except (OSError, ValueError) as error:
            print(f"insert.py: {path}: {error}; the adapter is for MariaDB 10.11",
                  file=sys.stderr)
            return 1
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if "--help" in sys.argv or "-h" in sys.argv else sys.stderr)
        return 0 if "--help" in sys.argv or "-h" in sys.argv else 2
    source, pfslab = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    marker = source / "storage/perfschema/pfslab_container.h"
    if not marker.exists() and edit_all(source, pfslab) != 0:
        return 1
    here = pathlib.Path(__file__).resolve().parent
    for folder, names in FILES.items():
        for name in names:
            target = source / folder / name
            if not target.exists() or target.read_bytes() != (here / name).read_bytes():
                shutil.copyfile(here / name, target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
