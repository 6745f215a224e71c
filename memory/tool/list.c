/*
 * list.c - pfs-mem list, and pfs-mem clean: the boxes of the folder, and why they are there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static const char *state_of(const struct pfs_box_info *box)
{
	return box->state == PFS_BOX_UNCOUNTED ? "uncounted"
	       : box->is_live                  ? "living"
	       : box->state == PFS_BOX_ENDED   ? "ended"
	       : box->state == PFS_BOX_EXECED  ? "execed"
					       : "died";
}

static void add_row(struct pfs_sheet *sheet, const struct pfs_box_info *box,
		    const struct pfs_keeping *keeping)
{
	char text[64];
	const struct passwd *user = getpwuid(box->uid);
	pfs_sheet_number(sheet, box->pid);
	pfs_sheet_text(sheet, state_of(box));
	pfs_sheet_text(sheet, pfs_time_text(box->start_realtime_ns, text, sizeof(text)));
	pfs_sheet_text(sheet, pfs_time_text(box->end_realtime_ns != 0 ? box->end_realtime_ns
								      : box->seen_realtime_ns,
					    text, sizeof(text)));
	if (user != NULL)
		pfs_sheet_text(sheet, user->pw_name);
	else
		pfs_sheet_number(sheet, box->uid);
	if (keeping->is_dead)
		pfs_sheet_number(sheet, (int64_t)keeping->held_bytes);
	else
		pfs_sheet_text(sheet, NULL);
	pfs_sheet_number(sheet, box->parent_pid);
	pfs_sheet_text(sheet, box->name);
	pfs_sheet_text(sheet, box->rule);
	pfs_sheet_text(sheet, box->program);
	pfs_sheet_text(sheet, box->command);
	pfs_sheet_text(sheet, pfs_box_corruption_name(box->corruption));
	pfs_sheet_text(sheet, box->state == PFS_BOX_UNCOUNTED ? box->why : keeping->why);
	pfs_sheet_text(sheet, box->path);
}

static void remark_removed(void)
{
	char when[64];
	struct pfs_removed removed = pfs_boxes_removed();
	if (removed.boxes != 0)
		(void)pfs_complain(0,
				   "%llu boxes of dead programs were removed for newer ones, the "
				   "last at %s; the largest held %llu bytes: PFS_MEM_KEEP_DEAD "
				   "keeps more",
				   (unsigned long long)removed.boxes,
				   pfs_time_text(removed.last_realtime_ns, when, sizeof(when)),
				   (unsigned long long)removed.most_bytes);
}

static int run_list(const struct pfs_arguments *arguments)
{
	static const char *const columns[] = { "PID",     "STATE",   "STARTED", "SEEN", "USER",
					       "HELD",    "PARENT",  "NAME",    "RULE", "PROGRAM",
					       "COMMAND", "DIED_OF", "KEPT",    "BOX",  NULL };
	struct pfs_box_list list;
	struct pfs_message message;
	if (!pfs_box_list_make(&list, &message))
		return pfs_complain_of(&message);
	struct pfs_sheet *sheet = pfs_sheet_begin(columns);
	struct pfs_keepings *keepings = pfs_keepings_begin();
	for (size_t i = 0; sheet != NULL && i < list.count + list.note_count; i++) {
		const struct pfs_box_info *box = i < list.count ? &list.boxes[i]
								: &list.notes[i - list.count];
		struct pfs_keeping keeping = pfs_keepings_of(keepings, box->path);
		add_row(sheet, box, &keeping);
	}
	if (list.refused != 0)
		(void)pfs_complain(0, "%zu files are not boxes; the first: %s", list.refused,
				   list.why.text);
	remark_removed();
	pfs_keepings_end(keepings);
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
	.doc = "list the boxes, newest first; for root, those of all users\vSEEN is the time of "
	       "the last tick, or of the program's end. DIED_OF: memory corruption. HELD: the "
	       "bytes that a dead program held. "
	       "KEPT: why a box is still there. Last come processes that were not counted: "
	       "KEPT says why.",
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
	while (pfs_box_list_own(&list, &message)) {
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
	if (!pfs_box_list_own(&list, &message))
		return pfs_complain_of(&message);
	for (size_t i = 0; i < list.count + list.note_count; i++) {
		const char *path = i < list.count ? list.boxes[i].path
						  : list.notes[i - list.count].path;
		bool is_live = false;
		if (remove_dead(path, &is_live))
			removed++;
		else if (is_live)
			living++;
		else if (access(path, F_OK) == 0)
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
