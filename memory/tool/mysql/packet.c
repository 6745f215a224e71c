/*
 * packet.c - packets of MySQL's protocol: 3 bytes of length, 1 of sequence, and what they carry.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/now.h"
#include "mysql.h"

#define SEND_BYTES (64u * 1024)
#define STATUS 2u /* autocommit */

/* ---- receiving ---- */

/* All of them, by a moment of the monotonic clock, however slowly they come. */
static bool receive_all(struct pfs_mysql *self, uint8_t *to, size_t bytes, uint64_t end_ns)
{
	for (size_t got = 0; got < bytes;) {
		struct pollfd poll_one = { .fd = self->socket, .events = POLLIN };
		uint64_t now_ns = pfs_now_ns(CLOCK_MONOTONIC);
		if (now_ns >= end_ns)
			return false;
		int ready = poll(&poll_one, 1, (int)((end_ns - now_ns) / 1000000) + 1);
		if (ready == 0 || (ready < 0 && errno == EINTR))
			continue;
		ssize_t count = ready < 0 ? 0 : recv(self->socket, to + got, bytes - got, 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		got += (size_t)count;
	}
	return true;
}

static uint64_t in_seconds(unsigned seconds)
{
	return pfs_now_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000);
}

bool pfs_mysql_receive(struct pfs_mysql *self, unsigned wait_s)
{
	uint8_t head[4];
	/* The wait is for the first byte; the rest has a time of its own. */
	if (self->has_failed || !receive_all(self, head, 1, in_seconds(wait_s)))
		return false;
	uint64_t end_ns = in_seconds(PFS_MYSQL_WAIT_S);
	if (!receive_all(self, head + 1, sizeof(head) - 1, end_ns))
		return false;
	size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
	self->sequence = self->unsent = (uint8_t)(head[3] + 1);
	if (bytes > PFS_MYSQL_PACKET_MAX) {
		pfs_mysql_error(self, 1153, "08S01",
				"Got a packet bigger than 'max_allowed_packet' bytes");
		pfs_mysql_flush(self);
		return false;
	}
	uint8_t *in = realloc(self->in, bytes + 1);
	if (in == NULL)
		return false;
	self->in = in;
	self->in_bytes = bytes;
	self->in[bytes] = '\0';
	return receive_all(self, self->in, bytes, end_ns);
}

/* ---- sending ---- */

void pfs_mysql_flush(struct pfs_mysql *self)
{
	size_t sent = 0;
	self->is_sending = true;
	while (!self->has_failed && sent < self->out_bytes) {
		ssize_t count = send(self->socket, self->out + sent, self->out_bytes - sent,
				     MSG_NOSIGNAL);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) /* gone, or not reading for PFS_MYSQL_WAIT_S */
			self->has_failed = true;
		else
			sent += (size_t)count;
	}
	self->out_bytes = 0;
	self->unsent = self->sequence;
	self->is_sending = false;
}

void pfs_mysql_put(struct pfs_mysql *self, const void *bytes, size_t count)
{
	if (self->out_room - self->out_bytes < count) {
		size_t room = (self->out_room + count) * 2;
		uint8_t *out = self->has_failed ? NULL : realloc(self->out, room);
		if (out == NULL) {
			self->has_failed = true;
			return;
		}
		self->out = out;
		self->out_room = room;
	}
	memcpy(self->out + self->out_bytes, bytes, count);
	self->out_bytes += count;
}

void pfs_mysql_begin(struct pfs_mysql *self)
{
	if (self->out_bytes >= SEND_BYTES)
		pfs_mysql_flush(self);
	self->out_begin = self->out_bytes;
	pfs_mysql_put(self, "\0\0\0", 4);
}

void pfs_mysql_end(struct pfs_mysql *self)
{
	if (self->has_failed)
		return;
	size_t bytes = self->out_bytes - self->out_begin - 4;
	uint8_t *head = self->out + self->out_begin;
	if (bytes >= 0xFFFFFF) { /* impossible: SQLite's limits bound values */
		self->has_failed = true;
		return;
	}
	head[0] = (uint8_t)bytes;
	head[1] = (uint8_t)(bytes >> 8);
	head[2] = (uint8_t)(bytes >> 16);
	head[3] = self->sequence++;
}

void pfs_mysql_put_number(struct pfs_mysql *self, uint64_t number, unsigned bytes)
{
	uint8_t little[8];
	for (unsigned i = 0; i < bytes; i++)
		little[i] = (uint8_t)(number >> 8 * i);
	pfs_mysql_put(self, little, bytes);
}

void pfs_mysql_put_length(struct pfs_mysql *self, uint64_t number)
{
	if (number < 251) {
		pfs_mysql_put_number(self, number, 1);
	} else if (number < 1u << 16) {
		pfs_mysql_put_number(self, 0xFC | number << 8, 3);
	} else if (number < 1u << 24) {
		pfs_mysql_put_number(self, 0xFD | number << 8, 4);
	} else {
		pfs_mysql_put_number(self, 0xFE, 1);
		pfs_mysql_put_number(self, number, 8);
	}
}

void pfs_mysql_put_text(struct pfs_mysql *self, const char *text)
{
	size_t bytes = strlen(text);
	pfs_mysql_put_length(self, bytes);
	pfs_mysql_put(self, text, bytes);
}

/* ---- the packets that end an answer ---- */

void pfs_mysql_ok(struct pfs_mysql *self, uint64_t affected)
{
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_put_length(self, affected);
	pfs_mysql_put_length(self, 0);
	pfs_mysql_put_number(self, STATUS, 4); /* no warnings */
	pfs_mysql_end(self);
}

void pfs_mysql_eof(struct pfs_mysql *self)
{
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 0xFE, 3); /* no warnings */
	pfs_mysql_put_number(self, STATUS, 2);
	pfs_mysql_end(self);
}

void pfs_mysql_error(struct pfs_mysql *self, unsigned code, const char *state, const char *format,
		     ...)
{
	char text[512];
	va_list list;
	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	(void)pfs_one_line(text);
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 0xFF, 1);
	pfs_mysql_put_number(self, code, 2);
	pfs_mysql_put(self, "#", 1);
	pfs_mysql_put(self, state, 5);
	pfs_mysql_put(self, text, strlen(text));
	pfs_mysql_end(self);
}
