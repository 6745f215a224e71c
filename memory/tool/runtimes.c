#define _GNU_SOURCE
#include "runtimes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/box/reader.h"

#define NAMES "python, php, glib, node, java"

const char pfs_runtimes_help[] =
	"set what makes a runtime's memory visible. python: PYTHONMALLOC=malloc, php: "
	"USE_ZEND_ALLOC=0, glib: G_SLICE=always-malloc (objects are counted, with stacks); node: "
	"NODE_OPTIONS gets --heapsnapshot-near-heap-limit=1 (V8 writes a heap snapshot before it "
	"gives up); java: JAVA_TOOL_OPTIONS gets -XX:NativeMemoryTracking=summary (jcmd PID "
	"VM.native_memory) and -XX:+HeapDumpOnOutOfMemoryError";

/* clang-format off */
static const struct pfs_runtime runtimes[] = {
	{ "python", "python* libpython* ", "PYTHONMALLOC", "malloc", false,
	  "objects are allocated by malloc",
	  "Python maps the memory of its objects itself. pfs-mem run --for python counts each "
	  "object, with its stack.",
	  "The lines below are the interpreter's functions in C, by kind of object. For lines of "
	  "Python, start it with PYTHONTRACEMALLOC=5 and let it write "
	  "tracemalloc.take_snapshot().dump(FILE)." },
	{ "php", "php* libphp* ", "USE_ZEND_ALLOC", "0", false,
	  "objects are allocated by malloc",
	  "PHP maps the memory of its objects itself. pfs-mem run --for php counts each object, "
	  "with its stack.",
	  NULL },
	{ "glib", "libglib* ", "G_SLICE", "always-malloc", false,
	  "slices are allocated by malloc",
	  "GLib maps its slices itself. pfs-mem run --for glib counts each, with its stack.",
	  NULL },
	{ "node", "node nodejs libnode* ", "NODE_OPTIONS", "--heapsnapshot-near-heap-limit=1", true,
	  "V8 writes a heap snapshot near its heap limit",
	  "This is V8's heap: JavaScript objects and compiled code. While it lives, kill -USR1 PID "
	  "opens its inspector at 127.0.0.1:9229, where chrome://inspect takes a heap snapshot. "
	  "pfs-mem run --for node has V8 write one near its limit (set --max-old-space-size below "
	  "the container's).",
	  NULL },
	{ "java", "libjvm java ", "JAVA_TOOL_OPTIONS",
	  "-XX:NativeMemoryTracking=summary -XX:+HeapDumpOnOutOfMemoryError", true,
	  "the JVM tracks its native memory, and dumps its heap when that is full",
	  "This is the JVM's: Java heap, metaspace, code, threads. While it lives, jcmd PID "
	  "GC.class_histogram lists the objects by class, jcmd PID GC.heap_dump FILE has them; "
	  "after pfs-mem run --for java, jcmd PID VM.native_memory divides the rest.",
	  NULL },
	{ NULL, "mariadbd mysqld ", NULL, NULL, false, NULL,
	  "This is mostly InnoDB's buffer pool: its size is innodb_buffer_pool_size, and SHOW "
	  "ENGINE INNODB STATUS says how much of it has pages.",
	  NULL },
};
/* clang-format on */
#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

static bool set(const struct pfs_runtime *runtime)
{
	const char *before = runtime->joins ? getenv(runtime->variable) : NULL;
	char *joined = NULL;
	if (before == NULL || before[0] == '\0')
		return setenv(runtime->variable, runtime->value, 1) == 0;
	bool fine = asprintf(&joined, "%s %s", before, runtime->value) >= 0 &&
		    setenv(runtime->variable, joined, 1) == 0;
	free(joined);
	return fine;
}

bool pfs_runtime_set(const char *name, struct pfs_message *message)
{
	for (size_t i = 0; i < RUNTIMES; i++)
		if (runtimes[i].name != NULL && strcmp(runtimes[i].name, name) == 0)
			return set(&runtimes[i]) ||
			       pfs_refuse(message, "--for: no memory for the environment");
	return pfs_refuse(message, "--for '%.100s' is not a known runtime: choose from " NAMES,
			  name);
}

/* Does the mapper's library match a pattern of the list? */
static bool is_one_of(const char *patterns, const char *library)
{
	for (const char *at = patterns; *at != '\0'; at += strcspn(at, " ") + 1) {
		char pattern[32];
		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)strcspn(at, " "), at);
		if (fnmatch(pattern, library, 0) == 0)
			return true;
	}
	return false;
}

const struct pfs_runtime *pfs_runtime_of(const char *mapper)
{
	char library[PFS_BOX_NAME_BYTES];
	static const char begin[] = "memory/";
	if (strncmp(mapper, begin, strlen(begin)) != 0)
		return NULL;
	mapper += strlen(begin);
	(void)snprintf(library, sizeof(library), "%.*s", (int)strcspn(mapper, "/"), mapper);
	for (size_t i = 0; i < RUNTIMES; i++)
		if (is_one_of(runtimes[i].mappers, library))
			return &runtimes[i];
	return NULL;
}
