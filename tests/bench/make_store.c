/*
 * A store of a network over many days (traffic.h), written through the real batches, and the same
 * traffic as NetFlow v5 to a collector to compare with. So a month has every level, with as many keys
 * as such a network has, in minutes of work.
 *   make_store STORE DAYS SEED [NETFLOW-PORT [AGENTS]]     port 0: no NetFlow; 100 agents
 * Prints what was written as one JSON object.
 */
#include "collector/store/store.h"
#include "collector/store/upkeep.h"
#include "traffic.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FLOW_RECORDS = 30 }; /* of a NetFlow v5 datagram */

struct maker {
	struct traffic traffic;
	struct store *store;
	struct store_batch *batch;
	uint32_t sequence[TRAFFIC_AGENTS_MAX + 1][TRAFFIC_PORTS + 1];
	uint64_t octets[TRAFFIC_AGENTS_MAX + 1][TRAFFIC_PORTS + 1];
	uint64_t samples, flows, windows, last_day_us;
	int netflow; /* socket, or -1 */
	uint32_t netflow_sequence;
	uint8_t datagram[24 + FLOW_RECORDS * 48];
	unsigned n_records;
};

/* ---- NetFlow v5 ---- */

static void
send_records(struct maker *m, uint64_t time_us)
{
	if (m->netflow < 0 || m->n_records == 0)
		return;
	memset(m->datagram, 0, 24);
	traffic_put(m->datagram, 5, 2);
	traffic_put(m->datagram + 2, m->n_records, 2);
	traffic_put(m->datagram + 4, 60000, 4); /* up since a minute */
	traffic_put(m->datagram + 8, time_us / TRAFFIC_SECOND_US, 4);
	traffic_put(m->datagram + 16, m->netflow_sequence, 4);
	m->netflow_sequence += m->n_records;
	if (send(m->netflow, m->datagram, 24 + m->n_records * 48, 0) < 0)
		perror("make_store: NetFlow");
	m->n_records = 0;
	if (m->netflow_sequence / FLOW_RECORDS % 64 == 0)
		usleep(4000); /* no more than its buffer takes */
}

static void
add_record(struct maker *m, uint64_t port, const struct flow *f, uint64_t time_us)
{
	uint8_t *r = m->datagram + 24 + m->n_records * 48;

	memset(r, 0, 48);
	traffic_put(r, f->src, 4);
	traffic_put(r + 4, f->dst, 4);
	traffic_put(r + 12, port, 2);
	traffic_put(r + 16, (uint64_t)f->n * TRAFFIC_SKIP, 4);
	traffic_put(r + 20, (uint64_t)f->n * TRAFFIC_SKIP * f->octets, 4);
	traffic_put(r + 24, 1000, 4);
	traffic_put(r + 28, 59000, 4);
	traffic_put(r + 32, f->src_port, 2);
	traffic_put(r + 34, f->dst_port, 2);
	traffic_put(r + 38, f->ip_proto, 1);
	if (++m->n_records == FLOW_RECORDS)
		send_records(m, time_us);
}

/* ---- rows ---- */

static void
fail(const char *what)
{
	fprintf(stderr, "make_store: %s\n", what);
	exit(EXIT_FAILURE);
}

static void *
row(struct maker *m, enum store_table table)
{
	void *r = store_batch_add(m->batch, table);

	if (!r)
		fail("a batch is too small");
	return r;
}

static void
submit(struct maker *m)
{
	store_submit(m->store, m->batch);
	if (store_drain(m->store) < 0)
		fail("the store cannot be written");
	m->batch = store_take(m->store);
}

static void
add_keys(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port, const struct flow *f)
{
	struct flow_key keys[TRAFFIC_KEYS];

	flow_keys(f, keys);
	for (int i = 0; i < TRAFFIC_KEYS; i++) {
		struct store_key *k = row(m, STORE_KEYS);

		*k = (struct store_key){.start_us = start_us, .agent = (int64_t)agent,
		    .if_index = (uint32_t)port, .direction = EASE_IN, .kind = keys[i].kind,
		    .key1_octets = keys[i].octets1, .key2_octets = keys[i].octets2,
		    .sums = flow_sums(f)};
		memcpy(k->key1, keys[i].key1, sizeof(k->key1));
		memcpy(k->key2, keys[i].key2, sizeof(k->key2));
	}
}

static void
add_samples(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port, const struct flow *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct store_sample *s = row(m, STORE_SAMPLES);

		*s = (struct store_sample){.agent = (int64_t)agent, .boot = 1, .stands_for = 1,
		    .has_dst_port = true, .dst_port = f->dst_port,
		    .sample = {.if_index = (uint32_t)port,
			.sequence = m->sequence[agent][port] + 1 + i,
			.time_us = start_us + i * 10000ull, .direction = EASE_IN,
			.input_if = (uint32_t)port, .skip = TRAFFIC_SKIP - 1, .mean_skip = TRAFFIC_SKIP,
			.frame_octets = f->octets},
		    .keys = {.has_macs = true, .src_mac = {2, 0}, .dst_mac = {2, 0},
			.has_ethertype = true, .ethertype = 0x800, .ip_version = 4,
			.has_ip_proto = true, .ip_proto = f->ip_proto, .has_ports = true,
			.src_port = f->src_port}};
		traffic_put(s->keys.src_ip, f->src, 4);
		traffic_put(s->keys.dst_ip, f->dst, 4);
		memcpy(s->keys.src_mac + 2, s->keys.src_ip, 4);
		memcpy(s->keys.dst_mac + 2, s->keys.dst_ip, 4);
		if (m->batch->rows[STORE_SAMPLES].n == m->batch->rows[STORE_SAMPLES].room)
			submit(m);
	}
}

static void
add_totals(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port,
    const struct traffic_minute *minute)
{
	struct store_window *w = row(m, STORE_WINDOWS);
	struct store_window_port *p = row(m, STORE_WINDOW_PORTS);
	struct store_counter *c = row(m, STORE_COUNTERS);

	*w = (struct store_window){.start_us = start_us, .agent = (int64_t)agent,
	    .if_index = (uint32_t)port, .direction = EASE_IN, .sums = minute->sums,
	    .pool_pkts = (int64_t)minute->pool_pkts, .pool_octets = (int64_t)minute->pool_octets};
	*p = (struct store_window_port){start_us, (int64_t)agent, (uint32_t)port,
	    (int64_t)minute->sums.n, (int64_t)minute->sums.n, 0};
	m->octets[agent][port] += minute->pool_octets;
	*c = (struct store_counter){.agent = (int64_t)agent, .boot = 1,
	    .received_us = start_us + 60 * TRAFFIC_SECOND_US,
	    .snapshot = {.if_index = (uint32_t)port, .time_us = start_us + 59 * TRAFFIC_SECOND_US,
		.in = {.octets = m->octets[agent][port]},
		.samples = m->sequence[agent][port]}};
}

static void
make_minute(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port)
{
	struct traffic_minute minute;

	if (!traffic_next(&m->traffic, agent, port, &minute))
		return;
	for (unsigned i = 0; i < minute.n; i++) {
		const struct flow *f = &minute.flows[i];

		add_keys(m, start_us, agent, port, f);
		if (start_us >= m->last_day_us)
			add_samples(m, start_us, agent, port, f);
		if (m->netflow >= 0)
			add_record(m, port, f, start_us);
		m->sequence[agent][port] += f->n;
	}
	add_totals(m, start_us, agent, port, &minute);
	m->samples += minute.sums.n;
	m->flows += minute.n;
	m->windows++;
}

static void
add_agents(struct maker *m, uint64_t last_us)
{
	for (uint64_t a = 1; a <= m->traffic.n_agents; a++) {
		struct store_agent *agent = row(m, STORE_AGENTS);

		*agent = (struct store_agent){.id = (int64_t)a, .boot = 1,
		    .first_us = TRAFFIC_START_US, .last_us = last_us, .last_received_us = last_us};
		traffic_agent_id(a, agent->agent_id);
		snprintf(agent->address, sizeof(agent->address), "10.255.%u.%u", (unsigned)a >> 8,
		    (unsigned)a & 255);
		for (uint64_t p = 1; p <= TRAFFIC_PORTS && last_us == TRAFFIC_START_US; p++) {
			struct store_port *port = row(m, STORE_PORTS);

			*port = (struct store_port){.agent = (int64_t)a, .boot = 1,
			    .state = {.if_index = (uint32_t)p, .time_us = TRAFFIC_START_US,
				.speed_bps = 1000000000, .duplex = EASE_DUPLEX_FULL,
				.admin_status = EASE_IF_UP, .oper_status = EASE_IF_UP, .edge = true}};
			snprintf(port->state.name, sizeof(port->state.name), "ge-%u", (unsigned)p);
		}
	}
}

static void
make_days(struct maker *m, uint64_t days)
{
	add_agents(m, TRAFFIC_START_US);
	for (uint64_t h = 0; h < days * 24; h++) {
		uint64_t start_us = traffic_minute_us(h);

		for (uint64_t a = 1; a <= m->traffic.n_agents; a++)
			for (uint64_t p = 1; p <= TRAFFIC_PORTS; p++)
				make_minute(m, start_us, a, p);
		send_records(m, start_us);
		add_agents(m, start_us + 59 * TRAFFIC_SECOND_US);
		submit(m);
	}
}

/* What the store's own thread would have done in time. */
static void
do_upkeep(const char *path)
{
	static const struct store_retention defaults = {.samples_us = TRAFFIC_DAY_US,
	    .level_us = {[LEVEL_1_MIN] = 2 * TRAFFIC_DAY_US, [LEVEL_5_MIN] = 14 * TRAFFIC_DAY_US,
		[LEVEL_1_H] = 92 * TRAFFIC_DAY_US, [LEVEL_1_D] = 800 * TRAFFIC_DAY_US}};
	struct upkeep upkeep = {.retention.keep = defaults};
	sqlite3 *db = NULL;
	int more = 1;

	if (sqlite3_open(path, &db) != SQLITE_OK || upkeep_open(&upkeep, db) < 0)
		fail("the store cannot be opened again");
	while (more == 1)
		more = upkeep_step(&upkeep, 100000);
	upkeep_close(&upkeep);
	if (more < 0 || sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) !=
		SQLITE_OK)
		fail("the store cannot be kept up");
	sqlite3_close(db);
}

static int
open_netflow(const char *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		fail("no socket for NetFlow");
	return fd;
}

int
main(int argc, char **argv)
{
	static struct maker m = {.netflow = -1};
	struct store_room room[STORE_N_TABLES] = {0};
	char error[512] = "";
	uint64_t days;

	if (argc < 4) {
		fprintf(stderr, "usage: make_store STORE DAYS SEED [NETFLOW-PORT [AGENTS]]\n");
		return EXIT_FAILURE;
	}
	days = strtoull(argv[2], NULL, 10);
	traffic_init(&m.traffic, argc > 5 ? strtoull(argv[5], NULL, 10) : 100,
	    strtoull(argv[3], NULL, 10));
	m.last_day_us = TRAFFIC_START_US + (days - 1) * TRAFFIC_DAY_US;
	if (argc > 4 && atoi(argv[4]) > 0)
		m.netflow = open_netflow(argv[4]);
	for (int t = 0; t < STORE_N_TABLES; t++)
		room[t].free = 100000;
	room[STORE_KEYS].free = 600000;
	if (store_open(&m.store, argv[1], NULL, error, sizeof(error)) < 0)
		fail(error);
	if (store_start(m.store, room) < 0)
		fail("no memory");
	m.batch = store_take(m.store);
	make_days(&m, days);
	if (store_close(m.store) < 0)
		fail("the store cannot be closed");
	do_upkeep(argv[1]);
	printf("{\"agents\":%llu,\"ports\":%llu,\"hosts\":%llu,\"days\":%llu,\"samples\":%llu,"
	       "\"flow_minutes\":%llu,\"port_minutes\":%llu}\n",
	    (unsigned long long)m.traffic.n_agents,
	    (unsigned long long)m.traffic.n_agents * TRAFFIC_PORTS,
	    (unsigned long long)m.traffic.n_agents * TRAFFIC_PORTS * TRAFFIC_HOSTS + TRAFFIC_OUTSIDE,
	    (unsigned long long)days, (unsigned long long)m.samples, (unsigned long long)m.flows,
	    (unsigned long long)m.windows);
	return EXIT_SUCCESS;
}
