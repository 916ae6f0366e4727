/*
 * SIGHUP: the configuration is read again. What is live is in force at once; of what is not, and
 * of a file with a mistake in it, the log says so and everything goes on as it was.
 */
#include "collector/capd_private.h"
#include "common/log.h"
#include "common/options_reload.h"

#define ROOM "easecapd"

enum { ERROR_OCTETS = 512 };

static void
tell(void *ctx, const struct option_row *row, bool taken)
{
	unsigned *n = ctx;

	++*n;
	if (taken)
		log_info(ROOM, "reload: %s is in force", row->name);
	else
		log_warn(ROOM, "reload: %s changes with the next start only", row->name);
}

void
capd_reload(struct capd *c)
{
	const char *file = c->options->config_file;
	struct collector_config fresh = {0};
	char error[ERROR_OCTETS] = "no file";
	unsigned n = 0;

	if (!file || collector_config_load(file, &fresh, error, sizeof(error)) < 0) {
		log_error(ROOM, "reload: %s; everything stays as it was", error);
	} else {
		options_reload(collector_options, c->options->live_config, &fresh, tell, &n);
		log_set_most((enum log_level)c->config->log_level);
		log_info(ROOM, "reload: %s read again, %u options changed", file, n);
	}
	collector_config_free(&fresh);
}
