/*
 * Precision on request, at work: a thread that reads the store as any reader does, decides at the end of each period by
 * what its lists and counters showed (collector/precision), and has a process of its own ask and set switches by SNMP
 * (collector/poll). Nobody waits for it; what it has to tell the collector's thread takes from it: events, and a row for
 * each port (STORE_PRECISION) that the report precision shows.
 */
#ifndef EASE_COLLECTOR_PRECISION_SERVICE_H
#define EASE_COLLECTOR_PRECISION_SERVICE_H

#include "collector/collector.h"
#include "collector/config.h"
#include "collector/store/batch.h"
#include "common/clock.h"
#include "common/stat.h"

#include <sys/types.h>

struct precision_service;

/* The process that asks; before the collector has threads and memory. */
struct precision_process {
	pid_t pid; /* 0: none is needed, and none will be until the next start */
	int fd;
};
int precision_process_start(struct precision_process *process, const struct collector_config *config);

/* Takes the process over, in any case. 0, or -errno. */
int precision_open(struct precision_service **out, const struct precision_process *process,
    const struct collector_config *config, const struct clock *clock);

/* Octets that it takes, but for the lists of one port at a time. */
size_t precision_memory(void);

/* Goals, budget and switches are other ones from now on. By the thread that has read the configuration. */
void precision_change(struct precision_service *p, const struct collector_config *config);

/* Stops it, if that was not done, and frees it. NULL is fine. */
void precision_close(struct precision_service *p);

/* Both by the collector's thread alone. */
bool precision_next_event(void *precision, struct collector_told *told);
void precision_flush(void *precision, struct store_batch *batch);

/* Gives all skips back, which takes two seconds at most, and ends the thread. What it tells then can still be taken. */
void precision_stop(void *precision);

const struct stat_set *precision_stats(const struct precision_service *p);

#endif
