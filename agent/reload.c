/*
 * SIGHUP: reads the configuration again. Changed options that are live take effect at once. The log
 * names the others, which need a restart. If the file has a mistake, nothing changes.
 */
#include "agent/agent_private.h"
#include "common/log.h"
#include "common/options_reload.h"

enum { ERROR_OCTETS = 512 };

static void
log_option(void *ctx, const struct option_row *row, bool taken)
{
	unsigned *n = ctx;

	++*n;
	if (taken)
		log_info("agent", "reload: %s is in force", row->name);
	else
		log_warn("agent", "reload: %s changes with the next start only", row->name);
}

void
agent_reload(struct agent *agent)
{
	struct agent_config fresh = {0};
	char error[ERROR_OCTETS];
	unsigned n = 0;

	if (agent->config_file == NULL ||
	    agent_config_load(agent->config_file, &fresh, error, sizeof(error)) < 0) {
		log_error("agent", "reload: %s; everything stays as it was",
		    agent->config_file ? error : "no file");
	} else {
		options_reload(agent_options, agent->live_config, &fresh, log_option, &n);
		log_set_most((enum log_level)agent->config->log_level);
		log_info("agent", "reload: %s read again, %u options changed", agent->config_file,
		    n);
	}
	options_free(agent_options, &fresh);
}
