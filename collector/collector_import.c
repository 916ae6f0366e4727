/* Import: datagrams of a file are processed like those of a socket, but at the speed of the store. If
 * the store fails, reading pauses; if it fails for long, the import ends with an error. */
#include "collector/collector.h"

#include "collector/collector_private.h"
#include "common/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
	SNMP_FIRST_OCTET = 0x30, /* a SEQUENCE */
	IMPORT_FLUSH_S = 10, /* in the capture's time */
	STORE_WAIT_US = 100000,
	STORE_WAITS = 600, /* a minute: another writer ends by then, a full disk does not */
};

/* Samplers are judged by the hour before (judge.h), in the capture's time. */
#define IMPORT_JUDGE_US (3600 * UINT64_C(1000000))

struct importing {
	struct collector *c;
	struct clock *clock;
	uint64_t *other;
	struct import_counts *counts;
	uint64_t taken; /* datagrams */
	uint64_t judge_us; /* when samplers are judged next; 0: no datagram has come */
	bool gave_up;	/* the store cannot be written */
};

static bool
collector_import_go_on(void *arg, const char *what, double done)
{
	const struct importing *i = arg;

	return !i->gave_up && collector_go_on(i->c, what, done);
}

static void
collector_import_flush_waiting(struct importing *i)
{
	struct collector *c = i->c;

	for (int waits = 0; store_drain(c->store) < 0; waits++) {
		i->gave_up = waits == STORE_WAITS;
		if (!collector_import_go_on(i, "waiting for the store", 0))
			break;
		usleep(STORE_WAIT_US);
	}
	if (i->gave_up)
		return;
	collector_flush(c);
	c->next_flush_us = clock_mono_us(c->clock) + IMPORT_FLUSH_S * 1000000ull;
}

/* By what is in the store. */
static void
judge_hour(struct importing *i)
{
	const struct collector_verdicts *verdicts = &i->c->verdicts;

	if (verdicts->turn && i->judge_us > 0) {
		collector_import_flush_waiting(i);
		if (store_drain(i->c->store) == 0)
			verdicts->turn(verdicts->arg);
	}
	i->judge_us = i->clock->manual_wall_us + IMPORT_JUDGE_US;
}

/* A capture's clock may have been wrong, but nothing was received in the future. */
static void
go_along(struct clock *clock, uint64_t captured_us)
{
	uint64_t now_us = clock_wall_us(&clock_system);

	if (captured_us > now_us)
		captured_us = now_us;
	if (captured_us > clock->manual_wall_us && clock->manual_mono_us > 0)
		clock->manual_mono_us += captured_us - clock->manual_wall_us;
	else if (clock->manual_mono_us == 0)
		clock->manual_mono_us = 1; /* the first datagram sets the time */
	clock->manual_wall_us = captured_us;
}

static void
import_one(void *arg, const struct sockaddr *from, uint64_t captured_us, const uint8_t *octets, size_t n)
{
	struct importing *i = arg;
	struct collector *c = i->c;
	struct rbuf r = rbuf_of(octets, n);
	enum foreign_flow foreign = foreign_flow_of(octets, n);

	if (i->gave_up)
		return;
	i->taken++;
	if (i->judge_us == 0)
		i->judge_us = captured_us + IMPORT_JUDGE_US;
	else if (captured_us >= i->judge_us)
		judge_hour(i);
	go_along(i->clock, captured_us);
	if (n > 0 && octets[0] == SNMP_FIRST_OCTET)
		input_take(c->input, from, octets, n);
	else if (rbuf_be32(&r) == SFLOW_VERSION || foreign == FOREIGN_IPFIX)
		input_take_sflow(c->input, from, octets, n);
	else
		++*(foreign == FOREIGN_NOT_KNOWN ? i->other : &i->counts->foreign[foreign]);
	slow_path_run(c->slow_path);
	if (collector_flush_is_due(c))
		collector_import_flush_waiting(i);
}

int
collector_import(struct collector *c, struct clock *clock, const char *file,
    struct import_counts *counts, uint64_t *other, char *error, size_t error_size)
{
	struct importing importing = {.c = c, .clock = clock, .other = other, .counts = counts};
	const struct progress progress = {collector_import_go_on, &importing};
	int r, stopped;

	*other = 0;
	tap_flush(c->tap);
	r = import_file(file, import_one, &importing, &progress, counts, error, error_size);
	if (!importing.gave_up)
		judge_hour(&importing);
	progress_end(&c->display);
	stopped = collector_stop(c);
	if (importing.gave_up) {
		snprintf(error, error_size,
		    "%s: stopped after %" PRIu64 " datagrams, because the store"
		    " could not be written; import the file again later: nothing counts twice",
		    file, importing.taken);
		return -EIO;
	}
	if (r == 0 && stopped < 0)
		snprintf(error, error_size, "some data could not be written to the store");
	return r < 0 ? r : stopped;
}
