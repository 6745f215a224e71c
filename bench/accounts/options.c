#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct accounts_option *find(const char *argument,
					  const struct accounts_option *options, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (strncmp(argument, options[i].name, strlen(options[i].name)) == 0)
			return &options[i];
	return NULL;
}

static void take(const char *program, const char *argument, const struct accounts_option *option)
{
	const char *text = argument + strlen(option->name);
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < 1 || number > option->most) {
		(void)fprintf(stderr, "%s: %s: must be 1 .. %u\n", program, argument, option->most);
		exit(2);
	}
	*option->value = (uint32_t)number;
}

void accounts_options(const char *program, int argc, char **argv,
		      const struct accounts_option *options, uint32_t count)
{
	for (int i = 1; i < argc; i++) {
		const struct accounts_option *option = find(argv[i], options, count);
		if (option == NULL) {
			(void)fprintf(stderr, "%s: %s: no such option; there are", program,
				      argv[i]);
			for (uint32_t j = 0; j < count; j++)
				(void)fprintf(stderr, " %sN", options[j].name);
			(void)fprintf(stderr, "\n");
			exit(2);
		}
		take(program, argv[i], option);
	}
}
