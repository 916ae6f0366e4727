/* Any text is a file of device names that can be asked, and whose rows read the same again, or a mistake with its line. */
#include "collector/filter/device_names.h"
#include "common/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t id[EASE_AGENT_ID_LEN] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
static const char *const addresses[] = {"10.20.1.1", "2001:db8::1", "", "nowhere"};
static const char *const ports[] = {"ge-7", "", "Ethernet1/1"};

static void
check_text(const char *text)
{
	if (text && (strlen(text) > EASE_NAME_MAX || !utf8_is_valid(text)))
		abort();
}

/* What the names say of some devices, one after the other. */
static char *
ask(const struct device_names *names)
{
	char *answers = NULL, name[EASE_NAME_MAX + 1];
	const char *site;
	size_t octets;
	FILE *out = open_memstream(&answers, &octets);

	for (size_t a = 0; a < sizeof(addresses) / sizeof(addresses[0]); a++) {
		struct device_names_agent agent;

		device_names_of_agent(names, id, addresses[a], &agent);
		check_text(agent.name);
		check_text(agent.site);
		if (agent.site && !device_names_has_site(names, agent.site))
			abort();
		fprintf(out, "%s %s\n", agent.name ? agent.name : "", agent.site ? agent.site : "");
		for (size_t p = 0; p < sizeof(ports) / sizeof(ports[0]); p++) {
			device_names_of_port(names, &agent, 7, ports[p], name, &site);
			check_text(name);
			check_text(site);
			fprintf(out, "%s %s\n", name, site ? site : "");
		}
	}
	fclose(out);
	return answers;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct device_names *names, *again = device_names_create();
	char error[DEVICE_NAMES_ERROR] = "", *answers, *answers_again;

	if (device_names_parse("fuzz", (const char *)data, size, &names, error) < 0) {
		if (names || strncmp(error, "fuzz:", 5) != 0 || strlen(error) >= DEVICE_NAMES_ERROR - 1)
			abort();
		device_names_destroy(again);
		return 0;
	}
	for (size_t i = 0; i < device_names_n_rows(names); i++)
		if (device_names_add(again, (unsigned)i + 1, device_names_row(names, i), error) != 0)
			abort();
	if (device_names_finish(again, error) != 0)
		abort();
	answers = ask(names);
	answers_again = ask(again);
	if (strcmp(answers, answers_again) != 0)
		abort();
	free(answers);
	free(answers_again);
	device_names_destroy(names);
	device_names_destroy(again);
	return 0;
}
