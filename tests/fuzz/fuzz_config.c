/* Any text as either daemon's configuration: refused with a reason, or taken, and then what is printed
 * of it is taken again. */
#include "agent/config.h"
#include "collector/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union config {
	struct agent_config agent;
	struct collector_config collector;
};

static int
load(bool agent, int fd, union config *config, char *error, size_t error_size)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	memset(config, 0, sizeof(*config));
	return agent ? agent_config_load(path, &config->agent, error, error_size)
		     : collector_config_load(path, &config->collector, error, error_size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool agent = size > 0 && data[0] == 'a';
	const struct option_row *options = agent ? agent_options : collector_options;
	int fd = memfd_create("fuzz", 0), printed = memfd_create("printed", 0);
	FILE *out = fdopen(printed, "w");
	char error[512] = "";
	union config config, again;

	if (fd < 0 || !out || (size > 0 && write(fd, data + 1, size - 1) < 0))
		abort();
	if (load(agent, fd, &config, error, sizeof(error)) == 0) {
		options_print(out, options, &config);
		fflush(out);
		if (load(agent, printed, &again, error, sizeof(error)) != 0)
			abort();
		options_free(options, &again);
	} else if (!error[0]) {
		abort();
	}
	options_free(options, &config);
	fclose(out);
	close(fd);
	return 0;
}
