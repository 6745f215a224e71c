/*
 * frames.c - reads the part of an unwind table that says where a frame begins.
 *
 * Source: DWARF 5, section 6.4; the .eh_frame of the Linux Standard Base. The code is our own.
 */
#include "frames.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#define STACK_POINTER 7u
#else
#define STACK_POINTER UINT64_MAX /* not read */
#endif
#define REMEMBERED_MOST 8u
#define TEXT_MOST 8u

/* libgcc's function, which the unwinder also calls. */
struct dwarf_eh_bases {
	void *text, *data, *function;
};
extern const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

struct row {
	/* the register that the frame's begin is relative to; UINT64_MAX: none */
	uint64_t base_register;
	uint64_t offset;
};

struct table {
	const uint8_t *at, *end;
	uint64_t code_unit;
	uint8_t encoding; /* of addresses */
	bool has_more;    /* entries have an augmentation length */
	struct row row;
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

static void set_base(struct table *self, uint64_t base_register, uint64_t offset)
{
	self->row = (struct row){ base_register, offset };
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

/* Execute an instruction. Those that do not concern the frame's begin only have their operands
 * skipped. */
static void obey(struct table *self, uint8_t what)
{
	switch (what) {
	case 0x00: /* nop */ break;
	case 0x05:
	case 0x09:
	case 0x14: /* offset_extended, register, val_offset */
		(void)take_number(self, false);
		(void)take_number(self, false);
		break;
	case 0x06:
	case 0x07:
	case 0x08:
	case 0x2e: /* restore, undefined, same, args_size */ (void)take_number(self, false); break;
	case 0x0a: remember(self); break;
	case 0x0b: restore(self); break;
	case 0x0c: /* def_cfa */
		self->row.base_register = take_number(self, false);
		self->row.offset = take_number(self, false);
		break;
	case 0x0d: /* def_cfa_register */ self->row.base_register = take_number(self, false); break;
	case 0x0e: /* def_cfa_offset */ self->row.offset = take_number(self, false); break;
	case 0x0f: /* def_cfa_expression */
		skip(self, take_number(self, false));
		set_base(self, UINT64_MAX, 0);
		break;
	case 0x10:
	case 0x16: /* expression, val_expression */
		(void)take_number(self, false);
		skip(self, take_number(self, false));
		break;
	case 0x11:
	case 0x15: /* offset_extended_sf, val_offset_sf */
		(void)take_number(self, false);
		(void)take_number(self, true);
		break;
	default: /* with factors, which compilers for x86-64 do not use, or unknown */
		self->is_bad = true;
	}
}

/* Run the instructions up to the row of an address. */
static void run(struct table *self, uint64_t at, uint64_t address)
{
	while (self->at < self->end && !self->is_bad) {
		uint8_t what = (uint8_t)take_bytes(self, 1), kind = what >> 6;
		uint64_t by = 0;
		if (kind == 1)
			by = what & 0x3f;
		else if (what >= 0x02 && what <= 0x04) /* advance_loc 1, 2, 4 */
			by = take_bytes(self, 1u << (what - 0x02));
		else if (kind == 2) /* offset */
			(void)take_number(self, false);
		else if (kind == 0)
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
	(void)take_number(self, true); /* the factor for offsets of saved registers */
	if (version == 1)
		(void)take_bytes(self, 1);
	else
		(void)take_number(self, false);
	self->has_more = text[0] == 'z';
	self->is_bad = self->is_bad || length == UINT32_MAX || text[TEXT_MOST - 1] != '\0' ||
		       (text[0] != '\0' && !self->has_more);
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

bool pfs_frames_fixed(uintptr_t address, uint32_t *bytes)
{
	struct dwarf_eh_bases bases;
	struct table self = { .row = { UINT64_MAX, 0 } };
	uint32_t length, back;
	const uint8_t *own = _Unwind_Find_FDE((void *)(address - 1), &bases); /* NOLINT: code */
	if (own == NULL || STACK_POINTER == UINT64_MAX)
		return false;
	memcpy(&length, own, sizeof(length));
	memcpy(&back, own + 4, sizeof(back));
	read_common(&self, own + 4 - back);
	uint64_t begin = (uintptr_t)bases.function;
	if (self.is_bad || length == UINT32_MAX || address_bytes(self.encoding) == 0)
		return false;
	run(&self, begin, UINT64_MAX);
	self.at = own + 8;
	self.end = own + 4 + length;
	skip(&self, 2 * (uint64_t)address_bytes(self.encoding));
	if (self.has_more)
		skip(&self, take_number(&self, false));
	run(&self, begin, address - 1);
	*bytes = (uint32_t)self.row.offset;
	return !self.is_bad && self.row.base_register == STACK_POINTER &&
	       self.row.offset <= UINT32_MAX;
}
