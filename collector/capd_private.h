/*
 * The body of struct capd, for capd.c, which opens, runs and stops it, and capd_import.c, which
 * feeds it from a file.
 */
#ifndef EASE_COLLECTOR_CAPD_PRIVATE_H
#define EASE_COLLECTOR_CAPD_PRIVATE_H

#include "collector/capd.h"
#include "collector/input/input.h"
#include "collector/progress.h"
#include "collector/store/store.h"
#include "collector/tap.h"
#include "collector/window/ledger.h"

enum capd_stat_id {
	CAPD_STAT_FLUSHES_POSTPONED,
	CAPD_STAT_CLOCK_STEPS,
	CAPD_STAT_STARTED,
	CAPD_N_STATS,
};

struct capd {
	const struct collector_config *config;
	const struct capd_options *options;
	const struct clock *clock;
	struct tap *tap; /* NULL: none */
	struct endpoint *listen, *sflow_listen;
	uint64_t seed;
	struct prefix *senders;
	struct slow *slow;
	uint64_t submitted; /* batches handed to the store */
	struct input *input;
	struct ledger *ledger;
	struct store *store;
	struct store_batch *batch; /* being filled */
	uint64_t next_flush_us;	   /* monotonic */
	uint64_t flushed_datagrams;
	uint64_t renewals;	     /* of the store, as the books know */
	bool had_outage;	     /* the collector before this one died */
	struct store_outage outage; /* for the first batch */
	int64_t clock_offset_us;     /* system's clock - monotonic clock */
	struct progress_display display;
	int signal_fd;
	uint64_t last_alive_us; /* service_alive */
	bool stopping;
	struct stat_set stats;
	_Atomic uint64_t values[CAPD_N_STATS];
	const struct stat_set *further_stats; /* NULL: none */
};

/* A progress that stops at SIGTERM and SIGINT; arg is the capd. */
bool capd_go_on(void *arg, const char *what, double done);

bool capd_flush_is_due(const struct capd *c);

/* Hands the batch to the store if that has another, else it goes on. */
void capd_flush(struct capd *c);

/* capd_reload.c: reads the configuration again, takes what can change and says what cannot. */
void capd_reload(struct capd *c);

/* Writes everything. 0, or -EIO if something could not be. */
int capd_stop(struct capd *c);

#endif
