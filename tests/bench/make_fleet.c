/*
 * Rows of a whole network's months (traffic.h) as a cluster's tables have them after every roll-up and
 * retention by the defaults, in ClickHouse's RowBinary, so that a fleet of years need not be
 * received to be asked about. The same agents, seed and days give the store of make_store.
 *   make_fleet ids AGENTS                                 agents' numbers and ids in hexadecimal
 *   make_fleet insert TABLE DATABASE                      INSERT INTO DATABASE.TABLE_local ...
 *   make_fleet rows TABLE AGENTS DAYS SEED < NUMBERS      rows of the agents with these numbers
 * Tables: keys, ports, counter, cover, agent, port, account. How many rows there were is said on
 * standard error.
 */
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/sql.h"
#include "traffic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DAYS_1_MIN = 2,	 /* kept of each level; hours and days are all kept */
	DAYS_5_MIN = 14,
	ENTRIES_MAX = 24 * TRAFFIC_PORTS * TRAFFIC_FLOWS_MAX * TRAFFIC_KEYS,
	COLLECTOR = 1,
	BUFFER_OCTETS = 1 << 20,
	ROW_OCTETS = 1024, /* at most */
};

/* A key, or a port's totals, of one minute. */
struct entry {
	uint8_t hour, port;
	struct flow_key key; /* kind 0 in totals */
	struct store_sums sums;
	uint64_t pool_pkts, pool_octets;
	uint64_t octets, samples; /* of the port, since its first day */
};

/* Columns that have a value, by name; others are 0 or empty. */
enum field {
	LEVEL, KIND, START, TIME, FIRST, LAST, SINCE, LAST_RECEIVED, RECEIVED_AT, LOW, HIGH, IF_INDEX,
	DIRECTION, BOOT, COLLECTOR_ID, REVISION, N, W, W2, WB, WB2, W2B2, POOL_PKTS, POOL_OCTETS,
	EXPECTED, RECEIVED, IN_OCTETS, SAMPLES, LAST_SEQUENCE, SPEED, DUPLEX, ADMIN, OPER, EDGE,
	N_FIELDS,
};
static const char *const field_names[N_FIELDS] = {
    [LEVEL] = "level", [KIND] = "kind", [START] = "start_us", [TIME] = "time_us",
    [FIRST] = "first_us", [LAST] = "last_us", [SINCE] = "since_us",
    [LAST_RECEIVED] = "last_received_us", [RECEIVED_AT] = "received_us", [LOW] = "low_us",
    [HIGH] = "high_us", [IF_INDEX] = "if_index", [DIRECTION] = "direction", [BOOT] = "boot",
    [COLLECTOR_ID] = "collector", [REVISION] = "revision", [N] = "n", [W] = "w", [W2] = "w2",
    [WB] = "wb", [WB2] = "wb2", [W2B2] = "w2b2", [POOL_PKTS] = "pool_pkts",
    [POOL_OCTETS] = "pool_octets", [EXPECTED] = "expected", [RECEIVED] = "received",
    [IN_OCTETS] = "in_octets", [SAMPLES] = "samples", [LAST_SEQUENCE] = "last_sequence",
    [SPEED] = "speed_bps", [DUPLEX] = "duplex", [ADMIN] = "admin_status", [OPER] = "oper_status",
    [EDGE] = "edge",
};

struct fleet {
	struct traffic traffic;
	uint64_t days;
	const struct cluster_table *table;
	enum field fields[ROW_CELLS_MAX]; /* of the table's columns */
	struct row_buffer out;
	uint64_t rows;
	uint64_t octets[TRAFFIC_AGENTS_MAX + 1][TRAFFIC_PORTS + 1];
	uint64_t samples[TRAFFIC_AGENTS_MAX + 1][TRAFFIC_PORTS + 1];
	size_t n;
	struct entry entries[ENTRIES_MAX]; /* of an agent's day */
	struct entry *order[ENTRIES_MAX];
};

static void
fail(const char *what)
{
	fprintf(stderr, "make_fleet: %s\n", what);
	exit(EXIT_FAILURE);
}

/* ---- rows ---- */

static bool
makes(const struct fleet *f, enum cluster_table_id id)
{
	return f->table == &cluster_tables[id];
}

static void
choose_table(struct fleet *f, const char *name)
{
	for (size_t i = 0; i < CLUSTER_N_TABLES; i++)
		if (strcmp(cluster_tables[i].name, name) == 0)
			f->table = &cluster_tables[i];
	if (!f->table)
		fail("no such table");
	for (size_t i = 0; i < cluster_n_columns(f->table); i++) {
		enum field field = 0;

		while (field < N_FIELDS && strcmp(field_names[field], cluster_column(f->table, i).name) != 0)
			field++;
		f->fields[i] = field;
	}
}

static void
flush(struct fleet *f)
{
	if (f->out.failed || fwrite(f->out.data, 1, f->out.len, stdout) != f->out.len)
		fail("nobody reads");
	row_buffer_clear(&f->out);
}

static void
put_text(struct fleet *f, const char *column, uint64_t agent, const struct entry *e)
{
	char text[32] = "";

	if (strcmp(column, "key1") == 0) {
		row_put_text(&f->out, e->key.key1, e->key.octets1);
		return;
	}
	if (strcmp(column, "key2") == 0) {
		row_put_text(&f->out, e->key.key2, e->key.octets2);
		return;
	}
	if (strcmp(column, "address") == 0)
		snprintf(text, sizeof(text), "10.255.%u.%u", (unsigned)agent >> 8, (unsigned)agent & 255);
	if (strcmp(column, "name") == 0)
		snprintf(text, sizeof(text), "ge-%u", e->port);
	row_put_text(&f->out, text, strlen(text));
}

static void
put_values(struct fleet *f, uint64_t agent, const struct entry *e, const double values[])
{
	uint8_t id[8];

	for (size_t i = 0; i < cluster_n_columns(f->table); i++) {
		const struct cluster_column column = cluster_column(f->table, i), *c = &column;
		double value = f->fields[i] < N_FIELDS ? values[f->fields[i]] : 0;

		switch (c->type) {
		case CLUSTER_U8: row_put_int(&f->out, (uint64_t)value, 1); break;
		case CLUSTER_U16: row_put_int(&f->out, (uint64_t)value, 2); break;
		case CLUSTER_U32: row_put_int(&f->out, (uint64_t)value, 4); break;
		case CLUSTER_U64:
		case CLUSTER_I64: row_put_int(&f->out, (uint64_t)value, 8); break;
		case CLUSTER_F64: row_put_f64(&f->out, value); break;
		case CLUSTER_TEXT: put_text(f, c->name, agent, e); break;
		case CLUSTER_AGENT_ID:
			traffic_agent_id(agent, id);
			row_put_fixed(&f->out, id, sizeof(id));
			break;
		default: row_put_null(&f->out, true);
		}
	}
	f->rows++;
	if (f->out.len + ROW_OCTETS > BUFFER_OCTETS)
		flush(f);
}

/* level 0: state, of the last day's end. */
static void
put_row(struct fleet *f, uint64_t agent, const struct entry *e, unsigned level, uint64_t day)
{
	uint64_t span_us = (level > 0 ? level : 1) * 60 * TRAFFIC_SECOND_US;
	uint64_t at_us = traffic_minute_us(day * 24 + e->hour);
	uint64_t time_us = at_us + 59 * TRAFFIC_SECOND_US;
	uint64_t received = makes(f, CLUSTER_PORTS) ? e->sums.n : e->samples;
	const double values[N_FIELDS] = {
	    [LEVEL] = level, [KIND] = e->key.kind, [START] = (double)(at_us - at_us % span_us),
	    [TIME] = (double)time_us, [FIRST] = (double)TRAFFIC_START_US, [LAST] = (double)time_us,
	    [SINCE] = (double)TRAFFIC_START_US, [LAST_RECEIVED] = (double)time_us,
	    [RECEIVED_AT] = (double)time_us, [LOW] = (double)at_us, [HIGH] = (double)time_us,
	    [IF_INDEX] = e->port, [BOOT] = 1, [REVISION] = 1,
	    [DIRECTION] = EASE_IN, [COLLECTOR_ID] = level <= 1 ? COLLECTOR : 0,
	    [N] = (double)e->sums.n, [W] = e->sums.w, [W2] = e->sums.w2, [WB] = e->sums.wb,
	    [WB2] = e->sums.wb2, [W2B2] = e->sums.w2b2, [POOL_PKTS] = (double)e->pool_pkts,
	    [POOL_OCTETS] = (double)e->pool_octets, [EXPECTED] = (double)received,
	    [RECEIVED] = (double)received, [IN_OCTETS] = (double)e->octets,
	    [SAMPLES] = (double)e->samples, [LAST_SEQUENCE] = (double)e->samples, [SPEED] = 1e9,
	    [DUPLEX] = EASE_DUPLEX_FULL, [ADMIN] = EASE_IF_UP, [OPER] = EASE_IF_UP, [EDGE] = 1,
	};

	put_values(f, agent, e, values);
}

/* ---- an agent's day ---- */

static struct entry *
add_entry(struct fleet *f, uint64_t hour, uint64_t port)
{
	struct entry *e = &f->entries[f->n];

	if (f->n == ENTRIES_MAX)
		fail("a day has too much");
	memset(e, 0, sizeof(*e));
	e->hour = (uint8_t)hour;
	e->port = (uint8_t)port;
	f->order[f->n++] = e;
	return e;
}

static void
add_keys(struct fleet *f, uint64_t hour, uint64_t port, const struct flow *flow)
{
	struct flow_key keys[TRAFFIC_KEYS];

	flow_keys(flow, keys);
	for (int k = 0; k < TRAFFIC_KEYS; k++) {
		struct entry *e = add_entry(f, hour, port);

		e->key = keys[k];
		e->sums = flow_sums(flow);
	}
}

static void
add_minute(struct fleet *f, uint64_t agent, uint64_t hour, uint64_t port,
    const struct traffic_minute *m)
{
	struct entry *e;

	for (unsigned i = 0; i < m->n && makes(f, CLUSTER_KEYS); i++)
		add_keys(f, hour, port, &m->flows[i]);
	if (makes(f, CLUSTER_KEYS))
		return;
	f->octets[agent][port] += m->pool_octets;
	f->samples[agent][port] += m->sums.n;
	e = add_entry(f, hour, port);
	e->sums = m->sums;
	e->pool_pkts = m->pool_pkts;
	e->pool_octets = m->pool_octets;
	e->octets = f->octets[agent][port];
	e->samples = f->samples[agent][port];
}

static int
compare_keys(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int by_kind = x->key.kind - y->key.kind, by_port = x->port - y->port;

	return by_kind ? by_kind : by_port ? by_port : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int
compare_hours(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int by_hour = x->hour - y->hour;

	return by_hour ? by_hour : compare_keys(a, b);
}

static void
add_sums(struct entry *to, const struct entry *e)
{
	struct store_sums *s = &to->sums;

	*s = (struct store_sums){s->n + e->sums.n, s->w + e->sums.w, s->w2 + e->sums.w2,
	    s->wb + e->sums.wb, s->wb2 + e->sums.wb2, s->w2b2 + e->sums.w2b2};
	to->pool_pkts += e->pool_pkts;
	to->pool_octets += e->pool_octets;
	if (e->hour > to->hour) { /* counters: the newest stays */
		to->hour = e->hour;
		to->octets = e->octets;
		to->samples = e->samples;
	}
}

/* Equal neighbours become one. */
static void
merge(struct fleet *f, int (*compare)(const void *, const void *))
{
	size_t n = 0;

	if (f->n == 0)
		return;
	qsort(f->order, f->n, sizeof(f->order[0]), compare);
	for (size_t i = 1; i < f->n; i++) {
		if (compare(&f->order[n], &f->order[i]) == 0)
			add_sums(f->order[n], f->order[i]);
		else
			f->order[++n] = f->order[i];
	}
	f->n = n + 1;
}

static void
put_level(struct fleet *f, uint64_t agent, unsigned level, uint64_t day)
{
	for (size_t i = 0; i < f->n; i++)
		put_row(f, agent, f->order[i], level, day);
}

/* Which ports and what totals: of the rows of all ports in a minute of an agent one. */
static void
put_cover(struct fleet *f, uint64_t agent, uint64_t day)
{
	struct entry minute = {0};

	for (size_t i = 0; i < f->n; i++) {
		const struct entry *e = f->order[i];

		if (i > 0 && e->hour != minute.hour) {
			put_row(f, agent, &minute, 1, day);
			minute = (struct entry){0};
		}
		minute.hour = e->hour;
		minute.samples += e->sums.n;
	}
	if (f->n > 0)
		put_row(f, agent, &minute, 1, day);
}

static void
put_levels(struct fleet *f, uint64_t agent, uint64_t day)
{
	merge(f, compare_hours); /* a port has one minute in an hour: three levels in one */
	if (day + DAYS_1_MIN >= f->days)
		put_level(f, agent, 1, day);
	if (day + DAYS_5_MIN >= f->days)
		put_level(f, agent, 5, day);
	put_level(f, agent, 60, day);
	merge(f, compare_keys);
	put_level(f, agent, 1440, day);
}

static void
make_day(struct fleet *f, uint64_t agent, uint64_t day)
{
	struct traffic_minute minute;

	f->n = 0;
	for (uint64_t hour = 0; hour < 24; hour++)
		for (uint64_t port = 1; port <= TRAFFIC_PORTS; port++)
			if (traffic_next(&f->traffic, agent, port, &minute))
				add_minute(f, agent, hour, port, &minute);
	if (makes(f, CLUSTER_KEYS) || makes(f, CLUSTER_PORTS) || makes(f, CLUSTER_COUNTERS))
		put_levels(f, agent, day);
	else if (makes(f, CLUSTER_COVER) && day + DAYS_1_MIN >= f->days)
		put_cover(f, agent, day);
}

/* State at the end. */
static void
put_state(struct fleet *f, uint64_t agent)
{
	struct entry e = {.hour = 23};
	unsigned ports = makes(f, CLUSTER_AGENTS) ? 1 : TRAFFIC_PORTS;

	for (unsigned port = 1; port <= ports; port++) {
		e.port = (uint8_t)port;
		e.samples = f->samples[agent][port];
		put_row(f, agent, &e, 0, f->days - 1);
	}
}

static void
make_rows(struct fleet *f)
{
	uint64_t agents[TRAFFIC_AGENTS_MAX];
	size_t n = 0;

	while (n < TRAFFIC_AGENTS_MAX && scanf("%" SCNu64, &agents[n]) == 1)
		if (agents[n] < 1 || agents[n++] > f->traffic.n_agents)
			fail("no such agent");
	for (uint64_t day = 0; day < f->days; day++)
		for (size_t i = 0; i < n; i++)
			make_day(f, agents[i], day);
	for (size_t i = 0; i < n; i++)
		if (makes(f, CLUSTER_AGENTS) || makes(f, CLUSTER_PORT_STATES) || makes(f, CLUSTER_ACCOUNTS))
			put_state(f, agents[i]);
	flush(f);
	fprintf(stderr, "%" PRIu64 "\n", f->rows);
}

static void
print_ids(uint64_t n_agents)
{
	for (uint64_t a = 1; a <= n_agents; a++) {
		uint8_t id[8];

		traffic_agent_id(a, id);
		printf("%" PRIu64 "\t", a);
		for (int i = 0; i < 8; i++)
			printf("%02X", id[i]);
		putchar('\n');
	}
}

int
main(int argc, char **argv)
{
	static struct fleet f;

	f.out = row_buffer_of(BUFFER_OCTETS);
	if (argc == 3 && strcmp(argv[1], "ids") == 0) {
		print_ids(strtoull(argv[2], NULL, 10));
	} else if (argc == 4 && strcmp(argv[1], "insert") == 0) {
		choose_table(&f, argv[2]);
		sql_write(stdout, SQL((&(const struct cluster_place){argv[3], "ease"}), f.table,
		    "INSERT INTO {table_local} ({columns}) FORMAT RowBinary\n"));
	} else if (argc == 6 && strcmp(argv[1], "rows") == 0) {
		choose_table(&f, argv[2]);
		f.days = strtoull(argv[4], NULL, 10);
		traffic_init(&f.traffic, strtoull(argv[3], NULL, 10), strtoull(argv[5], NULL, 10));
		make_rows(&f);
	} else {
		fail("usage: ids AGENTS | insert TABLE DATABASE | rows TABLE AGENTS DAYS SEED < NUMBERS");
	}
	row_buffer_free(&f.out);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
