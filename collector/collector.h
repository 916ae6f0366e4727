/*
 * The collector: input, accounting and store together, and the main loop, which does the accounting,
 * flushes a batch at each interval and handles signals. The loop waits only in its poll().
 *
 * The loop reads the sockets itself or, with several `threads`, takes the records that the receiver
 * threads have decoded. It gives batches to the store's thread and gets empty ones back; while there
 * is no empty one, it goes on filling the batch it has. The fast path allocates no memory and takes
 * no lock.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_H
#define EASE_COLLECTOR_COLLECTOR_H

#include "collector/config.h"
#include "collector/import.h"
#include "common/clock.h"
#include "common/stat.h"

#include <stdbool.h>

struct collector;
struct collector_receivers;

/* What the command line adds. */
struct collector_arguments {
	bool no_sockets; /* for an import while another collector uses the addresses */
	const char *tap; /* FIFO, see tap.h; NULL: none */
	size_t memory_taken; /* octets of the memory budget that other parts of the program use */
	/* The file that SIGHUP reads again, and the configuration in force, which it then changes;
	 * NULL: SIGHUP changes nothing. */
	const char *config_file;
	struct collector_config *live_config;
	const struct collector_receivers *receivers; /* of alarms (collector_alarms.h); NULL: none */
	/* Called when everything that needs privileges is open, before the first thread starts; or
	 * NULL. 0, or -errno with the reason in error: then nothing is started. */
	int (*opened)(const struct collector_config *config, char *error, size_t error_size);
};

/* Opens store and sockets and loads the accounting from the store. config and clock are borrowed.
 * Blocks SIGTERM, SIGINT, SIGUSR1 and SIGHUP for the whole process; collector_run handles them. 0, or
 * -errno with the reason in error. */
int collector_open(struct collector **out, const struct collector_config *config,
    const struct collector_arguments *options, const struct clock *clock,
    char *error, size_t error_size);

/* Prints a line for each socket to standard output: first "listening for sFlow on ADDRESS:PORT", then
 * "listening on ADDRESS:PORT". */
void collector_announce(const struct collector *c);

/* Runs until SIGTERM or SIGINT, then writes all data. 0, or -EIO if some could not be written. */
int collector_run(struct collector *c);

/* Instead of collector_run: processes the datagrams of a capture file as if they were received, with
 * allow-list and communities checked, then writes all data. A datagram that begins like an SNMP
 * message is taken as one, and one that begins with sFlow's version as sFlow, whatever their ports;
 * the others count in *other. clock is the manual one given to collector_open; it follows the
 * capture. If the store cannot be written, the import waits for a minute at most. 0, or -errno with
 * the reason in error; data before a damaged place of the file is in the store. */
int collector_import(struct collector *c, struct clock *clock, const char *file,
    struct import_counts *counts, uint64_t *other, char *error, size_t error_size);

/* All sets of counters, valid while the collector is open. collector_add_stats adds one before
 * collector_run; it is stored and logged with the others. */
enum { COLLECTOR_STAT_SETS = 16 };
void collector_stat_sets(const struct collector *c, const struct stat_set *sets[COLLECTOR_STAT_SETS]);
void collector_add_stats(struct collector *c, const struct stat_set *stats);

/* Sets a function that is called when SIGHUP has changed the configuration in force, before the
 * former values are freed. */
void collector_on_reload(struct collector *c, void (*reloaded)(void *arg), void *arg);

/* Verdicts on samplers, which somebody else finds (judge.h): adds their rows to a batch that is flushed, and says whether
 * a port's samples are no random choice, for alarms of it. turn, if it is not NULL, finds those of an hour that an import has
 * stored. Called by the thread of collector_run, or that imports. */
struct store_batch;
struct collector_verdicts {
	void (*flush)(void *arg, struct store_batch *batch);
	bool (*accuses)(void *arg, int64_t agent, uint64_t if_index);
	void (*turn)(void *arg);
	void *arg;
};
void collector_set_verdicts(struct collector *c, const struct collector_verdicts *verdicts);

/* What somebody else has to tell (precision_service.h): its events, and rows for a batch that is flushed. Called by the
 * thread of collector_run. */
enum { COLLECTOR_TOLD_TEXT = 128 };
struct collector_told {
	int64_t agent;
	uint64_t if_index; /* 0: of the agent */
	uint64_t time_us;
	char text[COLLECTOR_TOLD_TEXT];
};
struct collector_steersman {
	bool (*next_event)(void *arg, struct collector_told *told);
	void (*flush)(void *arg, struct store_batch *batch);
	void (*stop)(void *arg); /* before the last batch; may wait for seconds */
	void *arg;
};
void collector_set_steersman(struct collector *c, const struct collector_steersman *steersman);

/* A reader found the store's file of that inode damaged, see store_note_damage. From any thread. */
void collector_note_damage(struct collector *c, uint64_t inode);

/* The counter of that name ("input.records"), or 0. */
uint64_t collector_stat(const struct collector *c, const char *name);

void collector_close(struct collector *c);

#endif
