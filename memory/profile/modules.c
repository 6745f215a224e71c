/*
 * modules.c - the program's files, as the loader maps them.
 */
#define _GNU_SOURCE
#include "modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include <pfslab/container.h>

/* In glibc 2.35 and later. Without it no file is recorded. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

void pfs_modules_begin(struct pfs_modules *self, struct pfs_box *box)
{
	self->box = box;
	self->region = pfs_box_region_of(box, PFS_BOX_MODULES);
	self->region->page_bytes = PFS_BOX_PAGE;
	pfs_mutex_init(&self->lock);
}

static struct pfs_box_module *record_at(const struct pfs_modules *self, uint32_t number)
{
	/* NOLINTNEXTLINE: a record of the box */
	return (struct pfs_box_module *)(void *)(self->box->base + self->region->offset) + number;
}

/* ---- what a file says of itself, in its headers as they are mapped ---- */

/* The program headers of a file. */
struct headers {
	uintptr_t base; /* what is added to the file's addresses */
	const char *at;
	size_t count, each_bytes;
};

static ElfW(Phdr) header_at(const struct headers *self, size_t number)
{
	ElfW(Phdr) header;
	memcpy(&header, self->at + number * self->each_bytes, sizeof(header));
	return header;
}

static bool is_inside(const struct pfs_module_known *known, uintptr_t from, uint64_t bytes)
{
	return from >= known->begin && from < known->end && bytes <= known->end - from;
}

/* The kernel maps the program, and says where its headers are. */
static bool is_program(const struct link_map *map)
{
	return map->l_name[0] == '\0' && getauxval(AT_PHDR) != 0 &&
	       getauxval(AT_PHENT) >= sizeof(ElfW(Phdr));
}

static struct headers headers_of_program(const struct link_map *map)
{
	return (struct headers){ map->l_addr, (const char *)getauxval(AT_PHDR), /* NOLINT */
				 getauxval(AT_PHNUM), getauxval(AT_PHENT) };
}

/* The loader maps a library as one piece, which begins with the file's header. */
static struct headers headers_of(const struct pfs_module_known *known)
{
	const struct headers none = { 0, NULL, 0, 0 };
	const char *begin = (const char *)known->begin; /* NOLINT: where it is mapped */
	ElfW(Ehdr) head;
	if (is_program(known->map))
		return headers_of_program(known->map);
	if (!is_inside(known, known->begin, sizeof(head)))
		return none;
	memcpy(&head, begin, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)) ||
	    !is_inside(known, known->begin + head.e_phoff,
		       (uint64_t)head.e_phnum * sizeof(ElfW(Phdr))))
		return none;
	return (struct headers){ ((const struct link_map *)known->map)->l_addr,
				 begin + head.e_phoff, head.e_phnum, head.e_phentsize };
}

/* From a program's first page to its last. There may be gaps between its segments, and the loader
 * then knows each as a piece. */
static void take_bounds(struct pfs_module_known *known, const struct headers *headers)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	for (size_t i = 0; i < headers->count; i++) {
		ElfW(Phdr) header = header_at(headers, i);
		uintptr_t begin = headers->base + header.p_vaddr, end = begin + header.p_memsz;
		if (header.p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		high = end > high ? end : high;
	}
	if (low < high) {
		known->begin = low / PFS_BOX_PAGE * PFS_BOX_PAGE;
		known->end = high;
	}
}

static struct pfs_module_known known_of(const struct dl_find_object *object)
{
	struct pfs_module_known known = { object->dlfo_link_map, (uintptr_t)object->dlfo_map_start,
					  (uintptr_t)object->dlfo_map_end };
	if (is_program(object->dlfo_link_map)) {
		struct headers headers = headers_of_program(object->dlfo_link_map);
		take_bounds(&known, &headers);
	}
	return known;
}

/* Take the build id from the notes of a segment. */
static void take_build_id(struct pfs_box_module *module, const char *notes, uint64_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		memcpy(&note, notes, sizeof(note));
		uint64_t name_bytes = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		uint64_t all = sizeof(note) + name_bytes +
			       (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));
		if (all > bytes)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + sizeof(note), "GNU", 4) == 0 &&
		    note.n_descsz <= sizeof(module->build_id)) {
			memcpy(module->build_id, notes + sizeof(note) + name_bytes, note.n_descsz);
			module->build_id_bytes = note.n_descsz;
			return;
		}
		notes += all;
		bytes -= all;
	}
}

/* Is that memory a part of the file? */
static bool is_loaded(const struct headers *headers, uintptr_t from, uint64_t bytes)
{
	for (size_t i = 0; i < headers->count; i++) {
		ElfW(Phdr) header = header_at(headers, i);
		uintptr_t begin = headers->base + header.p_vaddr;
		if (header.p_type == PT_LOAD && from >= begin && from - begin <= header.p_filesz &&
		    bytes <= header.p_filesz - (from - begin))
			return true;
	}
	return false;
}

static void take_headers(struct pfs_box_module *module, const struct pfs_module_known *known)
{
	struct headers headers = headers_of(known);
	for (size_t i = 0; i < headers.count; i++) {
		ElfW(Phdr) header = header_at(&headers, i);
		uintptr_t at = headers.base + header.p_vaddr;
		if (header.p_type == PT_LOAD && at / PFS_BOX_PAGE == known->begin / PFS_BOX_PAGE)
			module->file_offset = header.p_offset / PFS_BOX_PAGE * PFS_BOX_PAGE;
		if (header.p_type == PT_NOTE && module->build_id_bytes == 0 &&
		    is_loaded(&headers, at, header.p_memsz))
			take_build_id(module, (const char *)at, header.p_memsz); /* NOLINT */
	}
}

/* Of a path that is too long the end is kept. */
static void take_path(const struct pfs_box *box, struct pfs_box_module *module, const char *path)
{
	if (path[0] == '\0')
		path = box->head->program;
	size_t length = strlen(path), most = sizeof(module->path) - 1;
	if (length > most)
		path += length - most;
	strncpy(module->path, path, most);
}

/* ---- records ---- */

/* Make room for the next record, and include its page in what a fork copies. */
static bool has_room(struct pfs_modules *self)
{
	uint64_t end = (uint64_t)(self->count + 1) * sizeof(struct pfs_box_module);
	if (self->count == PFS_MODULES_MAX || end > self->region->bytes ||
	    !pfs_box_populate(self->box, self->region->offset + end - sizeof(struct pfs_box_module),
			      sizeof(struct pfs_box_module)))
		return false;
	/* relaxed: under lock; readers rely on the records. */
	pfs_store_relaxed(&self->region->page_count,
			  (uint32_t)((end + PFS_BOX_PAGE - 1) / PFS_BOX_PAGE));
	return true;
}

/* Fill in which file it is; `known` says where. */
static void describe(const struct pfs_box *box, struct pfs_box_module *module,
		     const struct pfs_module_known *known, const struct link_map *map)
{
	memset((void *)module, 0, sizeof(*module));
	module->begin = known->begin;
	module->end = known->end;
	take_headers(module, known);
	take_path(box, module, map->l_name);
}

/* Add a record. Returns its number plus one; 0: no room. */
static uint32_t add(struct pfs_modules *self, const struct pfs_module_known *known,
		    struct pfs_box_module *module)
{
	if (!has_room(self)) {
		/* relaxed: a count */
		(void)pfs_fetch_add_relaxed(&self->box->head->lost[PFS_LOST_MODULES], 1);
		return 0;
	}
	module->loaded_realtime_ns = pfs_box_now_ns();
	/* Written from its end: a record whose first bytes are there is complete. */
	char *record = (char *)record_at(self, self->count);
	pfs_bytes_store(record + 64, (const char *)module + 64, sizeof(*module) - 64);
	pfs_bytes_store(record + 8, (const char *)module + 8, 56);
	pfs_bytes_store(record, module, 8);
	self->known[self->count++] = *known;
	return self->count;
}

static bool is_same(const struct pfs_module_known *one, const struct pfs_module_known *other)
{
	return one->map == other->map && one->begin == other->begin && one->end == other->end;
}

static bool is_same_file(const struct pfs_box_module *one, const struct pfs_box_module *other)
{
	return one->build_id_bytes == other->build_id_bytes &&
	       memcmp(one->build_id, other->build_id, sizeof(one->build_id)) == 0 &&
	       strcmp(one->path, other->path) == 0;
}

void pfs_modules_changed(struct pfs_modules *self)
{
	/* relaxed: a thread that looks later sees it; one that does not came before. */
	(void)pfs_fetch_add_relaxed(&self->epoch, 1);
}

static void is_gone(struct pfs_modules *self, uint32_t number)
{
	/* relaxed: a time. */
	pfs_store_relaxed(&record_at(self, number)->gone_realtime_ns, pfs_box_now_ns());
	self->known[number].begin = 0;
	pfs_modules_changed(self);
}

/* Find a file. If another file is now at a known file's place, the known one has gone. A file of
 * the same size may be mapped at exactly the same place, so its identity is compared as well. */
static uint32_t find(struct pfs_modules *self, const struct pfs_module_known *known,
		     const struct pfs_box_module *module)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		const struct pfs_module_known *at = &self->known[i];
		if (at->begin == 0 || at->end <= known->begin || at->begin >= known->end)
			continue;
		if (is_same(at, known) && is_same_file(module, record_at(self, i)))
			found = i + 1;
		else
			is_gone(self, i);
	}
	return found;
}

static uint32_t see(struct pfs_modules *self, const struct dl_find_object *object)
{
	struct pfs_box_module module;
	const struct pfs_module_known known = known_of(object);
	describe(self->box, &module, &known, object->dlfo_link_map);
	pfs_mutex_lock(&self->lock);
	uint32_t found = find(self, &known, &module);
	if (found == 0)
		found = add(self, &known, &module);
	pfs_mutex_unlock(&self->lock);
	return found;
}

uint32_t pfs_modules_see(struct pfs_modules *self, const uint64_t *addresses, uint32_t count)
{
	uintptr_t begin = 0, end = 0;
	uint32_t hash = 0;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t address = addresses[i] - 1; /* inside the call instruction */
		struct dl_find_object object;
		if (address - begin < end - begin)
			continue;
		if (_dl_find_object == NULL ||
		    _dl_find_object((void *)address, &object) != 0) /* NOLINT: code */
			continue;
		begin = (uintptr_t)object.dlfo_map_start;
		end = (uintptr_t)object.dlfo_map_end;
		hash = hash * 31 + see(self, &object);
	}
	return hash;
}

bool pfs_module_of(const struct pfs_box *box, uintptr_t address, struct pfs_box_module *module)
{
	struct dl_find_object object;
	if (_dl_find_object == NULL ||
	    _dl_find_object((void *)address, &object) != 0) /* NOLINT: code */
		return false;
	const struct pfs_module_known known = known_of(&object);
	describe(box, module, &known, object.dlfo_link_map);
	return true;
}

/* Reads nothing of a library that the loader may be unmapping now. */
void pfs_modules_tick(struct pfs_modules *self)
{
	pfs_mutex_lock(&self->lock);
	for (uint32_t i = 0; i < self->count && _dl_find_object != NULL; i++) {
		const struct pfs_module_known *at = &self->known[i];
		struct dl_find_object object;
		if (at->begin == 0)
			continue;
		struct pfs_module_known now = { NULL, 0, 0 };
		if (_dl_find_object((void *)at->begin, &object) == 0) /* NOLINT: code */
			now = known_of(&object);
		if (!is_same(&now, at))
			is_gone(self, i);
	}
	pfs_mutex_unlock(&self->lock);
}
