/*
 * fuzz_test.c - for libFuzzer: reads bytes as a heap profile dump, writes the result in every
 * format, and reads the text formats again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/tool/profile/flame.h"
#include "memory/tool/profile/formats.h"
#include "memory/tool/profile/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	(void)fprintf(stderr, "%s\n", what);
	abort();
}

static void write_all(const struct pfs_heap *heap, bool with_names)
{
	struct pfs_message message;
	for (int kind = 0; kind < PFS_DOCUMENTS + 1; kind++) {
		const struct pfs_document_options options = { .kind = (enum pfs_document)kind,
							      .with_names = with_names };
		const struct pfs_flame_options flame = { .as_page = with_names };
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);
		must(out != NULL, "no memory");
		bool fine = kind == PFS_DOCUMENTS ? pfs_flame_write(heap, &flame, out, &message)
						  : pfs_heap_write(heap, &options, out, &message);
		(void)fclose(out);
		must(fine || heap->has_base, "what was read cannot be written");
		if (fine && kind <= PFS_DOCUMENT_HEAP_V2) {
			struct pfs_heap *again = pfs_heap_of_dump(text, bytes, "again", &message);
			must(again != NULL, message.text);
			pfs_heap_free(again);
		}
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pfs_message message = { "" };
	char *text = malloc(size + 1);
	must(text != NULL, "no memory");
	if (size != 0)
		memcpy(text, data, size);
	struct pfs_heap *heap = pfs_heap_of_dump(text, size, "fuzz", &message);
	free(text);
	if (heap == NULL) {
		must(message.text[0] != '\0' && strchr(message.text, '\n') == NULL, "no line");
		return 0;
	}
	struct pfs_heap *trimmed = pfs_heap_without_allocator(heap);
	must(trimmed != NULL, "no memory");
	write_all(heap, false);
	write_all(trimmed, true);
	pfs_heap_compare(trimmed, heap);
	write_all(trimmed, true);
	pfs_heap_free(trimmed);
	pfs_heap_free(heap);
	return 0;
}
