/*
 * The collector at work: input, books and store put together, and the one loop that keeps the
 * books, cuts a batch at each interval and listens to signals. Every wait is in its poll().
 *
 * The loop reads the sockets itself or, with several `threads`, takes what they have read and
 * decoded. It hands the store's thread batches and takes empty ones back; while none is empty it
 * goes on with the batch it has. What the fast way takes costs no allocation and no lock.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_H
#define EASE_COLLECTOR_COLLECTOR_H

#include "collector/config.h"
#include "collector/import.h"
#include "common/clock.h"
#include "common/stat.h"

#include <stdbool.h>

struct collector;

/* What the command line adds. */
struct collector_arguments {
	bool no_sockets; /* for an import, beside a collector that has them */
	const char *tap; /* FIFO, see tap.h; NULL: none */
	size_t memory_taken; /* octets of the budget that others of this program use */
	/* What SIGHUP reads again, and the configuration in force once more, to be changed as far as it
	 * can be; NULL: nothing. */
	const char *config_file;
	struct collector_config *live_config;
	/* Told when everything that takes privileges is open, before the first thread is made; NULL:
	 * nobody. 0, or -errno with the reason in error: then nothing is started. */
	int (*opened)(const struct collector_config *config, char *error, size_t error_size);
};

/* Opens store and sockets and reads the books back. config and clock are borrowed. Blocks SIGTERM,
 * SIGINT, SIGUSR1 and SIGHUP for the whole process and takes them in collector_run. 0, or -errno with
 * the reason in error. */
int collector_open(struct collector **out, const struct collector_config *config,
    const struct collector_arguments *options, const struct clock *clock, char *error, size_t error_size);

/* One line a socket, "listening on ADDRESS:PORT" or before those "listening for sFlow on
 * ADDRESS:PORT", to standard output. */
void collector_announce(const struct collector *c);

/* Runs until SIGTERM or SIGINT, then writes everything. 0, or -EIO if something could not be. */
int collector_run(struct collector *c);

/* Instead of collector_run: takes the datagrams of a capture file the same way, senders and communities
 * checked, then writes everything. What begins like an SNMP message is one, what begins with
 * sFlow's version is that, whatever their ports; the rest counts in *other. clock is the one given
 * to collector_open, manual: it goes along with the capture. A store that cannot be written is waited for,
 * a minute at most. 0, or -errno with the reason in error; what came before a mistake in the file is
 * in the store. */
int collector_import(struct collector *c, struct clock *clock, const char *file,
    struct import_counts *counts, uint64_t *other, char *error, size_t error_size);

/* Everybody who counts, as long as the collector is open; what further sets there are, collector_add_stats
 * says before collector_run: they are stored and logged with the others. */
enum { COLLECTOR_STAT_SETS = 10 };
void collector_stat_sets(const struct collector *c, const struct stat_set *sets[COLLECTOR_STAT_SETS]);
void collector_add_stats(struct collector *c, const struct stat_set *stats);

/* Told when SIGHUP has changed the configuration in force, before what it changed is freed. */
void collector_on_reload(struct collector *c, void (*reloaded)(void *arg), void *arg);

/* The counter of that name ("input.records"), or 0. */
uint64_t collector_stat(const struct collector *c, const char *name);

void collector_close(struct collector *c);

#endif
