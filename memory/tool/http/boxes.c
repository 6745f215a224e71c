/*
 * boxes.c - the boxes that are served, and the one that a target names.
 *
 * A client's target is never used as a file name: it is looked up in the list.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"

/* The file's name without .box. */
void pfs_http_id(const char *path, char id[PFS_HTTP_TARGET_BYTES])
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	size_t length = strlen(name), out = 0;
	if (length > 4 && strcmp(name + length - 4, ".box") == 0)
		length -= 4;
	for (size_t i = 0; i < length && out + 1 < PFS_HTTP_TARGET_BYTES; i++)
		id[out++] = isalnum((unsigned char)name[i]) || strchr("-_", name[i]) != NULL
				    ? name[i]
				    : '_';
	id[out] = '\0';
}

const char *pfs_http_program(const struct pfs_box_info *info)
{
	const char *name = pfs_box_called(info);
	return name[0] == '\0' ? "?" : name;
}

/* ---- the list ---- */

static int newest_first(const void *one, const void *other)
{
	const struct pfs_box_info *a = one, *b = other;
	if (a->start_realtime_ns != b->start_realtime_ns)
		return a->start_realtime_ns < b->start_realtime_ns ? 1 : -1;
	return strcmp(b->path, a->path);
}

static bool list_named(struct pfs_box_list *list, struct pfs_message *message)
{
	memset(list, 0, sizeof(*list));
	list->boxes = calloc((size_t)pfs_http.box_count, sizeof(*list->boxes));
	if (list->boxes == NULL)
		return pfs_refuse(message, "no memory for the boxes");
	for (int i = 0; i < pfs_http.box_count; i++) {
		struct pfs_message why;
		struct pfs_reader *reader = pfs_reader_open(pfs_http.boxes[i].path, &why);
		if (reader != NULL) {
			list->boxes[list->count++] = *pfs_reader_info(reader);
		} else if (list->refused++ == 0) {
			list->why = why;
			(void)snprintf(list->refused_path, sizeof(list->refused_path), "%s",
				       pfs_http.boxes[i].path);
		}
		pfs_reader_close(reader);
	}
	qsort(list->boxes, list->count, sizeof(*list->boxes), newest_first);
	return true;
}

bool pfs_http_list(struct pfs_box_list *list, struct pfs_message *message)
{
	if (!(pfs_http.is_all ? pfs_box_list_make(list, message) : list_named(list, message)))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		pfs_sql_text(list->boxes[i].program);
		pfs_sql_text(list->boxes[i].command);
	}
	pfs_sql_text(list->why.text);
	return true;
}

/* ---- one of them ---- */

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool fits(const struct pfs_box_info *info, const char *target)
{
	char id[PFS_HTTP_TARGET_BYTES];
	pfs_http_id(info->path, id);
	return strcmp(id, target) == 0 ||
	       (is_number(target) && strtoull(target, NULL, 10) == info->pid);
}

/* Of those that match, a living one is preferred, except for "last". The newest come first. */
static const struct pfs_box_info *choose(const struct pfs_box_list *list, const char *target)
{
	const struct pfs_box_info *found = NULL;
	if (strcmp(target, "last") == 0)
		return pfs_box_list_last(list);
	for (size_t i = 0; i < list->count; i++) {
		const struct pfs_box_info *info = &list->boxes[i];
		if ((target[0] == '\0' || fits(info, target)) &&
		    (found == NULL || (info->is_live && !found->is_live)))
			found = info;
	}
	return found;
}

bool pfs_http_find(const char *target, struct pfs_http_box *box, unsigned *status,
		   struct pfs_message *message)
{
	struct pfs_box_list list;
	if (!pfs_http_list(&list, message))
		return false;
	const struct pfs_box_info *info = choose(&list, target);
	if (info != NULL) {
		(void)snprintf(box->path, sizeof(box->path), "%s", info->path);
		pfs_http_id(info->path, box->id);
	} else if (list.refused != 0) {
		*message = list.why; /* the target may be this file */
		(void)pfs_one_line(message->text);
	} else {
		*status = MHD_HTTP_NOT_FOUND;
		(void)pfs_refuse(message,
				 target[0] == '\0'
					 ? "there is no box: 'pfs-mem run' creates one%s"
					 : "no box has the target '%.60s': /api/boxes lists the "
					   "boxes",
				 target);
	}
	pfs_box_list_free(&list);
	return box->path[0] != '\0';
}
