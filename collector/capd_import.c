/* Importing: datagrams of a file come the same way as those of a socket, only that the store is waited
 * for. */
#include "collector/capd_private.h"
#include "common/buf.h"

#include <stdio.h>
#include <unistd.h>

enum {
	SNMP_FIRST_OCTET = 0x30, /* a SEQUENCE */
	IMPORT_FLUSH_S = 10, /* of the capture's time */
	STORE_WAIT_US = 100000,
};

struct importing {
	struct capd *c;
	struct clock *clock;
	uint64_t *other;
};

static void
flush_waiting(struct capd *c)
{
	while (store_drain(c->store) < 0 && capd_go_on(c, "waiting for the store", 0))
		usleep(STORE_WAIT_US);
	capd_flush(c);
	c->next_flush_us = clock_mono_us(c->clock) + IMPORT_FLUSH_S * 1000000ull;
}

static void
go_along(struct clock *clock, uint64_t captured_us)
{
	if (captured_us > clock->manual_wall_us && clock->manual_mono_us > 0)
		clock->manual_mono_us += captured_us - clock->manual_wall_us;
	else if (clock->manual_mono_us == 0)
		clock->manual_mono_us = 1; /* the first one sets the time */
	clock->manual_wall_us = captured_us;
}

static void
import_one(void *arg, const struct sockaddr *from, uint64_t captured_us, const uint8_t *octets,
    size_t n)
{
	struct importing *i = arg;
	struct capd *c = i->c;
	struct rbuf r = rbuf_of(octets, n);

	go_along(i->clock, captured_us);
	if (n > 0 && octets[0] == SNMP_FIRST_OCTET)
		input_take(c->input, from, octets, n);
	else if (rbuf_be32(&r) == SFLOW_VERSION)
		input_take_sflow(c->input, from, octets, n);
	else
		++*i->other;
	slow_run(c->slow);
	if (capd_flush_is_due(c))
		flush_waiting(c);
}

int
capd_import(struct capd *c, struct clock *clock, const char *file, struct import_counts *counts,
    uint64_t *other, char *error, size_t error_size)
{
	const struct progress progress = {capd_go_on, c};
	struct importing importing = {c, clock, other};
	int r, stopped;

	*other = 0;
	tap_flush(c->tap);
	r = import_file(file, import_one, &importing, &progress, counts, error, error_size);
	progress_end(&c->display);
	stopped = capd_stop(c);
	if (r == 0 && stopped < 0)
		snprintf(error, error_size, "not everything could be written to the store");
	return r < 0 ? r : stopped;
}
