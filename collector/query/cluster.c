/*
 * Sums of a range from the cluster, where they are added up over windows and keys. The answer is
 * put into packs for the functions that read those of a store, so that one piece of code adds up
 * both. Part of query.h.
 */
#include "collector/cluster/sums_sql.h"
#include "collector/query/cluster.h"
#include "collector/query/dimension.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* columns of an answer: step, agent, ifIndex, direction, both halves, sums */
	FIRST_SUM = 6,
	ANSWER_COLUMNS = FIRST_SUM + PACK_COLUMNS,
};

#define SUMS_OF_KEYS "sum(n), sum(w), sum(w2), sum(wb), sum(wb2), sum(w2b2), sum(any_pkts)," \
		     " sum(any_octets)"
#define FIRST_HALF SUMS_OF_KEYS ", sum(same1_pkts), sum(same1_octets)"
#define SECOND_HALF SUMS_OF_KEYS ", sum(same2_pkts), sum(same2_octets)"

struct cluster_source
cluster_source_of(const struct query_want *want)
{
	unsigned kind = want->single > 0 ? want->single : want->kind;
	const struct key_single *single = key_single_of(kind);

	if (single)
		return (struct cluster_source){CLUSTER_KEYS, single->of, single->half == 1 ? "key1" : "key2", "''",
		    single->half == 1 ? FIRST_HALF : SECOND_HALF, PACK_SINGLE};
	if (kind == STORE_PART_TOTALS)
		return (struct cluster_source){CLUSTER_PORTS, 0, "''", "''", NULL, PACK_TOTALS};
	if (kind >= STORE_PART_FOLDED)
		return (struct cluster_source){CLUSTER_FOLDED, kind - STORE_PART_FOLDED, "''", "''", NULL, PACK_FOLDED};
	return (struct cluster_source){CLUSTER_KEYS, kind, "key1", "key2", NULL, PACK_PAIR};
}

/* ---- what is asked ---- */

/* The keys that a history follows. Networks, and what conversations are part of, cannot be
 * named here: they are not stored as keys. */
static void
put_only(FILE *sql, const struct query_want *want)
{
	const struct dimension *d = want->dimension;
	size_t n_only = want->options->n_only;

	if (n_only == 0 || n_only > CLUSTER_KEYS_LISTED_MAX || d->fold != FOLD_NOTHING || d->from_conversations)
		return;
	fprintf(sql, " AND (%s) IN (", d->key1 && d->key2 ? "key1, key2" : d->key1 ? "key1"
									       : "key2");
	for (size_t i = 0; i < n_only; i++) {
		const struct query_key *key = &want->options->only[i];

		fputs(i > 0 ? ", " : "", sql);
		fputs(d->key1 && d->key2 ? "(" : "", sql);
		if (d->key1)
			cluster_write_hex(sql, key->key1, key->n_octets);
		fputs(d->key1 && d->key2 ? ", " : "", sql);
		if (d->key2)
			cluster_write_hex(sql, key->key2, d->key->is_pair || d->key1 ? key->n_octets : 0);
		fputs(d->key1 && d->key2 ? ")" : "", sql);
	}
	fputs(")", sql);
}

/* Keys are read of the ports asked for, totals of all ports of their agents. */
static void
cluster_put_ports(FILE *sql, const struct query *query)
{
	size_t n = 0, n_left_out = 0, listed = 0;

	for (size_t i = 0; i < query->n_ports; i++) {
		n += query->ports[i].chosen;
		n_left_out += query->ports[i].agent->chosen && !query->ports[i].chosen;
	}
	if (n_left_out == 0 || n > CLUSTER_PORTS_LISTED_MAX)
		return;
	fputs(" AND if_index IN (", sql);
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].chosen)
			fprintf(sql, "%s%" PRIu64, listed++ > 0 ? ", " : "", query->ports[i].if_index);
	fputs(listed > 0 ? ")" : "0)", sql);
}

size_t
cluster_uncounted_ports(const struct query *query, const struct report_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		n += !port_is_counted(options, &query->ports[i]);
	return n;
}

static void
put_without_uncounted(FILE *sql, const struct query *query, const struct report_options *options)
{
	size_t listed = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		if (!port_is_counted(options, &query->ports[i]))
			fprintf(sql, "%s(unhex('%s'), %" PRIu64 ")",
			    listed++ > 0 ? ", " : " AND (agent, if_index) NOT IN (",
			    query->ports[i].agent->id_text, query->ports[i].if_index);
	fputs(listed > 0 ? ")" : "", sql);
}

/* The direction that lists count of an agent. */
static void
put_listed(FILE *sql, const struct query *query)
{
	const char *between = "if(agent IN (";

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].listed == EASE_OUT) {
			fprintf(sql, "%sunhex('%s')", between, query->agents[i].id_text);
			between = ", ";
		}
	if (query->n_sent_agents > 0)
		fprintf(sql, "), %d, %d)", EASE_OUT, EASE_IN);
	else
		fprintf(sql, "%d", EASE_IN);
}

void
cluster_write_where(FILE *sql, const struct query *query, const struct query_want *want,
    const struct cluster_source *source)
{
	mirror_write_agents(sql, query);
	if (source->table == CLUSTER_PORTS)
		return;
	fprintf(sql, " AND kind = %u AND direction = ", source->kind);
	put_listed(sql, query);
	if (!want->dimension)
		return;
	cluster_put_ports(sql, query);
	if (want->by_port)
		put_without_uncounted(sql, query, want->options);
	else
		put_only(sql, want);
	cluster_write_filter(sql, query, source->kind);
}

/* What is asked of these windows. */
struct asking {
	const struct query *query;
	const struct query_want *want;
	const struct cluster_source *source;
};

static void
cluster_put_where(FILE *sql, const void *arg)
{
	const struct asking *a = arg;

	cluster_write_where(sql, a->query, a->want, a->source);
}

struct sums_run *
cluster_runs(const struct query_run *runs, size_t n)
{
	struct sums_run *asked = calloc(n + 1, sizeof(*asked));

	for (size_t i = 0; asked && i < n; i++)
		asked[i] = (struct sums_run){store_levels[runs[i].level].minutes, runs[i].from_us, runs[i].to_us};
	return asked;
}

/* ---- what comes ---- */

struct arriving {
	struct query *query;
	size_t n_rows;
	unsigned n_sums;
	cluster_entry_fn *take;
	void *arg;
	enum cluster_type types[ANSWER_COLUMNS];
};

static int
cluster_take_row(void *arg, const struct row_cell *cells)
{
	struct arriving *a = arg;
	const struct row_cell *half1 = &cells[FIRST_SUM - 2], *half2 = &cells[FIRST_SUM - 1];
	struct cluster_entry entry;
	int64_t agent = mirror_agent(a->query->mirror, cells[1].text);

	if (++a->n_rows > MIRROR_ROWS_MAX)
		return query_fail(a->query, -E2BIG, "more than %d keys: ask for fewer rows, a"
		    " shorter range or one switch", MIRROR_ROWS_MAX);
	if (agent == 0) /* an agent that came after the list of agents was read */
		return 0;
	if (half1->octets > STORE_KEY_HALF || half2->octets > STORE_KEY_HALF)
		return -EBADMSG;
	entry.step = (uint64_t)cells[0].i;
	entry.key = pack_key_of(agent, (uint64_t)cells[2].i, (uint8_t)cells[3].i, half1->text,
	    (uint8_t)half1->octets, half2->text, (uint8_t)half2->octets);
	for (unsigned c = 0; c < a->n_sums; c++)
		entry.values[c] = a->types[FIRST_SUM + c] == CLUSTER_F64
		    ? cells[FIRST_SUM + c].f : (double)cells[FIRST_SUM + c].i;
	return a->take(a->arg, &entry);
}

/* n is a whole number, and so are the counts of samples without a key. */
static void
set_types(struct arriving *a, const struct cluster_source *source)
{
	static const enum cluster_type first[FIRST_SUM] = {CLUSTER_U64, CLUSTER_AGENT_ID,
	    CLUSTER_U64, CLUSTER_U8, CLUSTER_TEXT, CLUSTER_TEXT};

	memcpy(a->types, first, sizeof(first));
	for (unsigned c = 0; c < a->n_sums; c++)
		a->types[FIRST_SUM + c] = c == PACK_N || source->table == CLUSTER_FOLDED
		    ? CLUSTER_U64 : CLUSTER_F64;
}

int
cluster_ask_sums(struct query *query, const struct query_want *want, const struct query_run *runs,
    size_t n_runs, uint64_t step_us, cluster_entry_fn *take, void *arg)
{
	const struct cluster_source source = cluster_source_of(want);
	const struct cluster_place *place = mirror_place(query->mirror);
	const struct asking asking = {query, want, &source};
	struct arriving a = {.query = query, .n_sums = source.n_sums, .take = take, .arg = arg};
	struct sums_run *asked = cluster_runs(runs, n_runs);
	const struct sums_rows rows = {.place = place, .table = source.table, .runs = asked, .n_runs = n_runs,
	    .write_where = cluster_put_where, .arg = &asking};
	const struct sums_list totals = {&rows, SUMS_TOTALS};
	int err;

	if (!asked)
		return query_fail(query, -ENOMEM, "no memory");
	set_types(&a, &source);
	err = mirror_ask(query, SQL(place, NULL, "SELECT {step} AS step, agent, if_index, direction, {half1} AS half1,"
	    " {half2} AS half2, {sums}{rows} GROUP BY step, agent, if_index, direction, half1, half2{order}",
	    SQL_TEXT("step", step_us > 0 ? "intDiv(start_us, {step_us})" : "toUInt64(0)"), SQL_U64("step_us", step_us),
	    SQL_TEXT("order", step_us > 0 ? " ORDER BY step" : ""), SQL_TEXT("half1", want->by_port ? "''" : source.half1),
	    SQL_TEXT("half2", want->by_port ? "''" : source.half2), SQL_WRITE("rows", sums_sql_rows, &rows),
	    source.sums ? (struct sql_value)SQL_TEXT("sums", source.sums)
			: (struct sql_value)SQL_WRITE("sums", sums_sql_list, &totals)),
	    a.types, FIRST_SUM + a.n_sums, cluster_take_row, &a);
	free(asked);
	return err;
}

/* ---- in packs ---- */

int
cluster_packer_open(struct cluster_packer **out, struct query *query, const struct query_want *want,
    query_body_fn *take, void *arg)
{
	struct cluster_packer *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return query_fail(query, -ENOMEM, "no memory");
	p->query = query;
	p->kind = want->single > 0 ? want->single : want->kind;
	p->take = take;
	p->arg = arg;
	p->pack.n_columns = cluster_source_of(want).n_sums;
	return 0;
}

static int
cluster_hand_over(struct cluster_packer *p)
{
	struct pack_reader reader;
	int err;

	if (p->pack.n == 0)
		return 0;
	err = pack_open(&reader, p->body, pack_write(&p->pack, p->body));
	if (err == 0)
		err = p->take(p->query, &reader, &(struct query_body){.kind = p->kind}, p->arg);
	p->pack.n = 0;
	return err;
}

int
cluster_packer_add(void *arg, const struct cluster_entry *entry)
{
	struct cluster_packer *p = arg;
	unsigned i = p->pack.n++;

	p->pack.keys[i] = entry->key;
	for (unsigned c = 0; c < p->pack.n_columns; c++)
		p->pack.columns[c][i] = entry->values[c];
	return p->pack.n < PACK_ENTRIES ? 0 : cluster_hand_over(p);
}

int
cluster_packer_close(struct cluster_packer *p, int err)
{
	if (p && err == 0)
		err = cluster_hand_over(p);
	free(p);
	return err;
}

/* ---- what samples state ---- */

static int
take_stated(void *arg, const struct row_cell *cells)
{
	struct query *query = arg;
	struct query_port *port = query_find_port(query, mirror_agent(query->mirror, cells[0].text),
	    (uint64_t)cells[1].i);

	if (port)
		port->stated = (struct query_stated){cells[2].f, cells[3].f, 0};
	return 0;
}

static bool
has_sflow(const struct query *query)
{
	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen && query->agents[i].boot >= QUERY_SFLOW_BOOTS)
			return true;
	return false;
}

/* Two collectors' rows of a sample state the same. */
int
cluster_stated(struct query *query)
{
	static const enum cluster_type types[] = {CLUSTER_AGENT_ID, CLUSTER_I64, CLUSTER_F64, CLUSTER_F64};
	const struct query_range *range = &query->range;

	return !has_sflow(query) ? 0 : mirror_ask(query, SQL(mirror_place(query->mirror), NULL,
	    "SELECT agent, if_index, sum(stands_for * (skip + 1.)) / sum(stands_for),"
	    " sum(stands_for * (skip + 1.) * (skip + 1.)) / sum(stands_for) FROM {sample}"
	    " WHERE boot >= {sflow} AND time_us >= {from_us} AND time_us < {to_us}{agents} GROUP BY agent, if_index",
	    SQL_U64("sflow", QUERY_SFLOW_BOOTS), SQL_U64("from_us", range->from_us),
	    SQL_U64("to_us", range->to_us < INT64_MAX ? range->to_us : INT64_MAX), SQL_WRITE("agents", mirror_write_agents, query)),
	    types, 4, take_stated, query);
}
