/* SPDX-License-Identifier: GPL-2.0-only */
/* pfslab_accounts.cc - see pfslab_accounts.h. */
#include "pfslab_accounts.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <unistd.h>

namespace pfslab
{

char accounts_on = 0;
std::atomic<pfs_books *> accounts_books{ nullptr };

namespace
{

constexpr unsigned key_max = 4096;    /* the server allows 1,024 */
constexpr size_t builtin_max = 128;   /* it has about 70 */
constexpr size_t name_bytes = 128;    /* of the library, as it cuts */
constexpr uint32_t instruments = 400; /* the server's default of 320, and its own */
constexpr uint32_t is_global_bit = 1;

/* By the server's key: the library's, times two, and is_global_bit. 0: not registered. */
std::atomic<uint32_t> keys[key_max];

struct Builtin {
	const char *name;
	pfs_memory_key key;
	uint32_t reference;     /* the same for all blocks: the cell of the life "server" */
	uint64_t blocks, bytes; /* that are counted */
};

/* The life "server" has no thread of its own: who counts under it holds this. Frees do not need it,
 * because they count as those of another thread. */
std::mutex server_lock;
pfs_memory_thread *server_life;
Builtin builtins[builtin_max];

bool is_opened;
pid_t opened_by;

pfs_memory_key key_of(unsigned key)
{
	/* relaxed: the server gives a key away after it has registered it. */
	return key < key_max ? keys[key].load(std::memory_order_relaxed) >> 1 : 0;
}

/* A server that ends by exit leaves no box; its threads may still count meanwhile. */
void remove_box()
{
	if (getpid() == opened_by)
		(void)unlink(pfs_memory_path(accounts_now()));
}

/* A reference that does not fit into the word stays uncounted. There is none: 262,144 cells of 384
 * bytes have 22 bits of lines, and as much again. */
uint32_t fitting(pfs_memory_note note, size_t bytes)
{
	if (note.reference >> note_bits == 0)
		return note.reference;
	pfs_memory_freed(accounts_now(), nullptr, note, bytes);
	return 0;
}

/* The Performance Schema's class of this name; NULL: no room. server_lock. */
Builtin *builtin_of(const char *name)
{
	for (Builtin &builtin : builtins) {
		if (builtin.name == name)
			return &builtin;
		if (builtin.name == nullptr) {
			builtin.name = name;
			builtin.key = pfs_memory_register(accounts_now(), name);
			return &builtin;
		}
	}
	return nullptr;
}

void copy(char *to, size_t room, Text from)
{
	size_t length = from.length < room ? from.length : room - 1;
	if (length != 0)
		memcpy(to, from.bytes, length);
	to[length] = '\0';
}

/* An account's names as the library takes them; NULL: none. */
class Names
{
      public:
	Names(Text user, Text host)
	{
		copy(user_, sizeof(user_), user);
		copy(host_, sizeof(host_), host);
	}

	const char *user() const
	{
		return user_[0] != '\0' ? user_ : nullptr;
	}
	const char *host() const
	{
		return host_[0] != '\0' ? host_ : nullptr;
	}

      private:
	char user_[name_bytes], host_[2 * name_bytes];
};

} // namespace

void accounts_open()
{
	if (is_opened || !accounts_on)
		return;
	is_opened = true;
	pfs_memory_config config;
	pfs_memory_config_init(&config);
	config.instruments_max = instruments;
	pfs_books *books;
	pfs_message message;
	if (pfs_memory_open(&config, &books, &message) != PFS_OK) {
		fprintf(stderr, "pfslab: --pfslab-accounts: %s; the server runs without\n",
			message.text);
		return;
	}
	opened_by = getpid();
	server_life = pfs_memory_thread_begin(books, "server", nullptr, nullptr, true);
	/* [R1] release, pairs with [R2]: the books and the life "server". */
	accounts_books.store(books, std::memory_order_release);
	(void)atexit(remove_box);
	fprintf(stderr, "pfslab: accounts are in %s\n", pfs_memory_path(books));
}

void accounts_register(const char *category, const char *name, unsigned key, bool is_global)
{
	char full[2 * name_bytes];
	if (key == 0 || key >= key_max)
		return;
	int length = snprintf(full, sizeof(full), "memory/%s/%s", category, name);
	if (length < 0)
		return;
	full[name_bytes - 1] = '\0';
	uint32_t ours = pfs_memory_register(accounts_now(), full);
	/* relaxed: as in key_of. */
	keys[key].store(ours << 1 | (is_global ? is_global_bit : 0), std::memory_order_relaxed);
}

bool accounts_charge_thread(unsigned key)
{
	/* relaxed: as in key_of. */
	return key < key_max && (keys[key].load(std::memory_order_relaxed) & is_global_bit) == 0;
}

pfs_memory_thread *accounts_begin(Text thread, Text user, Text host)
{
	static const char prefix[] = "thread/"; /* the box has 23 bytes for a name */
	char name[name_bytes];
	copy(name, sizeof(name), thread);
	bool has_prefix = strncmp(name, prefix, sizeof(prefix) - 1) == 0;
	Names names(user, host);
	return pfs_memory_thread_begin(accounts_now(), name + (has_prefix ? sizeof(prefix) - 1 : 0),
				       names.user(), names.host(), true);
}

bool accounts_move(pfs_memory_thread *life, Text user, Text host)
{
	Names names(user, host);
	return pfs_memory_thread_account(life, names.user(), names.host());
}

uint32_t accounts_allocated(pfs_memory_thread *life, unsigned key, size_t bytes)
{
	pfs_memory_key ours = key_of(key);
	if (ours == 0)
		return 0;
	if (life != nullptr)
		return fitting(pfs_memory_allocated(life, ours, bytes), bytes);
	std::lock_guard<std::mutex> guard(server_lock);
	return fitting(pfs_memory_allocated(server_life, ours, bytes), bytes);
}

uint32_t accounts_resized(pfs_memory_thread *life, unsigned key, uint32_t reference, size_t before,
			  size_t after)
{
	pfs_memory_note note = { reference, 0 };
	if (reference == 0)
		return accounts_allocated(life, key, after);
	if (life != nullptr)
		return fitting(pfs_memory_resized(accounts_now(), life, note, before, after),
			       after);
	std::lock_guard<std::mutex> guard(server_lock);
	return fitting(pfs_memory_resized(accounts_now(), server_life, note, before, after), after);
}

void accounts_freed(pfs_memory_thread *life, uint32_t reference, size_t bytes)
{
	if (reference != 0)
		pfs_memory_freed(accounts_now(), life, { reference, 0 }, bytes);
}

void builtin_allocated(const char *name, size_t bytes)
{
	accounts_open();
	if (accounts_now() == nullptr)
		return;
	std::lock_guard<std::mutex> guard(server_lock);
	Builtin *builtin = builtin_of(name);
	if (builtin == nullptr)
		return;
	pfs_memory_note note = pfs_memory_allocated(server_life, builtin->key, bytes);
	if (note.reference == 0)
		return;
	builtin->reference = note.reference;
	builtin->blocks++;
	builtin->bytes += bytes;
}

void builtin_freed(const char *name, size_t bytes)
{
	if (accounts_now() == nullptr)
		return;
	std::lock_guard<std::mutex> guard(server_lock);
	Builtin *builtin = builtin_of(name);
	if (builtin == nullptr || builtin->blocks == 0 || builtin->bytes < bytes)
		return;
	builtin->blocks--;
	builtin->bytes -= bytes;
	pfs_memory_freed(accounts_now(), server_life, { builtin->reference, 0 }, bytes);
}

} // namespace pfslab
