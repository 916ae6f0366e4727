/* Any text is a configuration or a mistake with a message; a good one prints and parses again. */
#include "common/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct config {
	char *title, *text;
	uint32_t number;
	struct option_list list;
	struct option_sections sections;
};

#define AT(member) offsetof(struct config, member)
static const struct option_row section[] = {
    {.name = "number", .type = OPTION_U32, .offset = AT(number), .max = 9}, {0}};
static const struct option_row table[] = {
    {.name = "number", .type = OPTION_U32, .offset = AT(number), .min = 1, .max = 99, .def = "5"},
    {.name = "text", .type = OPTION_STRING, .offset = AT(text)},
    {.name = "list", .type = OPTION_LIST, .offset = AT(list), .max = 4},
    {.name = "section", .type = OPTION_SECTION, .offset = AT(sections), .section = section,
	.section_size = sizeof(struct config), .section_title_offset = AT(title)},
    {0}};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = {0}, again = {0};
	char error[256] = "", *text = strndup((const char *)data, size), *printed = NULL;
	FILE *out = open_memstream(&printed, &(size_t){0});

	if (options_parse("fuzz", text, table, &config, error, sizeof(error)) == 0) {
		options_print(out, table, &config);
		fflush(out);
		if (options_parse("print", printed, table, &again, error, sizeof(error)) != 0)
			abort();
	} else if (!error[0]) {
		abort();
	}
	fclose(out);
	options_free(table, &config);
	options_free(table, &again);
	free(printed);
	free(text);
	return 0;
}
