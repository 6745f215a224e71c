/*
 * list.c - pfs-mem list, and pfs-mem clean: the boxes of the folder.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static const char *state_of(const struct pfs_box_info *box)
{
	return box->is_live                   ? "living"
	       : box->state == PFS_BOX_ENDED  ? "ended"
	       : box->state == PFS_BOX_EXECED ? "execed"
					      : "died";
}

static int run_list(const struct pfs_arguments *arguments)
{
	static const char *const columns[] = { "PID",     "STATE",   "STARTED", "SEEN", "RULE",
					       "PROGRAM", "COMMAND", "BOX",     NULL };
	struct pfs_box_list list;
	struct pfs_message message;
	char text[64];
	if (!pfs_box_list_make(&list, &message))
		return pfs_complain_of(&message);
	struct pfs_sheet *sheet = pfs_sheet_begin(columns);
	for (size_t i = 0; sheet != NULL && i < list.count; i++) {
		const struct pfs_box_info *box = &list.boxes[i];
		pfs_sheet_number(sheet, box->pid);
		pfs_sheet_text(sheet, state_of(box));
		pfs_sheet_text(sheet, pfs_time_text(box->start_realtime_ns, text, sizeof(text)));
		pfs_sheet_text(sheet,
			       pfs_time_text(box->end_realtime_ns != 0 ? box->end_realtime_ns
								       : box->seen_realtime_ns,
					     text, sizeof(text)));
		pfs_sheet_text(sheet, box->rule);
		pfs_sheet_text(sheet, box->program);
		pfs_sheet_text(sheet, box->command);
		pfs_sheet_text(sheet, box->path);
	}
	if (list.refused != 0)
		(void)pfs_complain(0, "%zu files are not boxes; the first: %s", list.refused,
				   list.why.text);
	pfs_box_list_free(&list);
	if (sheet == NULL || !pfs_sheet_end(sheet, arguments->format))
		return pfs_complain(PFS_EXIT_REFUSED, "standard output cannot be written");
	return PFS_EXIT_FINE;
}

static const struct pfs_option list_options[] = {
	PFS_MEM_READ("format", 'f', "FORMAT", pfs_take_format, "text, csv, or json; default text"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_list = {
	.name = "list", .words = "", .run = run_list, .options = list_options,
	.doc = "list the boxes, newest first\vSEEN is the time of the last tick, or of the "
	       "program's end.",
};
/* clang-format on */

/* ---- clean ---- */

/* Removes a box that no program uses; holds its lock meanwhile. */
static bool remove_dead(const char *path, bool *is_live)
{
	char lock[PFS_READER_PATH_BYTES + 8];
	struct stat opened, named;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	*is_live = flock(file, LOCK_EX | LOCK_NB) != 0;
	bool done = !*is_live && fstat(file, &opened) == 0 && lstat(path, &named) == 0 &&
		    opened.st_ino == named.st_ino && opened.st_dev == named.st_dev &&
		    unlink(path) == 0;
	(void)snprintf(lock, sizeof(lock), "%s.lock", path);
	if (done)
		(void)unlink(lock);
	(void)close(file);
	return done;
}

/* Files that are not boxes, which --all removes too. Returns how many. */
static size_t remove_refused(void)
{
	struct pfs_box_list list;
	struct pfs_message message;
	size_t removed = 0;
	bool is_live;
	/* The list names only the first: make it again after each removal. */
	while (pfs_box_list_make(&list, &message)) {
		bool done = list.refused != 0 && remove_dead(list.refused_path, &is_live);
		pfs_box_list_free(&list);
		if (!done)
			break;
		removed++;
	}
	return removed;
}

static int run_clean(const struct pfs_arguments *arguments)
{
	struct pfs_box_list list;
	struct pfs_message message;
	size_t removed = 0, living = 0, stuck = 0;
	if (!pfs_box_list_make(&list, &message))
		return pfs_complain_of(&message);
	for (size_t i = 0; i < list.count; i++) {
		bool is_live = false;
		if (remove_dead(list.boxes[i].path, &is_live))
			removed++;
		else if (is_live)
			living++;
		else if (access(list.boxes[i].path, F_OK) == 0)
			stuck++;
	}
	pfs_box_list_free(&list);
	if (arguments->all)
		removed += remove_refused();
	(void)printf("%zu removed, %zu of running programs kept\n", removed, living);
	if (stuck != 0)
		return pfs_complain(PFS_EXIT_REFUSED,
				    "%zu could not be removed: check the folder's permissions",
				    stuck);
	return fflush(stdout) == 0 ? PFS_EXIT_FINE : PFS_EXIT_REFUSED;
}

static const struct pfs_option clean_options[] = {
	PFS_MEM_SWITCH("all", 'a', all, "also files that have a box's name but are not boxes"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_clean = {
	.name = "clean", .words = "", .run = run_clean, .options = clean_options,
	.doc = "remove the boxes of programs that ended",
};
/* clang-format on */
