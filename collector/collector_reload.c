/*
 * SIGHUP: the configuration and the file of device names are read again. Live options take effect at once; the log
 * names the others. If a file has a mistake, the log says so and nothing changes.
 */
#include "collector/collector.h"
#include "collector/collector_alarms.h"
#include "collector/collector_poll.h"
#include "collector/collector_private.h"
#include "collector/collector_settings.h"
#include "collector/store/agent_sources.h"
#include "common/log.h"
#include "common/options_reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "easecapd"

enum { ERROR_OCTETS = 512 };

static void
tell_option(void *ctx, const struct option_row *row, bool taken)
{
	unsigned *n = ctx;
	char name[64];

	snprintf(name, sizeof(name), row->group ? "%s: %s" : "%s", row->group ? row->group : row->name,
	    row->group ? row->name + strlen(row->group) + 1 : "");
	++*n;
	if (taken)
		log_info(ROOM, "reload: %s is in force", name);
	else
		log_warn(ROOM, "reload: %s changes with the next start only", name);
}

/* Added addresses and communities are accepted from here on, without a lost datagram; removed ones
 * are refused. */
static void
change_senders(struct collector *c, struct prefix *senders)
{
	const struct collector_config *config = c->config;
	const char *const *communities = (const char *const *)config->communities.items;

	input_allow(c->input, senders, config->senders.n, communities, config->communities.n);
	slow_path_allow(c->slow_path, communities, config->communities.n);
	free(c->senders);
	c->senders = senders;
}

/* Takes the rules, and the sources that agents are bound to as the store has them now: one may have
 * been forgotten by hand. */
static int
change_agent_sources(struct collector *c)
{
	struct store_agent_source *sources;
	char error[ERROR_OCTETS];
	size_t n;
	int r = agent_sources_read(c->config->store, &sources, &n, error, sizeof(error));

	accounting_set_sources(c->accounting, &(struct agent_source_rules){c->devices.sources, c->devices.n_sources});
	if (r < 0)
		log_error(ROOM, "reload: cannot read the agents' sources: %s; they stay as they were", error);
	else
		accounting_bind_sources(c->accounting, sources, n);
	input_forget_sources(c->input);
	free(sources);
	return r;
}

static int
change_forward(struct collector *c)
{
	const struct option_list *forward = &c->config->forward;
	int r = forward_set(c->forward, (const char *const *)forward->items, forward->n);

	if (r < 0)
		log_error(ROOM, "reload: forward: %s; sFlow goes on to where it went before", strerror(-r));
	return r;
}

static int
change_poll(struct collector *c)
{
	int r = collector_poll_change(c);

	if (r == -EAGAIN)
		log_warn(ROOM, "reload: poll: nobody was asked so far; switches are asked from the next start on");
	else if (r < 0)
		log_error(ROOM, "reload: poll: %s; switches are asked as before", strerror(-r));
	return r == -EAGAIN ? 0 : r;
}

/* Takes the names, the uplinks, which hold for each port from its next state on, and who may speak for whom. */
static int
change_devices(struct collector *c, struct collector_devices *devices)
{
	struct collector_devices before = c->devices;
	int r;

	c->devices = *devices;
	store_set_naming(c->store, c->devices.naming);
	c->devices.naming = NULL;
	accounting_set_uplinks(c->accounting, &(struct uplink_rules){c->devices.uplinks, c->devices.n_uplinks});
	r = change_agent_sources(c);
	collector_devices_free(&before);
	return r;
}

/* After a failure it is unknown which users are in force, so all of them are set again. */
static int
change_users(struct collector *c, const struct v3_user *before, size_t n_before, const struct v3_user *users)
{
	char engine_file[COLLECTOR_PATH_OCTETS], error[ERROR_OCTETS];
	size_t n = c->config->users.n;
	int r;

	collector_engine_file(c->config, engine_file);
	r = slow_path_change_users(c->slow_path, before, n_before, users, n, engine_file, error, sizeof(error));
	if (r == 0 && c->users_missing)
		r = slow_path_change_users(c->slow_path, NULL, 0, users, n, engine_file, error, sizeof(error));
	c->users_missing = r < 0;
	if (r < 0)
		log_error(ROOM, "reload: %s; not all users are in force; SIGHUP tries again", error);
	return r;
}

/* devices become the collector's. */
static void
take_over(struct collector *c, struct collector_config *fresh, struct collector_devices *devices)
{
	struct prefix *senders = collector_prefixes(&fresh->senders);
	struct v3_user *before = collector_v3_users(c->config), *users = collector_v3_users(fresh);
	size_t n_before = c->config->users.n;
	unsigned n = 0;
	int r;

	if (!senders || !before || !users) {
		log_error(ROOM, "reload: out of memory; everything stays as it was");
		stat_add(&c->stats, COLLECTOR_STAT_RELOADS_REFUSED, 1);
		free(senders);
		collector_devices_free(devices);
	} else {
		struct store_retention retention;

		options_reload(collector_options, c->options->live_config, fresh, tell_option, &n);
		retention = collector_retention(c->config);
		change_senders(c, senders);
		if (collector_set_alarms(c) < 0)
			log_error(ROOM, "reload: out of memory; the alarms stay as they were");
		r = change_users(c, before, n_before, users);
		if (change_devices(c, devices) < 0)
			r = -EIO;
		if (change_forward(c) < 0)
			r = -EIO;
		if (change_poll(c) < 0)
			r = -EIO;
		store_set_retention(c->store, &retention);
		accounting_set_forget(c->accounting, retention.forget_us);
		log_set_most((enum log_level)c->config->log_level);
		if (collector_takes_notifications(c->config) && !input_receiver(c->input))
			log_warn(ROOM, "reload: SNMP is received from the next start on only");
		if (c->reloaded)
			c->reloaded(c->reloaded_arg);
		stat_add(&c->stats, r == 0 ? COLLECTOR_STAT_RELOADS : COLLECTOR_STAT_RELOADS_REFUSED, 1);
		log_info(ROOM, "reload: %s read again, %u options changed", c->options->config_file, n);
	}
	free(before);
	free(users);
}

void
collector_reload(struct collector *c)
{
	const char *file = c->options->config_file;
	struct collector_config fresh = {0};
	struct collector_devices devices = {0};
	char error[ERROR_OCTETS] = "there is no file";

	c->reload_wanted = false;
	if (file && collector_config_load(file, &fresh, error, sizeof(error)) == 0 &&
	    collector_devices_read(&fresh, &devices, error, sizeof(error)) == 0) {
		take_over(c, &fresh, &devices);
	} else {
		collector_devices_free(&devices);
		stat_add(&c->stats, COLLECTOR_STAT_RELOADS_REFUSED, 1);
		log_error(ROOM, "reload: %s; everything stays as it was", error);
	}
	collector_config_free(&fresh);
}
