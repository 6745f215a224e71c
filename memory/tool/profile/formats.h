/*
 * formats.h - a heap profile as others read it: docs/explanation/profile.md says who reads what.
 *
 * Rounding keeps the sum: each row carries its rounding error to the next.
 */
#ifndef PFS_MEM_FORMATS_H
#define PFS_MEM_FORMATS_H

#include <math.h>

#include "heap.h"

enum pfs_document {
	PFS_DOCUMENT_TEXT,      /* gperftools': jeprof, google-pprof, go tool pprof */
	PFS_DOCUMENT_HEAP_V2,   /* jemalloc's: jeprof, by thread */
	PFS_DOCUMENT_PROTO,     /* profile.proto, gzipped: pprof */
	PFS_DOCUMENT_COLLAPSED, /* "root;leaf bytes": flamegraph.pl, speedscope */
	PFS_DOCUMENTS
};

extern const char *const pfs_document_names[PFS_DOCUMENTS];

struct pfs_document_options {
	enum pfs_document kind;
	bool with_names; /* of text and heap_v2: a block of names in front; of proto: lines */
	bool of_total;   /* collapsed: of all since the beginning; proto: that is shown first */
};

/*
 * pfs_heap_write - the document, to a stream of bytes. The heap must have its names, if they are
 * wanted (symbols.h).
 *
 * Returns   false: no memory, it cannot be written, or text cannot say it (what shrank); then
 *           message says which.
 */
bool pfs_heap_write(const struct pfs_heap *heap, const struct pfs_document_options *options,
		    FILE *out, struct pfs_message *message);

/* ---- what the writers share ---- */

struct pfs_carry {
	double live_objects, live_bytes, total_objects, total_bytes;
};

struct pfs_whole_values {
	int64_t live_objects, live_bytes, total_objects, total_bytes;
};

static inline int64_t pfs_round(double value, double *carry)
{
	const double most = 9e18;
	double wanted = value + *carry;
	double whole = wanted > most ? most : wanted < -most ? -most : floor(wanted + 0.5);
	if (value >= 0 && whole < 0)
		whole = 0;
	*carry = fabs(wanted - whole) < 1 ? wanted - whole : 0;
	return (int64_t)whole;
}

static inline struct pfs_whole_values pfs_round_all(const struct pfs_heap_values *values,
						    struct pfs_carry *carry)
{
	return (struct pfs_whole_values){
		pfs_round(values->live_objects, &carry->live_objects),
		pfs_round(values->live_bytes, &carry->live_bytes),
		pfs_round(values->total_objects, &carry->total_objects),
		pfs_round(values->total_bytes, &carry->total_bytes),
	};
}

bool pfs_write_text(const struct pfs_heap *heap, const struct pfs_document_options *options,
		    FILE *out, struct pfs_message *message);
bool pfs_write_proto(const struct pfs_heap *heap, const struct pfs_document_options *options,
		     FILE *out, struct pfs_message *message);
bool pfs_write_collapsed(const struct pfs_heap *heap, const struct pfs_document_options *options,
			 FILE *out, struct pfs_message *message);

#endif
