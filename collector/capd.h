/*
 * The collector at work: input, books and store put together, and the one loop that reads the
 * sockets, cuts a batch at each interval and listens to signals. Every wait is in its poll().
 *
 * The store's thread is the only other one; the loop hands it batches and takes empty ones back.
 * While none is empty the loop goes on with the batch it has.
 */
#ifndef EASE_COLLECTOR_CAPD_H
#define EASE_COLLECTOR_CAPD_H

#include "collector/config.h"
#include "common/clock.h"

#include <stdbool.h>

struct capd;

/* Opens store and sockets and reads the books back. config and clock are borrowed. Blocks SIGTERM,
 * SIGINT, SIGUSR1 and SIGHUP for the whole process and takes them in capd_run. 0, or -errno with
 * the reason in error. */
int capd_open(struct capd **out, const struct collector_config *config, const struct clock *clock,
    char *error, size_t error_size);

/* One line a socket, "listening on ADDRESS:PORT" or before those "listening for sFlow on
 * ADDRESS:PORT", to standard output. */
void capd_announce(const struct capd *c);

/* Runs until SIGTERM or SIGINT, then writes everything. 0, or -EIO if something could not be. */
int capd_run(struct capd *c);

void capd_close(struct capd *c);

#endif
