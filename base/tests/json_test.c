/*
 * json_test.c - what base/json.h writes: nesting, lines, escapes, numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static int failures;

/* Ends the document and compares it. */
static void expect(struct pfs_json *json, char **text, const char *expected)
{
	while (json->depth != 0)
		pfs_json_end(json);
	if (fclose(json->out) == 0 && strcmp(*text, expected) == 0)
		return;
	failures++;
	(void)printf("FAILED: expected\n%sfound\n%s", expected, *text);
}

static void write_all(struct pfs_json *json, bool has_lines)
{
	pfs_json_object(json, NULL);
	if (has_lines)
		pfs_json_lines(json);
	pfs_json_array(json, "none");
	pfs_json_lines(json);
	pfs_json_end(json);
	pfs_json_array(json, "numbers");
	pfs_json_integer(json, NULL, INT64_MIN);
	pfs_json_count(json, NULL, UINT64_MAX);
	pfs_json_real(json, NULL, 6, 0.1234567);
	pfs_json_fixed(json, NULL, 2, 2);
	pfs_json_real(json, NULL, 6, (double)INFINITY);
	pfs_json_fixed(json, NULL, 2, (double)NAN);
	pfs_json_end(json);
	pfs_json_object(json, "inner");
	pfs_json_lines(json);
	pfs_json_bool(json, "true", true);
	pfs_json_bool(json, "false", false);
	pfs_json_end(json);
	pfs_json_text(json, "text", "a\"b\\c\n\x01<&>\xC3\xA9");
	pfs_json_bytes(json, "cut", "x\xC3\xA9", 2);
	pfs_json_text(json, "no \"text\"", NULL);
}

int main(void)
{
	static const char *const expected[] = {
		"{\"none\": [], \"numbers\": [-9223372036854775808, 18446744073709551615, "
		"0.123457, 2.00, null, null], \"inner\": {\n  \"true\": true,\n  \"false\": false\n"
		" }, \"text\": \"a\\\"b\\\\c\\u000a\\u0001<&>\xC3\xA9\", \"cut\": \"x?\", "
		"\"no \\\"text\\\"\": null}\n",
		"{\n\"none\":[],\n\"numbers\":[-9223372036854775808,18446744073709551615,"
		"0.123457,2.00,null,null],\n\"inner\":{\n\"true\":true,\n\"false\":false\n},\n"
		"\"text\":\"a\\\"b\\\\c\\u000a\\u0001\\u003c\\u0026\\u003e\xC3\xA9\",\n"
		"\"cut\":\"x?\",\n\"no \\\"text\\\"\":null\n}\n"
	};
	for (int i = 0; i < 2; i++) {
		char *text = NULL;
		size_t bytes = 0;
		struct pfs_json json = { .out = open_memstream(&text, &bytes),
					 .is_compact = i == 1,
					 .is_in_html = i == 1 };
		if (json.out == NULL)
			return 1;
		write_all(&json, i == 1);
		expect(&json, &text, expected[i]);
		free(text);
	}
	if (failures == 0)
		(void)printf("both documents are as expected\n");
	return failures != 0;
}
