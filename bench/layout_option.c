#include "layout_option.h"

#include <string.h>

#include <pfslab/variant.h>

#include "base/command_line.h"

static const struct {
	const char *name;
	enum pfs_layout layout;
	bool bare_words;
} words[] = {
	{ "in-record", PFS_LAYOUT_IN_RECORD, false },
	{ "side-by-side", PFS_LAYOUT_SIDE_BY_SIDE, false },
	{ "bare", PFS_LAYOUT_BARE, false },
	{ "bare-words", PFS_LAYOUT_BARE, true },
	{ "own-word", PFS_LAYOUT_OWN_WORD, false },
};
#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

/* Underscores are taken for dashes. */
static bool is_same(const char *text, const char *name)
{
	while (*name != '\0' && (*text == *name || (*text == '_' && *name == '-'))) {
		text++;
		name++;
	}
	return *text == '\0' && *name == '\0';
}

enum pfs_status pfs_layout_option_read(const char *text, enum pfs_layout *layout, bool *bare_words,
				       struct pfs_message *message)
{
	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (is_same(text, words[i].name)) {
			*layout = words[i].layout;
			*bare_words = words[i].bare_words;
			return PFS_OK;
		}
	}
	return pfs_say_why(
		message, PFS_BAD_CONFIG,
		"--layout '%.40s': choose from in-record, side-by-side, bare, bare-words, own-word",
		text);
}

const char *pfs_layout_option_name(enum pfs_layout layout, bool bare_words)
{
	size_t i = 0;

	while (i + 1 < WORD_COUNT &&
	       (words[i].layout != layout || words[i].bare_words != bare_words))
		i++;
	return words[i].name;
}

bool pfs_layout_option_fits(enum pfs_layout layout, bool bare_words, uint32_t traits,
			    uint32_t needed)
{
	if (layout == PFS_LAYOUT_BARE && !bare_words)
		traits &= ~(uint32_t)PFS_TRAIT_WORDS;
	if (layout == PFS_LAYOUT_OWN_WORD && (traits & PFS_TRAIT_OWN_WORD) == 0)
		return false;
	return (traits & needed) == needed;
}

void pfs_layout_option_finish(struct pfs_config *config)
{
	if (config->layout != PFS_LAYOUT_OWN_WORD)
		return;
	config->word_offset = (config->record_size_bytes + 7) / 8 * 8;
	config->record_size_bytes = config->word_offset + 8;
	config->record_align_bytes = 8;
}
