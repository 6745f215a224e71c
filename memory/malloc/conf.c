#define _GNU_SOURCE
#include "conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct pfs_conf pfs_conf = {
	.tcache = true,
	.ring_bytes_max = 64u << 10,
	.ring_entries_max = 511,
	.dirty_decay_ms = PFS_DECAY_LOW_WATER,
	.dirty_percent = 25,
	.muzzy_decay_ms = 0,
	.tick_ms = 1000,
	.background_thread = true,
	.thp = PFS_THP_DEFAULT,
	.guard_rate = PFS_GUARD_RATE,
};

static uint32_t wants_slots;    /* the option guard_slots; 0: by the rate */
static bool wants_rings = true; /* the option tcache; options that fill blocks override it */

#define TEXT_MAX 64u
#define JUNK 0xa5

enum kind { KIND_BOOL, KIND_COUNT, KIND_SIZE, KIND_TIME, KIND_THP };

static const struct option {
	const char *name;
	enum kind kind;
	void *value;
} options[] = {
	{ "tcache", KIND_BOOL, &wants_rings },
	{ "tcache_bytes_max", KIND_COUNT, &pfs_conf.ring_bytes_max },
	{ "tcache_nslots_small_max", KIND_COUNT, &pfs_conf.ring_entries_max },
	{ "narenas", KIND_COUNT, &pfs_conf.narenas },
	{ "dirty_decay_ms", KIND_TIME, &pfs_conf.dirty_decay_ms },
	{ "dirty_percent", KIND_COUNT, &pfs_conf.dirty_percent },
	{ "muzzy_decay_ms", KIND_TIME, &pfs_conf.muzzy_decay_ms },
	{ "tick_ms", KIND_COUNT, &pfs_conf.tick_ms },
	{ "background_thread", KIND_BOOL, &pfs_conf.background_thread },
	{ "oversize_threshold", KIND_SIZE, &pfs_conf.oversize_threshold },
	{ "strict", KIND_BOOL, &pfs_conf.strict },
	{ "tags", KIND_BOOL, &pfs_conf.tags },
	{ "zero", KIND_BOOL, &pfs_conf.zero },
	{ "junk", KIND_BOOL, &pfs_conf.junk },
	{ "xmalloc", KIND_BOOL, &pfs_conf.xmalloc },
	{ "abort_conf", KIND_BOOL, &pfs_conf.abort_conf },
	{ "stats_print", KIND_BOOL, &pfs_conf.stats_print },
	{ "thp", KIND_THP, &pfs_conf.thp },
	{ "guard_rate", KIND_COUNT, &pfs_conf.guard_rate },
	{ "guard_slots", KIND_COUNT, &wants_slots },
};

static bool parse_bool(const char *text, bool *value)
{
	bool is_true = strcmp(text, "true") == 0;
	bool done = is_true || strcmp(text, "false") == 0;
	if (done)
		*value = is_true;
	return done;
}

/* The whole text as a number from least to most, hexadecimal after 0x. Keeps errno. */
static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *value)
{
	int errno_before = errno;
	char *end;
	errno = 0;
	long long parsed = strtoll(text, &end, 0);
	bool done = errno == 0 && end != text && *end == '\0' && parsed >= least && parsed <= most;
	*value = parsed;
	errno = errno_before;
	return done;
}

/* Only dirty pages can go by the low-water mark. */
static int64_t least_time(const struct option *option)
{
	return option->value == &pfs_conf.dirty_decay_ms ? PFS_DECAY_LOW_WATER : -1;
}

static bool set(const struct option *option, const char *text)
{
	static const struct {
		int64_t most;
		size_t bytes;
	} numbers[] = {
		[KIND_COUNT] = { UINT32_MAX, sizeof(uint32_t) },
		[KIND_SIZE] = { INT64_MAX, sizeof(size_t) },
		[KIND_TIME] = { PFS_DECAY_MS_MAX, sizeof(int64_t) },
	};
	int64_t number;
	if (option->kind == KIND_BOOL)
		return parse_bool(text, option->value);
	if (option->kind == KIND_THP) {
		bool is_never = strcmp(text, "never") == 0;
		if (!is_never && strcmp(text, "default") != 0)
			return false;
		*(enum pfs_thp *)option->value = is_never ? PFS_THP_NEVER : PFS_THP_DEFAULT;
		return true;
	}
	int64_t least = option->kind == KIND_TIME ? least_time(option) : 0;
	if (!parse_number(text, least, numbers[option->kind].most, &number))
		return false;
	/* The first bytes of a shorter number are the low ones. */
	memcpy(option->value, &number, numbers[option->kind].bytes);
	return true;
}

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(name, options[i].name) == 0)
			return &options[i];
	return NULL;
}

static void take(const char *name, const char *value)
{
	const struct option *option = find(name);
	if (option == NULL)
		pfs_warn("PFS_MALLOC_CONF: unknown option '", name,
			 "'; docs/explanation/malloc.md lists all options");
	else if (!set(option, value))
		pfs_warn("PFS_MALLOC_CONF: invalid value of ", name,
			 "; docs/explanation/malloc.md lists the values");
	else
		return;
	if (pfs_conf.abort_conf)
		abort();
}

/* Copy up to ',' or `end` into a buffer. Returns where it stopped. */
static const char *copy_up_to(const char *from, char end, char *text)
{
	size_t used = 0;
	while (*from != '\0' && *from != ',' && *from != end) {
		if (used < TEXT_MAX - 1)
			text[used++] = *from;
		from++;
	}
	text[used] = '\0';
	return from;
}

static void parse(const char *at)
{
	while (*at != '\0') {
		char name[TEXT_MAX], value[TEXT_MAX] = "";
		at = copy_up_to(at, ':', name);
		if (*at == ':')
			at = copy_up_to(at + 1, ',', value);
		if (name[0] != '\0')
			take(name, value);
		if (*at == ',')
			at++;
	}
}

void pfs_conf_fill(void *bytes, size_t size_bytes)
{
	if (pfs_conf.zero || pfs_conf.junk)
		memset(bytes, pfs_conf.zero ? 0 : JUNK, size_bytes);
}

/* Blocks are filled and guarded on the slow paths, so rings are off if all are. */
static void settle(void)
{
	pfs_conf.tags = pfs_conf.tags || &pfs_conf_needs_tags != NULL;
	pfs_conf.tcache = wants_rings && !pfs_conf.zero && !pfs_conf.junk &&
			  pfs_conf.guard_rate != 1;
	pfs_conf.guard_slots = wants_slots != 0             ? wants_slots
			       : pfs_conf.guard_rate < 1000 ? PFS_GUARD_SLOTS_MANY
							    : PFS_GUARD_SLOTS_FEW;
}

bool pfs_conf_start(void)
{
	extern char **environ;
	static bool is_read;
	if (is_read)
		return true;
	settle();
	if (environ == NULL)
		return false;
	is_read = true;
	/* The user who starts a set-uid program must not control it. */
	const char *text = secure_getenv("PFS_MALLOC_CONF");
	if (text != NULL)
		parse(text);
	settle();
	return true;
}

int pfs_conf_perturb(int value)
{
	(void)pfs_conf_start();
	pfs_conf.junk = value != 0;
	settle();
	return 1;
}
