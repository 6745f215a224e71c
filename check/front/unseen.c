#define _GNU_SOURCE
#include "check/front/unseen.h"

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>

#define ENTRIES 2048

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden"))); /* pfs-check's own */
#ifdef __x86_64__
#define ENTRY_BYTES 16
#else
#define ENTRY_BYTES 32
#endif
extern const char pfs_unseen_entries[];
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

uint64_t pfs_unseen_calls;
void *pfs_unseen_targets[ENTRIES];
static uint32_t used;

/* clang-format off */
/* Entry n counts, and goes on in target n. It changes no register that a call passes. */
#ifdef __x86_64__
#define ENTRY \
	"	incq pfs_unseen_calls(%rip)\n" \
	"	jmp *pfs_unseen_targets+pfs_unseen_at(%rip)\n"
#else
#define ENTRY \
	"	adrp x16, pfs_unseen_calls\n" \
	"	ldr x17, [x16, :lo12:pfs_unseen_calls]\n" \
	"	add x17, x17, 1\n" \
	"	str x17, [x16, :lo12:pfs_unseen_calls]\n" \
	"	adrp x16, pfs_unseen_targets+pfs_unseen_at\n" \
	"	ldr x16, [x16, :lo12:pfs_unseen_targets+pfs_unseen_at]\n" \
	"	br x16\n"
#endif
#define ALIGN "	.balign " TEXT(ENTRY_BYTES) "\n"
__asm__("	.text\n" ALIGN
	"	.hidden pfs_unseen_entries\n"
	"	.globl pfs_unseen_entries\n"
	"pfs_unseen_entries:\n"
	"	.set pfs_unseen_at, 0\n"
	"	.rept " TEXT(ENTRIES) "\n" ENTRY ALIGN
	"	.set pfs_unseen_at, pfs_unseen_at + 8\n"
	"	.endr\n");
/* clang-format on */

/* They change nothing that the program sees. Not printf: %n writes, and a stream may be memory. */
static const char *const harmless[] = { "__errno_location",
					"pthread_equal",
					"thrd_equal",
					"puts",
					"putchar",
					"perror",
					"getpid",
					"sysconf",
					"__gxx_personality_v0",
					NULL };

static bool is_harmless(const char *name)
{
	for (const char *const *at = harmless; *at != NULL; at++) {
		if (strcmp(*at, name) == 0)
			return true;
	}
	return false;
}

static void *entry(uint32_t number)
{
	return (void *)(uintptr_t)(pfs_unseen_entries + number * ENTRY_BYTES);
}

static bool is_code(const char *library, const void *address)
{
	const Elf64_Ehdr *head = (const void *)library;
	const Elf64_Phdr *part = (const void *)(library + head->e_phoff);
	uintptr_t offset = (uintptr_t)address - (uintptr_t)library;
	for (uint32_t i = 0; i < head->e_phnum; i++, part++) {
		if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
		    offset - part->p_vaddr < part->p_memsz)
			return true;
	}
	return false;
}

/* What the library itself has chosen, such as for this processor, has no symbol. */
static bool is_function(const Elf64_Sym *symbol, const Dl_info *about, const void *address)
{
	return symbol != NULL ? ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
			      : is_code(about->dli_fbase, address);
}

void *pfs_unseen_entry(const char *name, void *function, bool is_call)
{
	Dl_info about;
	const Elf64_Sym *symbol = NULL;
	bool is_known = function != NULL &&
			dladdr1(function, &about, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) != 0;
	if (function == NULL || is_harmless(name) || used == ENTRIES ||
	    (is_known && about.dli_fbase == (const void *)&__ehdr_start) ||
	    (!is_call && !(is_known && is_function(symbol, &about, function))))
		return NULL;
	for (uint32_t i = 0; i < used; i++) {
		if (pfs_unseen_targets[i] == function)
			return entry(i);
	}
	pfs_unseen_targets[used] = function;
	return entry(used++);
}

bool pfs_unseen_is_full(void)
{
	return used == ENTRIES;
}
