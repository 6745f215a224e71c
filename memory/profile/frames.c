/*
 * frames.c - reads the part of an unwind table that says where a frame begins, and where it keeps
 * its caller's frame pointer.
 *
 * Source: DWARF 5, section 6.4; the .eh_frame of the Linux Standard Base. The code is our own.
 */
#include "frames.h"

#include <stddef.h>
#include <string.h>

#define STACK_POINTER 7u /* as x86-64 numbers its registers in tables */
#define FRAME_POINTER 6u
#define RETURN_ADDRESS 16u
#define REMEMBERED_MOST 8u
#define TEXT_MOST 8u
#define OP_DEREFERENCE 0x06u
#define OP_FRAME_POINTER 0x76u /* DW_OP_breg6: plus a number */

/* libgcc's function, which the unwinder also calls. */
struct dwarf_eh_bases {
	void *text, *data, *function;
};
extern const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

/* Where a register's value in the caller is. */
struct place {
	enum { SAME, AT_BEGIN, AT_POINTER, UNDEFINED, ELSEWHERE } kind;
	int64_t offset; /* from the frame's begin, or from the frame pointer */
};

struct row {
	/* The frame's begin: base plus offset; with is_stored, what is stored there. */
	uint64_t base; /* a register; UINT64_MAX: none */
	int64_t offset;
	bool is_stored;
	struct place pointer, to; /* the caller's frame pointer; the return address */
};

struct table {
	const uint8_t *at, *end;
	uint64_t code_unit;
	uint8_t encoding; /* of addresses */
	bool has_more;    /* entries have an augmentation length */
	int64_t data_unit;
	struct row row, first; /* first: as the function begins */
	struct row remembered[REMEMBERED_MOST];
	uint32_t remembered_count;
	bool is_bad;
};

static uint64_t take_bytes(struct table *self, uint32_t bytes)
{
	uint64_t value = 0;
	if ((size_t)(self->end - self->at) < bytes) {
		self->is_bad = true;
		return 0;
	}
	memcpy(&value, self->at, bytes);
	self->at += bytes;
	return value;
}

static uint64_t take_number(struct table *self, bool is_signed)
{
	uint64_t value = 0;
	uint32_t shift = 0;
	uint8_t byte;
	do {
		byte = (uint8_t)take_bytes(self, 1);
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while ((byte & 0x80) != 0 && !self->is_bad);
	if (is_signed && shift < 64 && (byte & 0x40) != 0)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static void skip(struct table *self, uint64_t bytes)
{
	if (bytes > (size_t)(self->end - self->at))
		self->is_bad = true;
	else
		self->at += bytes;
}

/* ---- instructions ---- */

static void set_base(struct table *self, uint64_t base, int64_t offset, bool is_stored)
{
	self->row.base = base;
	self->row.offset = offset;
	self->row.is_stored = is_stored;
}

static void set_place(struct table *self, uint64_t of_register, struct place place)
{
	if (of_register == FRAME_POINTER)
		self->row.pointer = place;
	else if (of_register == RETURN_ADDRESS)
		self->row.to = place;
}

static void set_first(struct table *self, uint64_t of_register)
{
	set_place(self, of_register,
		  of_register == FRAME_POINTER ? self->first.pointer : self->first.to);
}

/* Take an expression that is the frame pointer plus a number, and with `is_stored` what is stored
 * there. False: it is another one. */
static bool take_expression(struct table *self, bool is_stored, int64_t *offset)
{
	uint64_t bytes = take_number(self, false);
	const uint8_t *begin = self->at;
	struct table inner = *self;
	skip(self, bytes);
	if (self->is_bad)
		return false;
	inner.end = begin + bytes;
	bool fits = take_bytes(&inner, 1) == OP_FRAME_POINTER;
	*offset = (int64_t)take_number(&inner, true);
	if (is_stored)
		fits = take_bytes(&inner, 1) == OP_DEREFERENCE && fits;
	return fits && !inner.is_bad && inner.at == inner.end;
}

static void remember(struct table *self)
{
	if (self->remembered_count == REMEMBERED_MOST)
		self->is_bad = true;
	else
		self->remembered[self->remembered_count++] = self->row;
}

static void restore(struct table *self)
{
	if (self->remembered_count == 0)
		self->is_bad = true;
	else
		self->row = self->remembered[--self->remembered_count];
}

static void place_by_expression(struct table *self)
{
	uint64_t of_register = take_number(self, false);
	struct place place = { AT_POINTER, 0 };
	if (!take_expression(self, false, &place.offset))
		place.kind = ELSEWHERE;
	set_place(self, of_register, place);
}

static void base_by_expression(struct table *self)
{
	int64_t offset;
	bool fits = take_expression(self, true, &offset);
	set_base(self, fits ? FRAME_POINTER : UINT64_MAX, offset, true);
}

/* Instructions about a register's place. False: it is another one. */
static bool obey_place(struct table *self, uint8_t what)
{
	uint64_t of_register;
	switch (what) {
	case 0x05: /* offset_extended */
	case 0x11: /* offset_extended_sf */
		of_register = take_number(self, false);
		set_place(self, of_register,
			  (struct place){ AT_BEGIN, (int64_t)take_number(self, what == 0x11) *
							    self->data_unit });
		return true;
	case 0x06: /* restore */ set_first(self, take_number(self, false)); return true;
	case 0x07: /* undefined */
		set_place(self, take_number(self, false), (struct place){ UNDEFINED, 0 });
		return true;
	case 0x08: /* same_value */
		set_place(self, take_number(self, false), (struct place){ SAME, 0 });
		return true;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		set_place(self, take_number(self, false), (struct place){ ELSEWHERE, 0 });
		(void)take_number(self, false);
		return true;
	case 0x10: /* expression */ place_by_expression(self); return true;
	case 0x16: /* val_expression */
		set_place(self, take_number(self, false), (struct place){ ELSEWHERE, 0 });
		skip(self, take_number(self, false));
		return true;
	default: return false;
	}
}

/* Execute an instruction about the frame's begin. */
static void obey(struct table *self, uint8_t what)
{
	uint64_t base;
	switch (what) {
	case 0x00: /* nop */ break;
	case 0x0a: remember(self); break;
	case 0x0b: restore(self); break;
	case 0x0c: /* def_cfa */
		base = take_number(self, false);
		set_base(self, base, (int64_t)take_number(self, false), false);
		break;
	case 0x0d: /* def_cfa_register */ self->row.base = take_number(self, false); break;
	case 0x0e: /* def_cfa_offset */ self->row.offset = (int64_t)take_number(self, false); break;
	case 0x0f: /* def_cfa_expression */ base_by_expression(self); break;
	case 0x2e: /* args_size */ (void)take_number(self, false); break;
	default: /* with factors, which compilers for x86-64 do not use, or unknown */
		self->is_bad = true;
	}
}

/* Run the instructions up to the row of an address. */
static void run(struct table *self, uint64_t at, uint64_t address)
{
	while (self->at < self->end && !self->is_bad) {
		uint8_t what = (uint8_t)take_bytes(self, 1), kind = what >> 6, low = what & 0x3f;
		uint64_t by = 0;
		if (kind == 1)
			by = low;
		else if (what >= 0x02 && what <= 0x04) /* advance_loc 1, 2, 4 */
			by = take_bytes(self, 1u << (what - 0x02));
		else if (kind == 2) /* offset */
			set_place(self, low,
				  (struct place){ AT_BEGIN, (int64_t)take_number(self, false) *
								    self->data_unit });
		else if (kind == 3) /* restore */
			set_first(self, low);
		else if (!obey_place(self, what))
			obey(self, what);
		at += by * self->code_unit;
		if (at > address)
			return;
	}
}

/* ---- a table's head ---- */

static uint32_t address_bytes(uint8_t encoding)
{
	static const uint8_t bytes[8] = { 8, 0, 2, 4, 8, 0, 0, 0 };
	return bytes[encoding & 7];
}

/* Read the entry that the functions of a file share. Afterwards self->at is at its instructions. */
static void read_common(struct table *self, const uint8_t *common)
{
	uint32_t length;
	char text[TEXT_MOST] = "";
	memcpy(&length, common, sizeof(length));
	self->at = common + 8;
	self->end = common + 4 + length;
	uint64_t version = take_bytes(self, 1);
	for (uint32_t i = 0; i < TEXT_MOST; i++) {
		text[i] = (char)take_bytes(self, 1);
		if (text[i] == '\0')
			break;
	}
	self->code_unit = take_number(self, false);
	self->data_unit = (int64_t)take_number(self, true);
	uint64_t to = version == 1 ? take_bytes(self, 1) : take_number(self, false);
	self->has_more = text[0] == 'z';
	self->is_bad = self->is_bad || length == UINT32_MAX || to != RETURN_ADDRESS ||
		       text[TEXT_MOST - 1] != '\0' || (text[0] != '\0' && !self->has_more);
	uint64_t more = self->has_more ? take_number(self, false) : 0;
	const uint8_t *after = self->at + more;
	for (const char *letter = text + 1; self->has_more && *letter != '\0'; letter++) {
		if (*letter == 'R')
			self->encoding = (uint8_t)take_bytes(self, 1);
		else if (*letter == 'L')
			(void)take_bytes(self, 1);
		else if (*letter == 'P') {
			uint8_t encoding = (uint8_t)take_bytes(self, 1);
			skip(self, address_bytes(encoding));
		} else /* S: a signal's frame; or unknown */
			self->is_bad = true;
	}
	self->at = after;
}

/* ---- what it comes to ---- */

static bool is_word(int64_t offset, int64_t most)
{
	return offset % 8 == 0 && offset >= 0 && offset / 8 <= most;
}

static bool make_rule(const struct row *row, struct pfs_frame_rule *rule)
{
	const struct place *pointer = &row->pointer;
	*rule = (struct pfs_frame_rule){ PFS_FRAME_LAST, 0, 0 };
	if (row->to.kind == UNDEFINED)
		return true;
	if (row->to.kind != AT_BEGIN || row->to.offset != -8)
		return false;
	if (row->is_stored) {
		*rule = (struct pfs_frame_rule){ PFS_FRAME_STORED, (uint32_t)(-row->offset / 8),
						 0 };
		return row->base == FRAME_POINTER && is_word(-row->offset, UINT32_MAX) &&
		       pointer->kind == AT_POINTER && pointer->offset == 0;
	}
	if (row->base == FRAME_POINTER) {
		rule->kind = PFS_FRAME_POINTED;
		return row->offset == 16 && pointer->kind == AT_BEGIN && pointer->offset == -16;
	}
	*rule = (struct pfs_frame_rule){ PFS_FRAME_FIXED, (uint32_t)(row->offset / 8),
					 (uint32_t)(-pointer->offset / 8) };
	return row->base == STACK_POINTER && is_word(row->offset, UINT32_MAX) &&
	       (pointer->kind == SAME ||
		(pointer->kind == AT_BEGIN && is_word(-pointer->offset, rule->words)));
}

bool pfs_frames_rule(uintptr_t address, struct pfs_frame_rule *rule)
{
	struct dwarf_eh_bases bases;
	struct table self = { .row = { .base = UINT64_MAX, .to = { ELSEWHERE, 0 } } };
	uint32_t length, back;
	const uint8_t *own = _Unwind_Find_FDE((void *)(address - 1), &bases); /* NOLINT: code */
	if (own == NULL) {
		*rule = (struct pfs_frame_rule){ PFS_FRAME_NONE, 0, 0 };
		return true;
	}
	memcpy(&length, own, sizeof(length));
	memcpy(&back, own + 4, sizeof(back));
	read_common(&self, own + 4 - back);
	uint64_t begin = (uintptr_t)bases.function;
	if (self.is_bad || length == UINT32_MAX || address_bytes(self.encoding) == 0)
		return false;
	run(&self, begin, UINT64_MAX);
	self.first = self.row;
	self.at = own + 8;
	self.end = own + 4 + length;
	skip(&self, 2 * (uint64_t)address_bytes(self.encoding));
	if (self.has_more)
		skip(&self, take_number(&self, false));
	run(&self, begin, address - 1);
	return !self.is_bad && make_rule(&self.row, rule);
}
