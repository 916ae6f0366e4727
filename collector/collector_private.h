/*
 * The members of struct collector, for collector.c, which opens, runs and stops it, collector_import.c,
 * which feeds it from a file, and collector_reload.c.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_PRIVATE_H
#define EASE_COLLECTOR_COLLECTOR_PRIVATE_H

#include "collector/collector.h"
#include "collector/collector_alarms.h"
#include "collector/collector_settings.h"
#include "collector/config.h"
#include "collector/input/input.h"
#include "collector/progress.h"
#include "collector/store/store.h"
#include "collector/tap.h"
#include "collector/window/accounting.h"

enum collector_stat_id {
	COLLECTOR_STAT_FLUSHES_POSTPONED,
	COLLECTOR_STAT_CLOCK_STEPS,
	COLLECTOR_STAT_RELOADS,
	COLLECTOR_STAT_RELOADS_REFUSED,
	COLLECTOR_STAT_STARTED,
	COLLECTOR_N_STATS,
};

enum { COLLECTOR_FURTHER_STATS = 3 }; /* sets of the page, of shipping and of precision */

struct alarms;
struct outbox;
struct poller;
struct poll_target;
struct poll_credentials;

struct collector {
	const struct collector_config *config;
	const struct collector_arguments *options;
	const struct clock *clock;
	struct tap *tap; /* NULL: none */
	struct endpoint *listen, *sflow_listen;
	uint64_t seed;
	struct prefix *senders, *shared_agents;
	struct collector_devices devices;
	struct refused_senders *refused;
	struct poller *poller; /* NULL: nobody is asked */
	struct poll_target *poll_targets;
	struct poll_credentials *poll_credentials;
	size_t n_poll_credentials;
	struct slow_path *slow_path;
	uint64_t submitted; /* batches given to the store */
	struct input *input;
	struct forward *forward;
	struct accounting *accounting;
	struct alarms *alarms;
	struct outbox *outbox; /* NULL: no receiver of alarms */
	struct collector_receivers receivers;
	struct store *store;
	struct store_batch *batch; /* being filled */
	uint64_t next_flush_us;	   /* monotonic */
	uint64_t flushed_datagrams;
	uint64_t renewals;	     /* of the store, that the accounting has noticed */
	bool had_outage;	     /* the collector before this one crashed */
	struct store_outage outage; /* for the first batch */
	int64_t clock_offset_us;     /* system's clock - monotonic clock */
	struct progress_display display;
	int signal_fd;
	uint64_t last_alive_us; /* service_alive */
	bool stopping, reload_wanted;
	bool users_missing; /* SNMPv3 users of the configuration are not in force */
	struct collector_verdicts verdicts; /* functions NULL: none */
	struct collector_steersman steersman; /* the same */
	void (*reloaded)(void *arg); /* NULL: no function */
	void *reloaded_arg;
	struct stat_set stats;
	_Atomic uint64_t values[COLLECTOR_N_STATS];
	const struct stat_set *further_stats[COLLECTOR_FURTHER_STATS]; /* NULL: none */
};

/* For struct progress: stops at SIGTERM and SIGINT; arg is the collector. */
bool collector_go_on(void *arg, const char *what, double done);

/* One turn of the loop between two waits: signals, datagrams, clock, a flush if one is due. */
void collector_turn(struct collector *c);

bool collector_flush_is_due(const struct collector *c);

/* Gives the batch to the store if it has an empty one in exchange; else the batch is kept. */
void collector_flush(struct collector *c);

/* collector_reload.c: reads the configuration again, applies what can change and logs what cannot. */
void collector_reload(struct collector *c);

/* Writes all data. 0, or -EIO if some could not be written. */
int collector_stop(struct collector *c);

#endif
