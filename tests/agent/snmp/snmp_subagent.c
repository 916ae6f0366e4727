/*
 * A subagent over a made-up switch (mib_fixture.h), for tests and measurements of the SNMP room
 * against a real snmpd: serves the tables, sends bursts of samples, and counts what arrives at a
 * UDP socket of its own, which stands for the collector. Told what to do by lines on its input:
 *
 *	burst N [PARTS]   sends N samples, PARTS in a notification, and waits for their arrival
 *	direct N PARTS V  the same past the master by trap sinks, as SNMP version V (2 or 3: authPriv)
 *	walk              walks all tables in this process, without SNMP, and says how long it took
 *	stats             prints the ring's counters
 *
 * Each answer is one JSON object on one line. Ends with its input. With the one argument --list it
 * only prints what the program serves and sends, for comparison with the module's text.
 */

#include "agent/snmp/snmp_agent.h"
#include "agent/snmp/trap_sinks.h"
#include "common/buf.h"
#include "common/log.h"
#include "mibs/mibs.h"
#include "tests/mibs/mib_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	FRAME_OCTETS = 128,
	SINK_BUFFER_OCTETS = 64 << 20,
	SAMPLES_MAX = 4 << 20, /* of all bursts of a run */
	MESSAGE_LIMIT = TRAP_WIRE_MESSAGE_DEFAULT,
	SINK_WAIT_US = 60000000,
};

/* Marks a sample's frame octets; its number follows. */
static const char mark[8] = "EASEmark";

struct sink {
	int fd;
	char address[32];
	pthread_t thread;
	_Atomic uint64_t datagrams, samples, repeated;
	uint8_t *seen; /* by sample number */
};

struct helper {
	struct mib_fixture fixture;
	struct notify_ring *ring;
	struct snmp_agent *agent;
	struct sink sink;
	uint32_t last_number;
};

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "snmp_subagent: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the collector's stand-in ---- */

static void
count_samples(struct sink *sink, const uint8_t *octets, size_t len)
{
	const uint8_t *at = octets, *end = octets + len;

	while ((at = memmem(at, (size_t)(end - at), mark, sizeof(mark))) != NULL) {
		struct rbuf r = rbuf_of(at + sizeof(mark), (size_t)(end - at) - sizeof(mark));
		uint32_t number = rbuf_be32(&r);

		at += sizeof(mark);
		if (r.failed || number >= SAMPLES_MAX)
			continue;
		if (sink->seen[number]++)
			sink->repeated++;
		else
			sink->samples++;
	}
}

static void *
run_sink(void *ctx)
{
	struct sink *sink = ctx;
	static uint8_t octets[65536];
	ssize_t n;

	while ((n = recv(sink->fd, octets, sizeof(octets), 0)) >= 0) {
		sink->datagrams++;
		count_samples(sink, octets, (size_t)n);
	}
	return NULL;
}

static unsigned
open_sink(struct sink *sink)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int octets = SINK_BUFFER_OCTETS;

	sink->seen = calloc(SAMPLES_MAX, 1);
	sink->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!sink->seen || sink->fd < 0)
		die("sink");
	if (setsockopt(sink->fd, SOL_SOCKET, SO_RCVBUFFORCE, &octets, sizeof(octets)) < 0)
		setsockopt(sink->fd, SOL_SOCKET, SO_RCVBUF, &octets, sizeof(octets));
	if (bind(sink->fd, (struct sockaddr *)&address, len) < 0 ||
	    getsockname(sink->fd, (struct sockaddr *)&address, &len) < 0 ||
	    pthread_create(&sink->thread, NULL, run_sink, sink) != 0)
		die("sink");
	pthread_detach(sink->thread);
	snprintf(sink->address, sizeof(sink->address), "127.0.0.1:%u", ntohs(address.sin_port));
	return ntohs(address.sin_port);
}

/* ---- bursts ---- */

static void
make_frame(uint32_t number, uint8_t frame[FRAME_OCTETS])
{
	struct wbuf w = wbuf_of(frame, FRAME_OCTETS);

	memset(frame, 0xa5, FRAME_OCTETS);
	wbuf_put(&w, mark, sizeof(mark));
	wbuf_be32(&w, number);
}

static void
make_notification(struct helper *h, unsigned parts, struct ease_notification *n)
{
	struct ease_snapshot snapshot = {.if_index = 1, .time_us = 1, .samples = 1};
	uint8_t frame[FRAME_OCTETS];

	trap_wire_begin(n, EASE_NOTIFY_SAMPLES);
	for (unsigned i = 0; i < parts; i++) {
		struct ease_sample sample = {.time_us = 1, .if_index = 1, .direction = EASE_IN,
		    .skip = 399, .mean_skip = 400, .frame_octets = 1518, .header = frame,
		    .kept_octets = FRAME_OCTETS};

		sample.sequence = ++h->last_number;
		sample.pool_pkts = sample.sequence * 400ull;
		make_frame(sample.sequence, frame);
		if (trap_wire_add_sample(n, &sample, MESSAGE_LIMIT))
			die("more samples than a notification holds");
	}
	if (trap_wire_add_snapshot(n, &snapshot, MESSAGE_LIMIT))
		die("more samples than a notification holds");
}

static void
wait_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t n;

	if (poll(&p, 1, timeout_ms) != 1 || read(fd, &n, sizeof(n)) < 0)
		die("no room in the ring");
}

/* As a feed in lock step does: when the ring is full, wait until half of it is free. */
static void
push(struct helper *h, const struct ease_notification *n)
{
	while (notify_ring_push(h->ring, n) == -ENOBUFS) {
		if (!notify_ring_want_space(h->ring, NOTIFY_RING_DEFAULT / 2))
			wait_readable(notify_ring_space_fd(h->ring), 30000);
	}
}

/* Until all is acknowledged, and the datagrams that the master sent are read: polled, since they
 * come over a socket that nobody here writes. */
static void
wait_arrival(struct helper *h, uint64_t samples, uint64_t limit_us)
{
	uint64_t end_us = clock_mono_us(&clock_system) + limit_us;

	while ((!notify_ring_idle(h->ring) || h->sink.samples < samples) &&
	    clock_mono_us(&clock_system) < end_us)
		usleep(200);
}

/* CPU time of this process but for the collector's stand-in. */
static double
sender_cpu_s(const struct sink *sink)
{
	struct timespec all, receiver;
	clockid_t clock;

	if (pthread_getcpuclockid(sink->thread, &clock) != 0 || clock_gettime(clock, &receiver) < 0 ||
	    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all) < 0)
		die("CPU time");
	return (double)(all.tv_sec - receiver.tv_sec) + (double)(all.tv_nsec - receiver.tv_nsec) / 1e9;
}

/* Datagrams count: of SNMPv3 the samples cannot be read, so that their numbers are free again. */
static void
direct(struct helper *h, unsigned notifications, unsigned parts, unsigned version)
{
	const struct trap_sink sink = {.address = h->sink.address,
	    .community = (char *)(version == 2 ? "public" : ""),
	    .user = (char *)(version == 2 ? "" : "bench"), .auth_passphrase = (char *)"authentic words",
	    .priv_passphrase = (char *)"private words", .max_per_s = TRAP_SINK_RATE_MAX};
	const struct notify_source source = {{1, 2, 3, 4, 5, 6, 7, 8}, 7};
	static struct ease_notification n;
	uint64_t before = h->sink.datagrams, start_us, sent_us;
	uint32_t last_number = h->last_number;
	struct trap_sinks *sinks;
	double cpu_s;
	char error[200];

	if (trap_sinks_create(&sink, 1, &source, &clock_system, &sinks, error, sizeof(error)) < 0)
		die(error);
	cpu_s = sender_cpu_s(&h->sink);
	start_us = clock_mono_us(&clock_system);
	for (unsigned i = 0; i < notifications; i++) {
		make_notification(h, parts, &n);
		while (trap_sinks_push(sinks, &n) == -ENOBUFS) {
			if (clock_mono_us(&clock_system) - start_us > SINK_WAIT_US)
				die("the sink takes no more");
			usleep(100);
		}
	}
	sent_us = clock_mono_us(&clock_system) - start_us;
	cpu_s = sender_cpu_s(&h->sink) - cpu_s;
	for (unsigned i = 0; i < 1000 && h->sink.datagrams - before < notifications; i++)
		usleep(1000);
	printf("{\"direct\":%u,\"parts\":%u,\"version\":%u,\"arrived\":%" PRIu64
	       ",\"notifications_per_s\":%.0f,\"sender_cpu_us\":%.2f}\n",
	    notifications, parts, version, (uint64_t)h->sink.datagrams - before,
	    notifications * 1e6 / (double)sent_us, cpu_s * 1e6 / notifications);
	if (version == 3)
		h->last_number = last_number;
	trap_sinks_destroy(sinks);
}

static void
burst(struct helper *h, unsigned samples, unsigned parts)
{
	uint64_t start_us = clock_mono_us(&clock_system), took_us;
	double cpu_s = sender_cpu_s(&h->sink);
	static struct ease_notification n;

	for (unsigned left = samples; left > 0; left -= parts < left ? parts : left) {
		make_notification(h, parts < left ? parts : left, &n);
		push(h, &n);
	}
	wait_arrival(h, h->last_number, 120000000);
	took_us = clock_mono_us(&clock_system) - start_us;
	printf("{\"burst\":%u,\"parts\":%u,\"idle\":%s,\"arrived\":%" PRIu64 ",\"sent\":%u"
	       ",\"repeated\":%" PRIu64 ",\"seconds\":%.3f,\"samples_per_s\":%.0f"
	       ",\"notifications_per_s\":%.0f,\"sender_cpu_us\":%.2f}\n",
	    samples, parts, notify_ring_idle(h->ring) ? "true" : "false", (uint64_t)h->sink.samples,
	    h->last_number, (uint64_t)h->sink.repeated, (double)took_us / 1e6,
	    samples * 1e6 / (double)took_us, samples * 1e6 / parts / (double)took_us,
	    (sender_cpu_s(&h->sink) - cpu_s) * 1e6 * parts / samples);
}

/* ---- other commands ---- */

static uint64_t
walk_table(const struct mib_table *table, const struct mib_context *context)
{
	uint32_t name[MIB_OID_MAX];
	struct mib_value value;
	size_t n = table->entry.n;
	uint64_t cells = 0;

	memcpy(name, table->entry.arcs, n * sizeof(*name));
	while (mib_get_next(table, context, name, n, name, &n, &value) == MIB_FOUND)
		cells++;
	return cells;
}

static void
walk(struct helper *h)
{
	struct mib_context context = {.snapshot = &h->fixture.mib_snapshot, .mono_us = 1};
	uint64_t start_us = clock_mono_us(&clock_system), cells = 0, took_us;

	for (size_t i = 0; i < mibs_n_tables; i++)
		cells += walk_table(mibs_tables[i], &context);
	took_us = clock_mono_us(&clock_system) - start_us;
	printf("{\"walk\":%" PRIu64 ",\"ns_per_cell\":%.0f}\n", cells,
	    (double)took_us * 1000 / (double)cells);
}

static void
stats(struct helper *h)
{
	const struct stat_set *set = notify_ring_stats(h->ring);

	printf("{\"connected\":%s", snmp_agent_connected(h->agent) ? "true" : "false");
	for (unsigned i = 0; i < set->n; i++)
		printf(",\"%s\":%" PRIu64, set->names[i].name, stat_get(set, i));
	printf("}\n");
}

static void
command(struct helper *h, const char *line)
{
	unsigned samples, parts = 1, version = 2;

	if (sscanf(line, "burst %u %u", &samples, &parts) >= 1 && parts > 0)
		burst(h, samples, parts);
	else if (sscanf(line, "direct %u %u %u", &samples, &parts, &version) == 3 && parts > 0)
		direct(h, samples, parts, version);
	else if (strncmp(line, "walk", 4) == 0)
		walk(h);
	else if (strncmp(line, "stats", 5) == 0)
		stats(h);
	else
		printf("{\"error\":\"unknown command\"}\n");
	fflush(stdout);
}

/* ---- what is served and sent ---- */

static void
list_part(enum ease_part part, const char *name, size_t n_index, const struct wbuf *value)
{
	const struct trap_part p = {.part = part, .if_index = 1, .sequence = 1};
	uint32_t oid[TRAP_WIRE_OID_MAX];
	size_t n = trap_wire_part_oid(&p, oid) - n_index;

	printf("%s\t", name);
	for (size_t i = 0; i < n; i++)
		printf("%s%" PRIu32, i > 0 ? "." : "", oid[i]);
	printf("\taccessible-for-notify\t%u\t%zu\n", value->data[0], value->len);
}

/* Each with its layout and the octets of its value when everything in it of variable length is
 * empty. */
static void
list_notified(void)
{
	const struct ease_sample sample = {.direction = EASE_IN, .mean_skip = 1};
	const struct ease_snapshot snapshot = {.if_index = 1};
	struct ease_state state = {.duplex = EASE_DUPLEX_UNKNOWN};
	const struct ease_address address = {.if_index = 1};
	const struct ease_resources resources = {.if_index = 1};
	const struct ease_error_source source = {.if_index = 1, .kind = EASE_ERROR_FCS};
	const struct ease_change change = {.if_index = 1};
	uint8_t octets[512];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_sample(&w, &sample);
	list_part(EASE_PART_SAMPLE, "easeSampleDatagram", 2, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_snapshot(&w, &snapshot);
	list_part(EASE_PART_SNAPSHOT, "easeSnapshot", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_resources(&w, &resources);
	list_part(EASE_PART_RESOURCES, "easeSnapshot", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_state(&w, &state);
	list_part(EASE_PART_STATE, "easeState", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	state.forwarding = EASE_FORWARDING_SOFTWARE;
	trap_wire_put_state(&w, &state);
	list_part(EASE_PART_STATE, "easeState", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_address(&w, &address);
	list_part(EASE_PART_ADDRESS, "easeAddress", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_error_source(&w, &source);
	list_part(EASE_PART_ERROR_SOURCE, "easeErrorInfo", 1, &w);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_change(&w, &change);
	list_part(EASE_PART_CHANGE, "easeChange", 1, &w);
}

static void
start_agent(struct helper *h, const char *socket)
{
	struct snmp_agent_options options = {
		.agentx_socket = socket,
		.app_name = "snmp_subagent",
		.clock = &clock_system,
		.tables = mibs_tables,
		.n_tables = mibs_n_tables,
		.modules = mibs_modules,
		.n_modules = mibs_n_modules,
		.snapshots = {&h->fixture, fixture_hold, fixture_release},
		.setter = {&h->fixture, fixture_apply},
		.ring = h->ring,
		.agent_id = {1, 2, 3, 4, 5, 6, 7, 8},
		.boot = 7,
	};

	if (snmp_agent_create(&options, &h->agent) || snmp_agent_start(h->agent))
		die("agent");
}

int
main(int argc, char **argv)
{
	static struct helper h;
	char line[256];

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		mib_list_objects(stdout);
		list_notified();
		return 0;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: snmp_subagent SOCKET PORTS ADDRESSES\n");
		return 2;
	}
	if (fixture_create(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), &h.fixture) ||
	    notify_ring_create(NOTIFY_RING_DEFAULT, &h.ring))
		die("start");
	printf("{\"sink_port\":%u}\n", open_sink(&h.sink));
	fflush(stdout);
	start_agent(&h, argv[1]);
	while (fgets(line, sizeof(line), stdin))
		command(&h, line);
	snmp_agent_stop(h.agent, 5000);
	if (!snmp_agent_destroy(h.agent))
		_exit(0); /* exit would take the libraries from under the hanging thread */
	notify_ring_destroy(h.ring);
	fixture_destroy(&h.fixture);
	return 0;
}
