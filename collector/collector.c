#include "collector/collector.h"

#include "collector/alarm/alarm_outbox.h"
#include "collector/alarm/alarms.h"
#include "collector/collector_alarms.h"
#include "collector/collector_poll.h"
#include "collector/collector_private.h"
#include "collector/collector_settings.h"
#include "collector/poll/poll.h"
#include "common/log.h"
#include "common/service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ROOM "easecapd"

enum {
	/* Datagrams read before the loop checks time and signals again: some milliseconds. */
	READ_DATAGRAMS = 2048,
	/* While informs wait for their replies, a batch is flushed at least this often, and the
	 * store is polled in between: senders repeat an inform without a reply after a second. */
	INFORM_FLUSH_MS = 50,
	INFORM_POLL_MS = 2,
	/* The service manager is notified at least this often. */
	ALIVE_MS = 2000,
	/* Datagrams read at the stop: as many of the smallest ones as the sockets' buffers hold. */
	LAST_DATAGRAMS = 1 << 18,
	/* Attempts if such a read fails, because the rest is lost with the socket. */
	LAST_TRIES = 3,
};

enum {
	/* Rows for the collector's own counters in each batch. */
	STAT_ROWS = 512,
	PRECISION_ROWS = 4096, /* a port each (STEERING_PORTS_MAX) */
	LINKS_A_BATCH = 1024, /* that LLDP told; further ones come with the next reading of neighbours */
};

/* NTP never adjusts a clock by this much between two checks. */
#define CLOCK_STEP_US 1000000

static const struct stat_name stat_names[COLLECTOR_N_STATS] = {
    [COLLECTOR_STAT_FLUSHES_POSTPONED] = {"easecapd.flushes_postponed",
	"times a due batch was not flushed because the store was behind"},
    [COLLECTOR_STAT_CLOCK_STEPS] = {"easecapd.clock_steps",
	"times the system's clock was set by more than a second"},
    [COLLECTOR_STAT_RELOADS] = {"easecapd.reloads", "times the configuration was read again"},
    [COLLECTOR_STAT_RELOADS_REFUSED] = {"easecapd.reloads_refused",
	"times the configuration could not be read again, or only in part; the log has the reason"},
    [COLLECTOR_STAT_STARTED] = {"started_us",
	"time when this collector started; counters count from then"},
};

enum { STAT_SETS = COLLECTOR_STAT_SETS };

void
collector_stat_sets(const struct collector *c, const struct stat_set *sets[COLLECTOR_STAT_SETS])
{
	static const struct stat_set none = {0};

	sets[0] = &c->stats;
	sets[1] = input_stats(c->input);
	sets[2] = accounting_stats(c->accounting);
	sets[3] = accounting_window_stats(c->accounting);
	sets[4] = c->store ? store_stats(c->store) : &none;
	sets[5] = input_sflow_stats(c->input);
	sets[6] = input_sflow_unread_stats(c->input);
	sets[7] = slow_path_stats(c->slow_path);
	sets[8] = c->tap ? tap_stats(c->tap) : &none;
	sets[9] = alarms_stats(c->alarms);
	sets[10] = forward_stats(c->forward);
	sets[11] = c->poller ? poll_stats(c->poller) : &none;
	sets[12] = c->outbox ? outbox_stats(c->outbox) : &none;
	for (int i = 0; i < COLLECTOR_FURTHER_STATS; i++)
		sets[13 + i] = c->further_stats[i] ? c->further_stats[i] : &none;
}

void
collector_add_stats(struct collector *c, const struct stat_set *stats)
{
	for (int i = 0; i < COLLECTOR_FURTHER_STATS; i++)
		if (!c->further_stats[i]) {
			c->further_stats[i] = stats;
			break;
		}
}

void
collector_on_reload(struct collector *c, void (*reloaded)(void *arg), void *arg)
{
	c->reloaded = reloaded;
	c->reloaded_arg = arg;
}

void
collector_set_verdicts(struct collector *c, const struct collector_verdicts *verdicts)
{
	c->verdicts = *verdicts;
}

void
collector_set_steersman(struct collector *c, const struct collector_steersman *steersman)
{
	c->steersman = *steersman;
}

static int64_t
clock_offset_us(const struct clock *clock)
{
	return (int64_t)(clock_wall_us(clock) - clock_mono_us(clock));
}

/* Signals */

static void
collector_log_stats(const struct collector *c)
{
	const struct stat_set *sets[STAT_SETS];

	collector_stat_sets(c, sets);
	for (size_t i = 0; i < STAT_SETS; i++)
		stat_log(sets[i]);
}

static void
take_signals(struct collector *c)
{
	struct signalfd_siginfo info;

	while (read(c->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		switch (info.ssi_signo) {
		case SIGTERM:
		case SIGINT:
			c->stopping = true;
			break;
		case SIGUSR1:
			collector_log_stats(c);
			break;
		case SIGHUP:
			c->reload_wanted = true;
			break;
		}
}

/* Opening */

static void
take_records(void *arg, const struct ease_record *records, size_t n)
{
	struct collector *c = arg;

	accounting_add_records(c->accounting, c->batch, records, n);
	tap_take(c->tap, records, n);
}

static uint32_t
known_boot(void *arg, const uint8_t *agent_id)
{
	return accounting_newest_boot(((struct collector *)arg)->accounting, agent_id);
}

static uint32_t
collector_known_number(void *arg, const uint8_t *agent_id, uint32_t boot, uint64_t if_index)
{
	return accounting_newest_number(((struct collector *)arg)->accounting, agent_id, boot, if_index);
}

static enum sflow_admission
admits_sender(void *arg, const struct ease_record *who)
{
	enum agent_identity_verdict verdict = accounting_judge(((struct collector *)arg)->accounting, who);

	return verdict == AGENT_IDENTITY_CLAIMED ? SFLOW_CLAIMED
	    : verdict == AGENT_IDENTITY_FOREIGN	 ? SFLOW_FOREIGN
						 : SFLOW_ADMITTED;
}

static bool
collector_keep_records(void *arg, const struct ease_record *records, size_t n)
{
	struct collector *c = arg;
	uint64_t lost = accounting_lost(c->accounting);

	take_records(c, records, n);
	return accounting_lost(c->accounting) == lost;
}

static bool
keep_event(void *arg, const struct ease_event *event)
{
	struct collector *c = arg;

	return accounting_add_event(c->accounting, c->batch, event);
}

/* What stands in that file may be wrong, samples must come all the same. */
static int
read_devices(struct collector *c)
{
	char error[512];
	int r = collector_devices_read(c->config, &c->devices, error, sizeof(error));

	if (r < 0 && r != -ENOMEM)
		log_error(ROOM, "%s; nothing of that file holds, and the names that the store has stay as they are", error);
	return r == -ENOMEM ? r : 0;
}

/* Addresses were checked when the file was read. */
static int
parse_addresses(struct collector *c)
{
	const struct collector_config *config = c->config;
	const char *reason;
	int r = read_devices(c);

	if (r < 0)
		return r;
	c->listen = calloc(config->listen.n + 1, sizeof(*c->listen));
	c->sflow_listen = calloc(config->sflow_listen.n + 1, sizeof(*c->sflow_listen));
	c->senders = collector_prefixes(&config->senders);
	c->shared_agents = collector_prefixes(&config->sflow_shared_agents);
	if (!c->listen || !c->sflow_listen || !c->senders || !c->shared_agents)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < config->listen.n; i++)
		r = endpoint_parse(config->listen.items[i], &c->listen[i], &reason);
	for (size_t i = 0; r == 0 && i < config->sflow_listen.n; i++)
		r = endpoint_parse(config->sflow_listen.items[i], &c->sflow_listen[i], &reason);
	return r;
}

static int
open_slow(struct collector *c, char *error, size_t error_size)
{
	const struct collector_config *config = c->config;
	struct v3_user *v3_users = collector_v3_users(config);
	char engine_file[COLLECTOR_PATH_OCTETS];
	struct slow_path_config slow = {
	    .communities = (const char *const *)config->communities.items,
	    .n_communities = config->communities.n,
	    .users = v3_users,
	    .n_users = config->users.n,
	    .engine_file = engine_file,
	    .clock = c->clock,
	    .refused = c->refused,
	    .records = collector_keep_records,
	    .event = keep_event,
	    .arg = c,
	};
	int r;

	if (!v3_users) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	collector_engine_file(config, engine_file);
	r = slow_path_open(&c->slow_path, &slow, error, error_size);
	free(v3_users);
	return r;
}

/* A capture that is imported is sent on to nobody. */
static int
open_forward(struct collector *c, char *error, size_t error_size)
{
	const struct option_list *forward = &c->config->forward;
	int r = forward_new(&c->forward, c->seed, c->clock);

	if (r == 0 && !c->options->no_sockets)
		r = forward_set(c->forward, (const char *const *)forward->items, forward->n);
	if (r < 0)
		snprintf(error, error_size, "forward: %s", strerror(-r));
	return r;
}

static int
open_input(struct collector *c, char *error, size_t error_size)
{
	const struct collector_config *config = c->config;
	const struct input_config input = {
	    .listen = c->listen,
	    .n_listen = c->options->no_sockets || !collector_takes_notifications(config) ? 0 : config->listen.n,
	    .sflow_listen = c->sflow_listen,
	    .n_sflow_listen = c->options->no_sockets ? 0 : config->sflow_listen.n,
	    .accounting = {known_boot, admits_sender, collector_known_number, c, c->shared_agents, config->sflow_shared_agents.n},
	    .seed = c->seed,
	    .senders = c->senders,
	    .n_senders = config->senders.n,
	    .communities = (const char *const *)config->communities.items,
	    .n_communities = config->communities.n,
	    .buffer_octets = config->receive_buffer_octets,
	    .threads = config->threads,
	    .clock = c->clock,
	    .sink = take_records,
	    .sink_arg = c,
	    .slow_path = c->slow_path,
	    .refused = c->refused,
	    .forward = c->forward,
	};
	size_t octets;
	int r = input_open(&c->input, &input, error, error_size);

	if (r < 0 || c->options->no_sockets)
		return r;
	if (!collector_takes_notifications(config))
		log_info(ROOM, "sFlow alone is received: there is no community and no user for SNMP");
	octets = receiver_buffer(collector_takes_notifications(config) ? input_receiver(c->input)
								       : input_sflow_receiver(c->input));
	if (octets < config->receive_buffer_octets)
		log_warn(ROOM, "receive_buffer: the kernel granted %zu octets of %u; raise "
			       "net.core.rmem_max or give the process CAP_NET_ADMIN",
		    octets, config->receive_buffer_octets);
	return 0;
}

static void
recall_engine(void *slow, const struct store_engine *row)
{
	struct v3_engine_time heard = {.n_engine_id = row->octets, .boots = (int32_t)row->boots,
	    .time_s = (int32_t)row->time_s};

	memcpy(heard.engine_id, row->engine_id, row->octets);
	slow_path_restore_engine(slow, &heard);
}

static void
recall_event(void *slow, uint64_t identity, uint64_t received_us)
{
	slow_path_restore_event(slow, identity, received_us);
}

/* Signals are blocked and only read from signal_fd, so this reads it to notice a stop. */
bool
collector_go_on(void *arg, const char *what, double done)
{
	struct collector *c = arg;

	take_signals(c);
	service_alive(&c->last_alive_us, clock_mono_us(&clock_system));
	progress_show(&c->display, what, done);
	return !c->stopping;
}

/* After open_slow, because the store is loaded into both. */
static int
open_accounting(struct collector *c, struct accounting_limits *limits, char *error, size_t error_size)
{
	struct store_loader loader;
	struct store_life life;
	int r = collector_limits(c->config, c->options->memory_taken, limits, error, error_size);

	if (r < 0)
		return r;
	if (accounting_new(&c->accounting, limits, c->clock, c->seed) < 0) {
		snprintf(error, error_size, "memory: cannot allocate %u MiB", c->config->memory_mib);
		return -ENOMEM;
	}
	accounting_set_sources(c->accounting, &(struct agent_source_rules){c->devices.sources, c->devices.n_sources});
	accounting_set_uplinks(c->accounting, &(struct uplink_rules){c->devices.uplinks, c->devices.n_uplinks});
	accounting_set_store(c->accounting, c->store);
	accounting_set_forget(c->accounting, collector_retention(c->config).forget_us);
	if (collector_open_alarms(c, limits->ports) < 0) {
		snprintf(error, error_size, "alarms: cannot allocate memory");
		return -ENOMEM;
	}
	loader = accounting_loader(c->accounting);
	loader.slow_path_arg = c->slow_path;
	loader.engine = recall_engine;
	loader.event = recall_event;
	store_get_life(c->store, &life); /* before store_load, which may set a damaged file aside */
	r = store_load(c->store, &loader, error, error_size);
	if (r < 0)
		return r;
	if (!c->options->no_sockets && store_end_alarms(c->store, clock_wall_us(c->clock)) < 0)
		log_warn(ROOM, "alarms that the collector before this one left are shown as standing: the store cannot be written");
	r = accounting_recover(c->accounting, &life, &c->outage, &c->had_outage);
	if (c->options->no_sockets && c->outage.kind == STORE_OUTAGE_STOPPED)
		c->had_outage = false; /* what is imported was never to arrive */
	if (r < 0)
		snprintf(error, error_size, "cannot read what the collector before this one left: %s", strerror(-r));
	return r;
}

static int
start_threads(struct collector *c, const struct accounting_limits *limits, char *error, size_t error_size)
{
	struct store_room room[STORE_N_TABLES] = {
	    [STORE_STATS] = {.free = STAT_ROWS},
	    [STORE_REFUSED_SENDERS] = {.kept = REFUSED_SENDERS_MAX},
	    [STORE_PRECISION] = {.free = PRECISION_ROWS},
	    [STORE_POLLED] = {.kept = c->poller ? COLLECTOR_POLLED_AGENTS : 0},
	    [STORE_LINKS] = {.free = c->poller ? LINKS_A_BATCH : 0},
	    [STORE_ENGINES] = {.kept = slow_path_engines(c->slow_path)},
	};
	int r;

	accounting_room(limits, room);
	r = input_start(c->input);
	if (r == 0)
		r = store_start(c->store, room);
	if (r < 0)
		snprintf(error, error_size, "cannot start threads: %s", strerror(-r));
	else
		c->batch = store_take(c->store);
	return r;
}

/* Called before any thread starts, so that all threads have the signals blocked. */
static int
open_signals(struct collector *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return c->signal_fd < 0 ? -errno : 0;
}

static void
set_retention(struct collector *c)
{
	const struct store_retention retention = collector_retention(c->config);

	store_set_retention(c->store, &retention);
}

static void
set_device_names(struct collector *c)
{
	if (c->devices.naming)
		store_set_naming(c->store, c->devices.naming);
	c->devices.naming = NULL;
}

static int
collector_open_all(struct collector *c, char *error, size_t error_size)
{
	const struct progress progress = {collector_go_on, c};
	struct accounting_limits limits;
	int r = parse_addresses(c);

	if (r == 0)
		r = open_signals(c);
	if (r < 0) {
		snprintf(error, error_size, "%s", strerror(-r));
		return r;
	}
	r = collector_poll_open(c);
	if (r < 0) {
		snprintf(error, error_size, "poll: %s", strerror(-r));
		return r;
	}
	r = store_open(&c->store, c->config->store, &progress, error, error_size);
	progress_end(&c->display);
	if (r == 0) {
		set_retention(c);
		set_device_names(c);
	}
	if (r == 0)
		r = refused_senders_new(&c->refused, c->seed);
	if (r == 0)
		r = open_slow(c, error, error_size);
	if (r == 0)
		r = open_accounting(c, &limits, error, error_size);
	if (r == 0 && c->options->tap) /* its reader lives in the system's time, also in an import */
		r = tap_open(&c->tap, c->options->tap, &clock_system, error, error_size);
	if (r == 0)
		r = open_forward(c, error, error_size);
	if (r == 0)
		r = open_input(c, error, error_size);
	if (r == 0 && c->options->opened)
		r = c->options->opened(c->config, error, error_size);
	return r == 0 ? start_threads(c, &limits, error, error_size) : r;
}

int
collector_open(struct collector **out, const struct collector_config *config,
    const struct collector_arguments *options, const struct clock *clock,
    char *error, size_t error_size)
{
	struct collector *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	c->config = config;
	c->options = options;
	c->clock = clock;
	c->signal_fd = -1;
	c->stats = (struct stat_set){stat_names, COLLECTOR_N_STATS, c->values};
	if (getrandom(&c->seed, sizeof(c->seed), 0) < 0)
		log_warn(ROOM, "cannot read a random seed: %s", strerror(errno));
	c->clock_offset_us = clock_offset_us(clock);
	stat_add(&c->stats, COLLECTOR_STAT_STARTED, clock_wall_us(clock));
	r = collector_open_all(c, error, error_size);
	if (r < 0) {
		/* nothing was received; what an earlier crash left is for the start that does not fail */
		if (c->accounting && (!c->had_outage || c->outage.kind == STORE_OUTAGE_STOPPED))
			accounting_remove_journal(c->accounting);
		collector_close(c);
		return r;
	}
	*out = c;
	return 0;
}

void
collector_note_damage(struct collector *c, uint64_t inode)
{
	store_note_damage(c->store, inode);
}

void
collector_close(struct collector *c)
{
	if (!c)
		return;
	collector_poll_close(c);
	input_close(c->input);
	forward_free(c->forward);
	slow_path_close(c->slow_path);
	refused_senders_free(c->refused);
	tap_close(c->tap);
	store_close(c->store);
	accounting_free(c->accounting);
	alarms_free(c->alarms);
	outbox_free(c->outbox);
	if (c->signal_fd >= 0)
		close(c->signal_fd);
	free(c->shared_agents);
	collector_devices_free(&c->devices);
	free(c->senders);
	free(c->sflow_listen);
	free(c->listen);
	free(c);
}

static void
print_listening(const struct receiver *r, const char *what)
{
	for (size_t i = 0; r && i < receiver_sockets(r); i++) {
		char text[ENDPOINT_TEXT];

		receiver_address(r, i, text);
		printf("listening %s%s\n", what, text);
	}
}

void
collector_announce(const struct collector *c)
{
	print_listening(input_sflow_receiver(c->input), "for sFlow on ");
	print_listening(input_receiver(c->input), "on ");
	fflush(stdout);
}

/* Flushing */

static void
add_stat_rows(const struct collector *c, struct store_batch *batch)
{
	const struct stat_set *sets[STAT_SETS];

	collector_stat_sets(c, sets);
	for (size_t s = 0; s < STAT_SETS; s++)
		for (unsigned i = 0; i < sets[s]->n; i++) {
			struct store_stat *row = store_batch_add(batch, STORE_STATS);

			if (row)
				*row = (struct store_stat){sets[s]->names[i].name,
				    stat_get(sets[s], i)};
		}
}

static void
add_engine_rows(struct collector *c, struct store_batch *batch)
{
	struct v3_engine_time heard;

	while (store_batch_reserve(batch, STORE_ENGINES, 1) == 0 && slow_path_next_engine(c->slow_path, &heard)) {
		struct store_engine *row = store_batch_add(batch, STORE_ENGINES);

		memcpy(row->engine_id, heard.engine_id, heard.n_engine_id);
		row->octets = (uint8_t)heard.n_engine_id;
		row->boots = (uint32_t)heard.boots;
		row->time_s = (uint32_t)heard.time_s;
	}
}

static void
add_refused_rows(struct collector *c)
{
	struct refused_sender refused;

	while (store_batch_reserve(c->batch, STORE_REFUSED_SENDERS, 1) == 0 &&
	    refused_senders_take(c->refused, &refused)) {
		struct store_refused_sender *row = store_batch_add(c->batch, STORE_REFUSED_SENDERS);

		*row = (struct store_refused_sender){.datagrams = refused.datagrams,
		    .first_us = refused.first_us, .last_us = refused.last_us};
		memcpy(row->address, refused.address, sizeof(refused.address));
		memcpy(row->reason, refused.reason, sizeof(refused.reason));
	}
	stat_raise(input_stats(c->input), INPUT_STAT_REFUSED_UNNAMED, refused_senders_crowded_out(c->refused));
}

/* Writes all rows again if the store has begun a new file. */
static void
notice_renewal(struct collector *c)
{
	enum store_outage_kind why;
	uint64_t renewals = store_renewals(c->store, &why), now_us = clock_wall_us(c->clock);
	struct store_outage *row;
	struct store_life life;

	if (renewals == c->renewals)
		return;
	c->renewals = renewals;
	store_get_life(c->store, &life);
	accounting_rewrite_all(c->accounting, life.id);
	slow_path_mark_engines(c->slow_path);
	row = store_batch_add(c->batch, STORE_OUTAGES);
	if (row)
		*row = (struct store_outage){.since_us = now_us, .until_us = now_us, .kind = why};
}

static void
add_outage_row(struct collector *c)
{
	struct store_outage *row = c->had_outage ? store_batch_add(c->batch, STORE_OUTAGES) : NULL;

	if (row)
		*row = c->outage;
	c->had_outage = false;
}

/* Skips that were set, and what could not be. */
static void
add_steersman_rows(struct collector *c)
{
	struct collector_told told;

	if (!c->steersman.flush)
		return;
	c->steersman.flush(c->steersman.arg, c->batch);
	while (c->steersman.next_event(c->steersman.arg, &told))
		accounting_add_own_event(c->accounting, c->batch, &(struct accounting_event){.kind = EASE_EVENT_PRECISION,
		    .agent = told.agent, .if_index = told.if_index, .time_us = told.time_us}, told.text);
}

/* Gives the batch to the store; next becomes the present batch. */
static int
cut_and_submit(struct collector *c, struct store_batch *next)
{
	int r;

	notice_renewal(c);
	accounting_count_held(c->accounting, c->batch, false);
	r = accounting_flush(c->accounting, c->batch);
	if (r < 0)
		return r;
	add_outage_row(c);
	if (c->verdicts.flush)
		c->verdicts.flush(c->verdicts.arg, c->batch);
	add_steersman_rows(c);
	input_count_drops(c->input);
	add_refused_rows(c);
	add_stat_rows(c, c->batch);
	add_engine_rows(c, c->batch);
	c->batch->durable = slow_path_waiting(c->slow_path) > 0;
	c->flushed_datagrams = stat_get(input_stats(c->input), INPUT_STAT_DATAGRAMS);
	store_submit(c->store, c->batch);
	slow_path_submitted(c->slow_path, ++c->submitted);
	c->batch = next;
	return 0;
}

void
collector_flush(struct collector *c)
{
	struct store_batch *next = store_take(c->store);

	if (!next) {
		stat_add(&c->stats, COLLECTOR_STAT_FLUSHES_POSTPONED, 1);
		log_warn_limited(ROOM, "the store is behind: the batch is written later");
		return;
	}
	if (cut_and_submit(c, next) < 0) {
		store_submit(c->store, next); /* empty: it is returned without a write */
		c->submitted++;
	}
}

bool
collector_flush_is_due(const struct collector *c)
{
	if (store_batch_is_filling(c->batch))
		return true;
	return clock_mono_us(c->clock) >= c->next_flush_us;
}

static void
flush_if_due(struct collector *c)
{
	if (!collector_flush_is_due(c))
		return;
	c->next_flush_us = clock_mono_us(c->clock) + c->config->flush_interval_ms * 1000ull;
	input_count_drops(c->input); /* also if no datagram was accepted */
	alarms_tick(c->alarms, clock_mono_us(c->clock));
	collector_tell_receivers(c);
	if (stat_get(input_stats(c->input), INPUT_STAT_DATAGRAMS) != c->flushed_datagrams)
		collector_flush(c);
}

/* The end of the outage before this start was by a clock that was wrong: it is told again. */
static void
tell_outage_again(struct collector *c, int64_t step_us)
{
	struct store_outage *o = &c->outage;

	if (o->since_us == 0 || (o->until_us >= o->since_us && o->until_us <= clock_wall_us(c->clock)))
		return;
	o->until_us += (uint64_t)step_us;
	o->counted = false; /* once */
	c->had_outage = o->until_us > o->since_us;
}

/* Windows, sequence numbers and waits use the devices' clocks and the monotonic clock, so a step of
 * the system's clock affects only times of reception. */
static void
notice_clock_step(struct collector *c)
{
	int64_t offset_us = clock_offset_us(c->clock), step_us = offset_us - c->clock_offset_us;

	c->clock_offset_us = offset_us;
	if (step_us > -CLOCK_STEP_US && step_us < CLOCK_STEP_US)
		return;
	stat_add(&c->stats, COLLECTOR_STAT_CLOCK_STEPS, 1);
	input_clock_set(c->input, step_us, clock_wall_us(c->clock));
	tell_outage_again(c, step_us);
	log_warn_limited(ROOM, "the system's clock was set %s by %.0f s",
	    step_us > 0 ? "forward" : "back", (double)(step_us > 0 ? step_us : -step_us) / 1e6);
}

/* Runs the slow path, and sends the replies to informs that the store has committed. */
static void
serve_slow(struct collector *c)
{
	uint64_t soon_us = clock_mono_us(c->clock) + INFORM_FLUSH_MS * 1000ull;

	slow_path_run(c->slow_path);
	slow_path_committed(c->slow_path, stat_get(store_stats(c->store), STORE_STAT_BATCHES));
	if (slow_path_waiting(c->slow_path) > 0 && soon_us < c->next_flush_us)
		c->next_flush_us = soon_us;
}

/* The loop */

static void
read_input(struct collector *c, size_t most)
{
	size_t n, total = 0;

	while (total < most && (n = input_read(c->input)) > 0) {
		total += n;
		service_alive(&c->last_alive_us, clock_mono_us(&clock_system));
		if (store_batch_is_filling(c->batch))
			collector_flush(c);
	}
}

static void
read_last(struct collector *c)
{
	for (unsigned i = 0; i < LAST_TRIES; i++) {
		uint64_t errors = stat_get(input_stats(c->input), INPUT_STAT_READ_ERRORS);

		read_input(c, LAST_DATAGRAMS);
		if (stat_get(input_stats(c->input), INPUT_STAT_READ_ERRORS) == errors)
			return;
	}
}

static int
poll_timeout_ms(const struct collector *c)
{
	uint64_t now_us = clock_mono_us(c->clock);

	if (now_us >= c->next_flush_us)
		return 0;
	if (slow_path_waiting(c->slow_path) > 0)
		return INFORM_POLL_MS;
	return (int)((c->next_flush_us - now_us) / 1000 + 1);
}

/* Writes the last batch, and all rows once more if the store began a new file with it. */
static int
write_last(struct collector *c)
{
	enum store_outage_kind why;
	int r;

	accounting_count_held(c->accounting, c->batch, true);
	r = cut_and_submit(c, NULL);
	if (r < 0)
		log_error(ROOM, "cannot write the last batch: %s", strerror(-r));
	if (store_drain(c->store) == 0 && store_renewals(c->store, &why) != c->renewals &&
	    (c->batch = store_take(c->store)) != NULL)
		r = cut_and_submit(c, NULL);
	return r;
}

int
collector_stop(struct collector *c)
{
	int r;

	if (c->steersman.stop)
		c->steersman.stop(c->steersman.arg);
	input_stop(c->input);
	read_last(c);
	slow_path_run(c->slow_path);
	tap_flush(c->tap);
	r = write_last(c);
	slow_path_committed(c->slow_path, stat_get(store_stats(c->store), STORE_STAT_BATCHES));
	collector_log_stats(c);
	if (store_stop(c->store) < 0)
		return -EIO;
	if (r == 0 && store_end_life(c->store, c->options->no_sockets ? 0 : clock_wall_us(c->clock)) == 0)
		accounting_remove_journal(c->accounting);
	return r;
}

void
collector_turn(struct collector *c)
{
	take_signals(c);
	if (c->reload_wanted)
		collector_reload(c);
	notice_clock_step(c); /* before what is stamped by it */
	read_input(c, READ_DATAGRAMS);
	serve_slow(c);
	tap_flush(c->tap);
	if (c->poller)
		poll_turn(c->poller);
	flush_if_due(c);
}

int
collector_run(struct collector *c)
{
	struct pollfd polls[INPUT_POLLS_MAX + 2 + OUTBOX_RECEIVERS_MAX];
	size_t n = input_polls(c->input, polls), n_polls;

	polls[n++] = (struct pollfd){.fd = c->signal_fd, .events = POLLIN};
	polls[n++] = (struct pollfd){.events = POLLIN}; /* the poller's */
	collector_flush(c); /* reports show at once that the collector started */
	while (!c->stopping) {
		int timeout_ms = input_sleep(c->input) ? poll_timeout_ms(c) : 0;

		service_alive(&c->last_alive_us, clock_mono_us(&clock_system));
		if (timeout_ms > ALIVE_MS)
			timeout_ms = ALIVE_MS;
		polls[n - 1].fd = c->poller ? poll_fd(c->poller) : -1; /* anew, as those behind it: who has ended has none */
		n_polls = n + collector_poll_receivers(c, &polls[n]);
		if (poll(polls, n_polls, timeout_ms) < 0 && errno != EINTR)
			return -errno;
		input_awake(c->input);
		collector_turn(c);
		collector_take_answers(c, &polls[n]);
	}
	return collector_stop(c);
}

uint64_t
collector_stat(const struct collector *c, const char *name)
{
	const struct stat_set *sets[STAT_SETS];

	collector_stat_sets(c, sets);
	for (size_t s = 0; s < STAT_SETS; s++)
		for (unsigned i = 0; i < sets[s]->n; i++)
			if (strcmp(sets[s]->names[i].name, name) == 0)
				return stat_get(sets[s], i);
	return 0;
}
