/*
 * A store of a network over many days, written through the real batches, and the same traffic as
 * NetFlow v5 to a collector to compare with. 100 switches of 48 ports, four hosts a port, and on
 * four ports the world outside; hosts, peers and services are as skewed as they are in life. Each
 * port sends in three minutes a day, some eight flows each, most of one or two samples, few of very
 * many. So a month has every level, with as many keys as such a network has, in minutes of work.
 *   make_store STORE DAYS SEED [NETFLOW-PORT]
 * Prints what was written as one JSON object.
 */
#include "collector/store/store.h"
#include "collector/store/upkeep.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND_US 1000000ull
#define HOUR_US	  (3600 * SECOND_US)
#define DAY_US	  (24 * HOUR_US)
#define START_US  (20449 * DAY_US) /* 2025-12-27, a UTC midnight */

enum {
	AGENTS = 100,
	PORTS = 48,
	HOSTS = 4,	     /* of a port */
	GATEWAYS = 4,	     /* agents whose last port leads outside */
	OUTSIDE = 20000,     /* hosts there */
	SERVERS = 200,	     /* hosts that half of all traffic goes to */
	MINUTES_A_DAY = 3,   /* of a port */
	FLOWS = 8,	     /* of a port's minute, on average */
	SKIP = 400,
	MOST_FLOWS = 64,     /* of a port's minute */
	FLOW_RECORDS = 30,   /* of a NetFlow v5 datagram */
};

struct flow {
	uint32_t src, dst; /* IPv4 */
	uint16_t src_port, dst_port;
	uint8_t ip_proto;
	uint32_t n, octets; /* samples, of so many octets each */
};

struct maker {
	uint64_t random;
	struct store *store;
	struct store_batch *batch;
	uint32_t sequence[AGENTS + 1][PORTS + 1];
	uint64_t octets[AGENTS + 1][PORTS + 1];
	uint64_t samples, flows, windows, last_day_us;
	int netflow; /* socket, or -1 */
	uint32_t netflow_sequence;
	uint8_t datagram[24 + FLOW_RECORDS * 48];
	unsigned n_records;
};

static uint64_t
draw(struct maker *m, uint64_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (m->random >> 11) % below;
}

/* 0 … n-1, the i-th as likely as 1 / (i + 1) by and large (Zipf). */
static uint64_t
draw_skewed(struct maker *m, uint64_t n)
{
	double u = (double)draw(m, 1 << 30) / (1 << 30);

	return (uint64_t)(pow((double)n + 1, u) - 1) % n;
}

/* ---- traffic ---- */

static uint32_t
host_address(uint64_t agent, uint64_t port, uint64_t host)
{
	return (uint32_t)(10u << 24 | agent << 16 | port << 8 | (host + 1));
}

static uint32_t
any_host(struct maker *m)
{
	uint64_t s = draw(m, 2) ? draw_skewed(m, SERVERS) : draw(m, AGENTS * PORTS * HOSTS);

	return host_address(1 + s * 7 % AGENTS, 1 + s / AGENTS % PORTS, s % HOSTS);
}

static void
make_flow(struct maker *m, uint64_t agent, uint64_t port, struct flow *f)
{
	static const uint16_t services[] = {443, 53, 80, 22, 445, 3306, 123, 993, 8080, 5432};
	bool outside = port == PORTS && agent <= GATEWAYS;

	f->src = outside ? 0xcb000000u + (uint32_t)draw_skewed(m, OUTSIDE)
			 : host_address(agent, port, draw_skewed(m, HOSTS));
	f->dst = !outside && draw(m, 3) == 0 ? 0xcb000000u + (uint32_t)draw_skewed(m, OUTSIDE)
					     : any_host(m);
	f->dst_port = services[draw_skewed(m, sizeof(services) / sizeof(services[0]))];
	f->src_port = (uint16_t)(32768 + draw(m, 28000));
	f->ip_proto = f->dst_port == 53 || f->dst_port == 123 ? 17 : 6;
	f->n = (uint32_t)(1 / pow(1 - (double)draw(m, 1 << 20) / (1 << 20), 0.8));
	f->n = f->n > 5000 ? 5000 : f->n;
	f->octets = draw(m, 2) ? 1518 : 64 + (uint32_t)draw(m, 1400);
}

/* ---- NetFlow v5 ---- */

static void
put(uint8_t *at, uint64_t value, int octets)
{
	for (int i = 0; i < octets; i++)
		at[i] = (uint8_t)(value >> 8 * (octets - 1 - i));
}

static void
send_records(struct maker *m, uint64_t time_us)
{
	if (m->netflow < 0 || m->n_records == 0)
		return;
	memset(m->datagram, 0, 24);
	put(m->datagram, 5, 2);
	put(m->datagram + 2, m->n_records, 2);
	put(m->datagram + 4, 60000, 4); /* up since a minute */
	put(m->datagram + 8, time_us / SECOND_US, 4);
	put(m->datagram + 16, m->netflow_sequence, 4);
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
	put(r, f->src, 4);
	put(r + 4, f->dst, 4);
	put(r + 12, port, 2);
	put(r + 16, (uint64_t)f->n * SKIP, 4);
	put(r + 20, (uint64_t)f->n * SKIP * f->octets, 4);
	put(r + 24, 1000, 4);
	put(r + 28, 59000, 4);
	put(r + 32, f->src_port, 2);
	put(r + 34, f->dst_port, 2);
	put(r + 38, f->ip_proto, 1);
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

static struct store_sums
sums_of(const struct flow *f)
{
	double n = f->n, w = SKIP, b = f->octets;

	return (struct store_sums){f->n, n * w, n * w * w, n * w * b, n * w * b * b,
	    n * w * w * b * b};
}

static void
add_key(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port, uint8_t kind,
    const void *key1, const void *key2, uint8_t octets, const struct flow *f)
{
	struct store_key *k = row(m, STORE_KEYS);

	*k = (struct store_key){.start_us = start_us, .agent = (int64_t)agent,
	    .if_index = (uint32_t)port, .direction = EASE_IN, .kind = kind, .key1_octets = octets,
	    .key2_octets = key2 ? octets : 0, .sums = sums_of(f)};
	memcpy(k->key1, key1, octets);
	if (key2)
		memcpy(k->key2, key2, octets);
}

static void
add_keys(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port, const struct flow *f)
{
	uint8_t mac[2][6] = {{2, 0}, {2, 0}}, ip[2][7], service[3];

	put(ip[0], f->src, 4);
	put(ip[1], f->dst, 4);
	memcpy(mac[0] + 2, ip[0], 4);
	memcpy(mac[1] + 2, ip[1], 4);
	add_key(m, start_us, agent, port, STORE_KEY_ETH_PAIR, mac[0], mac[1], 6, f);
	add_key(m, start_us, agent, port, STORE_KEY_IP_PAIR, ip[0], ip[1], 4, f);
	add_key(m, start_us, agent, port, STORE_KEY_ETHERTYPE, "\x08", NULL, 2, f);
	add_key(m, start_us, agent, port, STORE_KEY_IP_PROTO, &f->ip_proto, NULL, 1, f);
	service[0] = f->ip_proto;
	put(service + 1, f->dst_port, 2);
	add_key(m, start_us, agent, port, STORE_KEY_SERVER_PORT, service, NULL, 3, f);
	put(ip[0] + 4, f->src_port, 2);
	put(ip[1] + 4, f->dst_port, 2);
	ip[0][6] = ip[1][6] = f->ip_proto;
	add_key(m, start_us, agent, port, STORE_KEY_CONVERSATION, ip[0], ip[1], 7, f);
}

static void
add_samples(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port, const struct flow *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct store_sample *s = row(m, STORE_SAMPLES);

		*s = (struct store_sample){.agent = (int64_t)agent, .boot = 1, .stands_for = 1,
		    .sample = {.if_index = (uint32_t)port,
			.sequence = m->sequence[agent][port] + 1 + i,
			.time_us = start_us + i * 10000ull, .direction = EASE_IN,
			.input_if = (uint32_t)port, .skip = SKIP - 1, .mean_skip = SKIP,
			.frame_octets = f->octets},
		    .keys = {.has_macs = true, .src_mac = {2, 0}, .dst_mac = {2, 0},
			.has_ethertype = true, .ethertype = 0x800, .ip_version = 4,
			.has_ip_proto = true, .ip_proto = f->ip_proto, .has_ports = true,
			.src_port = f->src_port, .dst_port = f->dst_port}};
		put(s->keys.src_ip, f->src, 4);
		put(s->keys.dst_ip, f->dst, 4);
		memcpy(s->keys.src_mac + 2, s->keys.src_ip, 4);
		memcpy(s->keys.dst_mac + 2, s->keys.dst_ip, 4);
		if (m->batch->rows[STORE_SAMPLES].n == m->batch->rows[STORE_SAMPLES].room)
			submit(m);
	}
}

static void
add_totals(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port,
    const struct store_sums *sums)
{
	struct store_window *w = row(m, STORE_WINDOWS);
	struct store_window_port *p = row(m, STORE_WINDOW_PORTS);
	struct store_counter *c = row(m, STORE_COUNTERS);

	*w = (struct store_window){.start_us = start_us, .agent = (int64_t)agent,
	    .if_index = (uint32_t)port, .direction = EASE_IN, .sums = *sums,
	    .pool_pkts = (int64_t)sums->w + (int64_t)draw(m, SKIP),
	    .pool_octets = (int64_t)sums->wb + (int64_t)draw(m, 64 * SKIP)};
	*p = (struct store_window_port){start_us, (int64_t)agent, (uint32_t)port, (int64_t)sums->n,
	    (int64_t)sums->n};
	m->octets[agent][port] += (uint64_t)w->pool_octets;
	*c = (struct store_counter){.agent = (int64_t)agent, .boot = 1,
	    .received_us = start_us + 60 * SECOND_US,
	    .snapshot = {.if_index = (uint32_t)port, .time_us = start_us + 59 * SECOND_US,
		.in = {.octets = m->octets[agent][port]},
		.samples = m->sequence[agent][port]}};
}

static void
make_minute(struct maker *m, uint64_t start_us, uint64_t agent, uint64_t port)
{
	uint64_t n = 1 + draw(m, 2 * FLOWS - 1);
	struct store_sums all = {0};

	if (port == PORTS && agent <= GATEWAYS)
		n = MOST_FLOWS;
	for (uint64_t i = 0; i < n; i++) {
		struct store_sums s;
		struct flow f;

		make_flow(m, agent, port, &f);
		s = sums_of(&f);
		all = (struct store_sums){all.n + s.n, all.w + s.w, all.w2 + s.w2, all.wb + s.wb,
		    all.wb2 + s.wb2, all.w2b2 + s.w2b2};
		add_keys(m, start_us, agent, port, &f);
		if (start_us >= m->last_day_us)
			add_samples(m, start_us, agent, port, &f);
		if (m->netflow >= 0)
			add_record(m, port, &f, start_us);
		m->sequence[agent][port] += f.n;
		m->samples += f.n;
		m->flows++;
	}
	add_totals(m, start_us, agent, port, &all);
	m->windows++;
}

static void
add_agents(struct maker *m, uint64_t last_us)
{
	for (uint64_t a = 1; a <= AGENTS; a++) {
		struct store_agent *agent = row(m, STORE_AGENTS);

		*agent = (struct store_agent){.id = (int64_t)a, .agent_id = {0xea, 5, 0xe0, (uint8_t)a},
		    .boot = 1, .first_us = START_US, .last_us = last_us, .last_received_us = last_us};
		snprintf(agent->address, sizeof(agent->address), "10.255.0.%u", (unsigned)a);
		for (uint64_t p = 1; p <= PORTS && last_us == START_US; p++) {
			struct store_port *port = row(m, STORE_PORTS);

			*port = (struct store_port){.agent = (int64_t)a, .boot = 1,
			    .state = {.if_index = (uint32_t)p, .time_us = START_US,
				.speed_bps = 1000000000, .duplex = EASE_DUPLEX_FULL,
				.admin_status = EASE_IF_UP, .oper_status = EASE_IF_UP, .edge = true}};
			snprintf(port->state.name, sizeof(port->state.name), "ge-%u", (unsigned)p);
		}
	}
}

/* Each hour's seventh minute is one that ports may send in. */
static void
make_days(struct maker *m, uint64_t days)
{
	add_agents(m, START_US);
	for (uint64_t h = 0; h < days * 24; h++) {
		uint64_t start_us = START_US + h * HOUR_US + 7 * 60 * SECOND_US;

		for (uint64_t a = 1; a <= AGENTS; a++)
			for (uint64_t p = 1; p <= PORTS; p++)
				if (draw(m, 24) < MINUTES_A_DAY || (p == PORTS && a <= GATEWAYS))
					make_minute(m, start_us, a, p);
		send_records(m, start_us);
		add_agents(m, start_us + 59 * SECOND_US);
		submit(m);
	}
}

/* What the store's own thread would have done in time. */
static void
keep_up(const char *path)
{
	static const struct store_retention defaults = {.samples_us = DAY_US,
	    .level_us = {[LEVEL_1_MIN] = 2 * DAY_US, [LEVEL_5_MIN] = 14 * DAY_US,
		[LEVEL_1_H] = 92 * DAY_US, [LEVEL_1_D] = 800 * DAY_US}};
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
		fprintf(stderr, "usage: make_store STORE DAYS SEED [NETFLOW-PORT]\n");
		return EXIT_FAILURE;
	}
	days = strtoull(argv[2], NULL, 10);
	m.random = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	m.last_day_us = START_US + (days - 1) * DAY_US;
	if (argc > 4)
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
	keep_up(argv[1]);
	printf("{\"agents\":%d,\"ports\":%d,\"hosts\":%d,\"days\":%llu,\"samples\":%llu,"
	       "\"flow_minutes\":%llu,\"port_minutes\":%llu}\n", AGENTS, AGENTS * PORTS,
	    AGENTS * PORTS * HOSTS + OUTSIDE, (unsigned long long)days,
	    (unsigned long long)m.samples, (unsigned long long)m.flows,
	    (unsigned long long)m.windows);
	return EXIT_SUCCESS;
}
