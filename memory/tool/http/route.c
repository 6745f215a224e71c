/*
 * route.c - finds the kind of document for a path.
 */
#define _GNU_SOURCE
#include <string.h>

#include "http.h"

#define JSON "application/json"
#define TEXT "text/plain; charset=utf-8"
#define PROTO "application/octet-stream" /* gzipped, whatever Accept-Encoding says */

static const struct pfs_http_route routes[] = {
	{ "", "text/html; charset=utf-8", PFS_POLICY_PAGE, false, false, true, pfs_http_page },
	{ "page.css", "text/css; charset=utf-8", PFS_POLICY_DATA, false, false, false,
	  pfs_http_style },
	{ "page.js", "text/javascript; charset=utf-8", PFS_POLICY_DATA, false, false, false,
	  pfs_http_script },
	{ "live.js", "text/javascript; charset=utf-8", PFS_POLICY_DATA, false, false, false,
	  pfs_http_live_script },
	{ "metrics", "text/plain; version=0.0.4; charset=utf-8", PFS_POLICY_DATA, false, false,
	  false, pfs_http_metrics },
	{ "api/boxes", JSON, PFS_POLICY_DATA, false, false, false, pfs_http_boxes },
	{ "api/tables", JSON, PFS_POLICY_DATA, false, false, false, pfs_http_table_names },
	/* It looks up names. */
	{ "api/tables/memory_lines", JSON, PFS_POLICY_DATA, true, false, true,
	  pfs_http_memory_lines },
	{ "api/tables/", JSON, PFS_POLICY_DATA, false, false, true, pfs_http_table },
	{ "lines", "text/html; charset=utf-8", PFS_POLICY_PAGE, true, false, true, pfs_http_lines },
	{ "flame", "text/html; charset=utf-8", PFS_POLICY_FRAME, true, false, true,
	  pfs_http_flame },
	/* The paths of gperftools' servers, and of Go's. */
	{ "pprof/heap", TEXT, PFS_POLICY_DATA, true, false, true, pfs_http_heap_text },
	{ "pprof/symbol", TEXT, PFS_POLICY_DATA, true, true, true, pfs_http_symbols },
	{ "pprof/cmdline", TEXT, PFS_POLICY_DATA, false, false, true, pfs_http_cmdline },
	{ "debug/pprof/heap", PROTO, PFS_POLICY_DATA, true, false, true, pfs_http_heap_proto },
	{ "debug/pprof/allocs", PROTO, PFS_POLICY_DATA, true, false, true, pfs_http_heap_proto },
	{ "debug/pprof/symbol", TEXT, PFS_POLICY_DATA, true, true, true, pfs_http_symbols },
	{ "debug/pprof/cmdline", TEXT, PFS_POLICY_DATA, false, false, true, pfs_http_cmdline },
	{ "pprof/collapsed", TEXT, PFS_POLICY_DATA, true, false, true, pfs_http_collapsed },
	/* jeprof cuts the path behind /pprof/heap, and asks for names beside it. */
	{ "heap_v2/pprof/heap", TEXT, PFS_POLICY_DATA, true, false, true, pfs_http_heap_v2 },
	{ "heap_v2/pprof/symbol", TEXT, PFS_POLICY_DATA, true, true, true, pfs_http_symbols },
	{ "heap_v2/pprof/cmdline", TEXT, PFS_POLICY_DATA, false, false, true, pfs_http_cmdline },
	{ "api/history", JSON, PFS_POLICY_DATA, false, false, true, pfs_http_history },
};

/* A route that ends in / is followed by a name. */
static bool fits(const struct pfs_http_route *route, const char *path, struct pfs_http_ask *ask)
{
	size_t length = strlen(route->path);
	if (length == 0 || route->path[length - 1] != '/')
		return strcmp(path, route->path) == 0;
	const char *name = path + length;
	if (strncmp(path, route->path, length) != 0 || name[0] == '\0' ||
	    strchr(name, '/') != NULL || strlen(name) >= sizeof(ask->name))
		return false;
	memcpy(ask->name, name, strlen(name) + 1);
	return true;
}

const struct pfs_http_route *pfs_http_route_of(const char *path, struct pfs_http_ask *ask)
{
	static const char boxes[] = "/boxes/";
	if (path[0] != '/')
		return NULL;
	if (strncmp(path, boxes, sizeof(boxes) - 1) == 0) {
		const char *id = path + sizeof(boxes) - 1, *slash = strchr(id, '/');
		if (slash == NULL || slash == id || (size_t)(slash - id) >= sizeof(ask->target))
			return NULL;
		memcpy(ask->target, id, (size_t)(slash - id));
		ask->target[slash - id] = '\0';
		path = slash;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (fits(&routes[i], path + 1, ask))
			return &routes[i];
	return NULL;
}
