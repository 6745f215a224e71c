/*
 * greet.c - the greeting (version 10), and mysql_native_password.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "mysql.h"

#define CAN_LONG_PASSWORD 0x1u
#define CAN_LONG_FLAG 0x4u
#define CAN_CONNECT_WITH_DB 0x8u
#define CAN_PROTOCOL_41 0x200u
#define CAN_TRANSACTIONS 0x2000u
#define CAN_SECURE 0x8000u
#define CAN_PLUGINS 0x80000u
#define CAN                                                                          \
	(CAN_LONG_PASSWORD | CAN_LONG_FLAG | CAN_CONNECT_WITH_DB | CAN_PROTOCOL_41 | \
	 CAN_TRANSACTIONS | CAN_SECURE | CAN_PLUGINS)
#define UTF8MB4 45u

static const char plugin[] = "mysql_native_password";

/* Without a 0 byte: clients read the scramble as text. */
static bool draw_scramble(uint8_t scramble[PFS_MYSQL_SCRAMBLE])
{
	if (getrandom(scramble, PFS_MYSQL_SCRAMBLE, 0) != (ssize_t)PFS_MYSQL_SCRAMBLE)
		return false;
	for (size_t i = 0; i < PFS_MYSQL_SCRAMBLE; i++)
		scramble[i] = (uint8_t)(scramble[i] % 94 + '!');
	return true;
}

static void send_greeting(struct pfs_mysql *self, const uint8_t *scramble)
{
	static const uint8_t zeroes[10];
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 10, 1);
	pfs_mysql_put(self, PFS_SQL_VERSION, sizeof(PFS_SQL_VERSION));
	pfs_mysql_put_number(self, self->id, 4);
	pfs_mysql_put(self, scramble, 8);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_put_number(self, CAN & 0xFFFF, 2);
	pfs_mysql_put_number(self, UTF8MB4, 1);
	pfs_mysql_put_number(self, 2, 2);
	pfs_mysql_put_number(self, CAN >> 16, 2);
	pfs_mysql_put_number(self, PFS_MYSQL_SCRAMBLE + 1, 1);
	pfs_mysql_put(self, zeroes, sizeof(zeroes));
	pfs_mysql_put(self, scramble + 8, PFS_MYSQL_SCRAMBLE - 8);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_put(self, plugin, sizeof(plugin));
	pfs_mysql_end(self);
	pfs_mysql_flush(self);
}

/* The client's handshake response. Offsets are checked: nothing is read beyond the packet. */
struct answer {
	const uint8_t *proof;
	size_t proof_bytes;
	const char *schema, *plugin; /* "": none */
};

/* The text at *at; *at moves behind its 0. NULL: it does not end in the packet. */
static const char *take_text(const struct pfs_mysql *self, size_t *at)
{
	const char *text = (const char *)self->in + *at;
	const void *end = *at >= self->in_bytes ? NULL : memchr(text, 0, self->in_bytes - *at);
	if (end == NULL)
		return NULL;
	*at += strlen(text) + 1;
	return text;
}

static bool take_answer(struct pfs_mysql *self, struct answer *answer)
{
	size_t at = 32;
	if (self->in_bytes < at)
		return false;
	uint32_t can = self->in[0] | (uint32_t)self->in[1] << 8 | (uint32_t)self->in[2] << 16 |
		       (uint32_t)self->in[3] << 24;
	const char *user = take_text(self, &at);
	if ((can & CAN_PROTOCOL_41) == 0 || (can & CAN_SECURE) == 0 || user == NULL ||
	    at >= self->in_bytes)
		return false;
	(void)strncpy(self->user, user, sizeof(self->user) - 1);
	answer->proof_bytes = self->in[at++];
	answer->proof = self->in + at;
	if (self->in_bytes - at < answer->proof_bytes)
		return false;
	at += answer->proof_bytes;
	answer->schema = (can & CAN_CONNECT_WITH_DB) != 0 ? take_text(self, &at) : "";
	answer->plugin = (can & CAN_PLUGINS) != 0 ? take_text(self, &at) : plugin;
	if (answer->schema == NULL)
		answer->schema = "";
	if (answer->plugin == NULL)
		answer->plugin = "";
	return true;
}

/* The client used another method: ask for this one. */
static bool ask_again(struct pfs_mysql *self, const uint8_t *scramble, struct answer *answer)
{
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 0xFE, 1);
	pfs_mysql_put(self, plugin, sizeof(plugin));
	pfs_mysql_put(self, scramble, PFS_MYSQL_SCRAMBLE);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_end(self);
	pfs_mysql_flush(self);
	if (!pfs_mysql_receive(self, PFS_MYSQL_WAIT_S))
		return false;
	answer->proof = self->in;
	answer->proof_bytes = self->in_bytes;
	return true;
}

/* The proof is sha1(password) ^ sha1(scramble, sha1(sha1(password))). All of it is compared. */
static bool is_proof(const char *password, const uint8_t *scramble, const struct answer *answer)
{
	uint8_t once[20], mixed[PFS_MYSQL_SCRAMBLE + 20], twice[20];
	unsigned differs = 0;
	pfs_sha1(password, strlen(password), once);
	pfs_sha1(once, sizeof(once), mixed + PFS_MYSQL_SCRAMBLE);
	memcpy(mixed, scramble, PFS_MYSQL_SCRAMBLE);
	pfs_sha1(mixed, sizeof(mixed), twice);
	if (answer->proof_bytes != sizeof(once))
		return false;
	for (size_t i = 0; i < sizeof(once); i++)
		differs |= (unsigned)(answer->proof[i] ^ once[i] ^ twice[i]);
	return differs == 0;
}

bool pfs_mysql_greet(struct pfs_mysql *self, const struct pfs_secret *password)
{
	uint8_t scramble[PFS_MYSQL_SCRAMBLE];
	char schema[PFS_MYSQL_NAME_MAX] = "";
	struct answer answer;
	if (!draw_scramble(scramble))
		return false;
	send_greeting(self, scramble);
	if (!pfs_mysql_receive(self, PFS_MYSQL_WAIT_S))
		return false;
	if (!take_answer(self, &answer)) {
		pfs_mysql_error(self, 1043, "08S01", "Bad handshake");
		return false;
	}
	(void)strncpy(schema, answer.schema, sizeof(schema) - 1);
	if (strcmp(answer.plugin, plugin) != 0 && !ask_again(self, scramble, &answer))
		return false;
	if (password->text[0] != '\0' && !is_proof(password->text, scramble, &answer)) {
		(void)usleep(500 * 1000); /* guessing takes time */
		pfs_mysql_error(self, 1045, "28000",
				"Access denied for user '%s'@'%s': the password is that of "
				"--password-file or PFS_MEM_PASSWORD, or the one that the server "
				"printed when it started",
				self->user, self->host);
		return false;
	}
	if (schema[0] != '\0' && !pfs_mysql_use(self, schema))
		return false;
	pfs_mysql_ok(self, 0);
	return true;
}
