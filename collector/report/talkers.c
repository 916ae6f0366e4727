/*
 * Talkers and matrix: keys of received frames, largest first, with limits, shares and the ranks
 * that the limits settle. A matrix is the talkers by pair, shown as a grid.
 */
#include "collector/report/build.h"
#include "collector/report/reports.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_RANK,
	COLUMN_SRC,
	COLUMN_DST,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_PORTS,
	COLUMN_PORT_TEXT,
	COLUMN_PKTS,
	COLUMN_OCTETS,
	COLUMN_SHARE,
	COLUMN_SAMPLES,
	N_COLUMNS,
};

static const struct report_column talker_columns[N_COLUMNS] = {
	[COLUMN_RANK] = {"rank", "RANK", REPORT_RANK},
	[COLUMN_SRC] = {"src", "SOURCE", REPORT_TEXT},
	[COLUMN_DST] = {"dst", "DESTINATION", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", NULL, REPORT_TEXT}, /* known if there is one only */
	[COLUMN_PORTS] = {"ports", NULL, REPORT_COUNT},
	[COLUMN_PORT_TEXT] = {NULL, "PORT", REPORT_TEXT},
	[COLUMN_PKTS] = {"packets", "frame/s", REPORT_PKTS},
	[COLUMN_OCTETS] = {"octets", "bit/s", REPORT_OCTETS},
	[COLUMN_SHARE] = {"share", "SHARE", REPORT_SHARE},
	[COLUMN_SAMPLES] = {"samples", "SAMPLES", REPORT_COUNT},
};

/* One key over all ports that saw it. */
struct talker {
	const struct query_key *first; /* of n_parts, one a port */
	size_t part, n_parts;
	uint64_t n; /* samples */
	struct estimate_figure figure[2]; /* by enum estimate_unit */
	struct estimate_rank rank;
};

struct talkers {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	struct query_key *keys; /* sorted by key */
	size_t n_keys;
	struct estimate_part *parts; /* of keys */
	struct talker *list;	     /* sorted by estimate */
	size_t n;
	size_t n_shown; /* the first ones of the list that are shown */
};

static int
compare_addresses(const struct query_key *x, const struct query_key *y)
{
	int order = (x->n_octets > y->n_octets) - (x->n_octets < y->n_octets);

	if (order == 0)
		order = memcmp(x->key1, y->key1, sizeof(x->key1));
	return order ? order : memcmp(x->key2, y->key2, sizeof(x->key2));
}

/* By addresses, then by samples: the port that saw most stands first. */
static int
compare_keys(const void *a, const void *b)
{
	const struct query_key *x = a, *y = b;
	int order = compare_addresses(x, y);

	return order ? order : (x->sums.n < y->sums.n) - (x->sums.n > y->sums.n);
}

static void
drop_ports_that_do_not_count(struct talkers *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_keys; i++)
		if (build_counts(t->options, t->keys[i].port))
			t->keys[kept++] = t->keys[i];
	t->n_keys = kept;
}

static void
add_part(struct talkers *t, size_t i)
{
	const struct query_key *key = &t->keys[i];
	struct talker *talker = t->n > 0 ? &t->list[t->n - 1] : NULL;

	t->parts[i] = (struct estimate_part){&key->port->side[EASE_IN], key->sums};
	if (!talker || compare_addresses(talker->first, key) != 0) {
		talker = &t->list[t->n++];
		*talker = (struct talker){.first = key, .part = i};
	}
	talker->n_parts++;
	talker->n += key->sums.n;
}

static int
gather(struct talkers *t)
{
	int err = query_keys(t->query, t->options, &t->keys, &t->n_keys, &t->result->kept_since_us);

	if (err)
		return err;
	drop_ports_that_do_not_count(t);
	t->parts = calloc(t->n_keys + 1, sizeof(*t->parts));
	t->list = calloc(t->n_keys + 1, sizeof(*t->list));
	if (!t->parts || !t->list)
		return -ENOMEM;
	if (t->n_keys > 0)
		qsort(t->keys, t->n_keys, sizeof(*t->keys), compare_keys);
	for (size_t i = 0; i < t->n_keys; i++)
		add_part(t, i);
	return 0;
}

static int
compare_estimates(const struct talker *x, const struct talker *y, enum estimate_unit unit)
{
	double dx = x->figure[unit].estimate, dy = y->figure[unit].estimate;

	return dx != dy ? (dx < dy) - (dx > dy) : compare_keys(x->first, y->first);
}

static int
compare_pkts(const void *a, const void *b)
{
	return compare_estimates(a, b, ESTIMATE_PKTS);
}

static int
compare_octets(const void *a, const void *b)
{
	return compare_estimates(a, b, ESTIMATE_OCTETS);
}

/* What one key can have at most of a port's samples that had no room. The bound of the store is
 * that of a pair; an address is in any number of pairs. */
static uint64_t
most_folded(const struct talkers *t, const struct query_port *port)
{
	return t->options->by == REPORT_BY_PAIR ? port->folded_most : port->folded;
}

/* The same as traffic, over all ports: samples are taken to stand for as much as all of their port
 * do on average. */
static double
most_lacking(const struct talkers *t, enum estimate_unit unit)
{
	double most = 0;

	for (size_t i = 0; i < t->query->n_ports; i++) {
		const struct query_port *port = &t->query->ports[i];
		const struct estimate_stratum *side = &port->side[EASE_IN];

		if (build_counts(t->options, port) && side->all.n > 0)
			most += (double)most_folded(t, port) * estimate_total(unit, side) /
			    (double)side->all.n;
	}
	return most;
}

/* What the memory budget cost: a key may have more than its samples say, and no key has less. */
static void
allow_for_folded(struct talkers *t)
{
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
		double lacking = most_lacking(t, (enum estimate_unit)u);

		for (size_t i = 0; lacking > 0 && i < t->n; i++) {
			struct estimate_figure *f = &t->list[i].figure[u];

			f->high = fmax(f->high, fmin(f->high + lacking, t->result->total[u]));
		}
	}
	t->result->unseen_pkts += most_lacking(t, ESTIMATE_PKTS);
}

static int
rank(struct talkers *t)
{
	enum estimate_unit unit = t->options->sort;
	struct estimate_figure *figures = calloc(t->n + 1, sizeof(*figures));
	struct estimate_rank *ranks = calloc(t->n + 1, sizeof(*ranks));
	int err = -ENOMEM;

	for (size_t i = 0; i < t->n; i++)
		for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++)
			t->list[i].figure[u] = estimate_key((enum estimate_unit)u,
			    &t->parts[t->list[i].part], t->list[i].n_parts);
	allow_for_folded(t);
	if (t->n > 0)
		qsort(t->list, t->n, sizeof(*t->list),
		    unit == ESTIMATE_PKTS ? compare_pkts : compare_octets);
	for (size_t i = 0; figures && i < t->n; i++)
		figures[i] = t->list[i].figure[unit];
	if (figures && ranks)
		err = estimate_ranks(figures, t->n, ranks);
	for (size_t i = 0; err == 0 && i < t->n; i++)
		t->list[i].rank = ranks[i];
	free(figures);
	free(ranks);
	return err;
}

/* The shown ones to the front, both parts in their order. */
static int
choose_shown(struct talkers *t)
{
	struct talker *sorted = calloc(t->n + 1, sizeof(*sorted));
	size_t n_others = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		bool few = t->options->fold_few && t->list[i].n < REPORT_FEW_SAMPLES;

		if (t->n_shown < t->options->top && !few)
			sorted[t->n_shown++] = t->list[i];
		else
			t->list[n_others++] = t->list[i];
	}
	memcpy(sorted + t->n_shown, t->list, n_others * sizeof(*sorted));
	free(t->list);
	t->list = sorted;
	return 0;
}

static void
format_address(uint8_t n_octets, const uint8_t *octets, char *text)
{
	if (n_octets == FRAME_MAC_LEN)
		frame_format_mac(octets, text);
	else
		frame_format_ip(n_octets == 4 ? 4 : 6, octets, text);
}

static void
fill_figures(const struct talkers *t, struct report_value *row,
    const struct estimate_figure figure[2], uint64_t n)
{
	enum estimate_unit unit = t->options->sort;

	row[COLUMN_PKTS] = build_figure(figure[ESTIMATE_PKTS]);
	row[COLUMN_OCTETS] = build_figure(figure[ESTIMATE_OCTETS]);
	row[COLUMN_SHARE] = build_figure(estimate_share(figure[unit], t->result->total[unit]));
	row[COLUMN_SAMPLES] = build_number((double)n);
}

static bool
has_one_agent(const struct talker *talker)
{
	for (size_t i = 1; i < talker->n_parts; i++)
		if (talker->first[i].port->agent != talker->first->port->agent)
			return false;
	return true;
}

/* Agent and port where the key was seen; in text the port with most samples, and how many more. */
static void
fill_place(const struct talker *talker, struct report_value *row)
{
	const struct query_port *port = talker->first->port;
	char text[EASE_NAME_MAX + 32];

	if (has_one_agent(talker))
		row[COLUMN_AGENT] = build_text(port->agent->name);
	row[COLUMN_PORTS] = build_number((double)talker->n_parts);
	if (talker->n_parts == 1) {
		row[COLUMN_PORT] = build_text(port->name);
		row[COLUMN_PORT_TEXT] = build_text(port->name);
		return;
	}
	snprintf(text, sizeof(text), "%s +%zu", port->name, talker->n_parts - 1);
	row[COLUMN_PORT_TEXT] = build_text(text);
}

static int
add_talker(const struct talkers *t, const struct talker *talker)
{
	struct report_value *row = build_row(t->result);
	char text[FRAME_IP_TEXT];

	if (!row)
		return -ENOMEM;
	if (t->options->by != REPORT_BY_DST) {
		format_address(talker->first->n_octets, talker->first->key1, text);
		row[COLUMN_SRC] = build_text(text);
	}
	if (t->options->by != REPORT_BY_SRC) {
		format_address(talker->first->n_octets, talker->first->key2, text);
		row[COLUMN_DST] = build_text(text);
	}
	row[COLUMN_RANK] = (struct report_value){.known = true, .rank = talker->rank};
	fill_place(talker, row);
	fill_figures(t, row, talker->figure, talker->n);
	return 0;
}

/* A row of sums by port that were added up from many keys, estimated together. */
static struct report_value *
sum_row(const struct talkers *t, const struct estimate_part *parts)
{
	struct report_value *row = calloc(N_COLUMNS, sizeof(*row));
	struct estimate_figure figure[2];
	uint64_t n = 0;

	if (!row)
		return NULL;
	for (size_t i = 0; i < t->query->n_ports; i++)
		n += parts[i].key.n;
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++)
		figure[u] = estimate_key((enum estimate_unit)u, parts, t->query->n_ports);
	fill_figures(t, row, figure, n);
	return row;
}

static int
add_others(const struct talkers *t)
{
	struct estimate_part *parts = calloc(t->query->n_ports + 1, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = t->n_shown; i < t->n; i++)
		for (size_t p = 0; p < t->list[i].n_parts; p++) {
			const struct query_key *key = &t->list[i].first[p];
			struct estimate_part *part = &parts[key->port - t->query->ports];

			part->stratum = &key->port->side[EASE_IN];
			estimate_add_sums(&part->key, &key->sums);
			estimate_unite(&part->key);
		}
	t->result->others = sum_row(t, parts);
	t->result->n_others = t->n - t->n_shown;
	free(parts);
	return t->result->others ? 0 : -ENOMEM;
}

static void
subtract(struct estimate_sums *from, const struct estimate_sums *sums)
{
	from->n -= sums->n < from->n ? sums->n : from->n;
	from->w -= sums->w;
	from->w2 -= sums->w2;
	from->wb -= sums->wb;
	from->wb2 -= sums->wb2;
	from->w2b2 -= sums->w2b2;
	from->any.pkts -= sums->any.pkts;
	from->any.octets -= sums->any.octets;
	estimate_unite(from);
}

/* Samples that no key took: so that rows, others and rest are the counted total. */
static int
add_rest(const struct talkers *t)
{
	struct estimate_part *parts = calloc(t->query->n_ports + 1, sizeof(*parts));
	uint64_t n = 0;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < t->query->n_ports; i++) {
		const struct query_port *port = &t->query->ports[i];

		parts[i].stratum = &port->side[EASE_IN];
		if (build_counts(t->options, port))
			parts[i].key = port->side[EASE_IN].all;
	}
	for (size_t i = 0; i < t->n_keys; i++)
		subtract(&parts[t->keys[i].port - t->query->ports].key, &t->keys[i].sums);
	for (size_t i = 0; i < t->query->n_ports; i++)
		n += parts[i].key.n;
	if (n > 0)
		t->result->rest = sum_row(t, parts);
	free(parts);
	return n > 0 && !t->result->rest ? -ENOMEM : 0;
}

static const char *
rest_name(const struct talkers *t)
{
	if (t->query->from_samples || t->options->addr.n_octets > 0)
		return "not asked for";
	if (t->result->folded > 0)
		return t->options->layer == REPORT_LAYER_IP ? "without IP or folded" : "folded";
	return t->options->layer == REPORT_LAYER_IP ? "without IP" : "not kept by address";
}

/* Totals of the ports that count, and what a key may have that no sample shows. */
static int
count_ports(struct talkers *t)
{
	struct estimate_stratum *strata = calloc(t->query->n_ports + 1, sizeof(*strata));
	size_t n_strata = 0;
	double w = 0, n = 0;

	if (!strata)
		return -ENOMEM;
	for (size_t i = 0; i < t->query->n_ports; i++) {
		const struct query_port *port = &t->query->ports[i];

		if (!build_counts(t->options, port))
			continue;
		build_count_port(t->result, port);
		t->result->folded += port->folded;
		t->result->folded_most += most_folded(t, port);
		strata[n_strata] = port->side[EASE_IN];
		w += strata[n_strata].all.w;
		n += (double)strata[n_strata++].all.n;
	}
	t->result->mean_skip = n > 0 ? w / n : 0;
	t->result->unseen_pkts = estimate_unseen_pkts(strata, n_strata);
	free(strata);
	return 0;
}

static void
hide_what_is_the_same(struct talkers *t)
{
	struct report_result *result = t->result;
	const struct query_agent *agent = NULL;
	bool several_agents = false;

	for (size_t i = 0; i < t->n_keys; i++) {
		several_agents |= agent && agent != t->keys[i].port->agent;
		agent = t->keys[i].port->agent;
	}
	result->hidden |= several_agents ? 0 : 1u << COLUMN_AGENT;
	result->hidden |= t->options->by == REPORT_BY_SRC ? 1u << COLUMN_DST : 0;
	result->hidden |= t->options->by == REPORT_BY_DST ? 1u << COLUMN_SRC : 0;
	result->hidden |= t->options->sort == ESTIMATE_PKTS ? 1u << COLUMN_OCTETS
							    : 1u << COLUMN_PKTS;
}

static int
fill(struct talkers *t)
{
	int err = count_ports(t);

	if (err == 0)
		err = rank(t);
	if (err == 0)
		err = choose_shown(t);
	for (size_t i = 0; err == 0 && i < t->n_shown; i++)
		err = add_talker(t, &t->list[i]);
	if (err == 0 && t->n_shown < t->n)
		err = add_others(t);
	if (err == 0)
		err = add_rest(t);
	t->result->rest_name = rest_name(t);
	hide_what_is_the_same(t);
	return err;
}

static int
talkers_run(const char *name, struct query *query, const struct report_options *options,
    uint64_t now_us, struct report_result *result)
{
	struct talkers t = {.query = query, .options = options, .result = result};
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	build_begin(result, name, talker_columns, N_COLUMNS, query);
	result->has_keys = true;
	result->sort = options->sort;
	result->by = options->by;
	err = query_windows(query);
	if (err == 0)
		err = gather(&t);
	if (err == 0)
		err = fill(&t);
	build_finish(result, query);
	free(t.keys);
	free(t.parts);
	free(t.list);
	return err;
}

int
report_talkers(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return talkers_run("talkers", query, options, now_us, result);
}

int
report_matrix(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	struct report_options by_pair = *options;
	int err;

	by_pair.by = REPORT_BY_PAIR;
	if (options->fold_few) /* the grid chooses addresses, and then wants all their pairs */
		by_pair.top = UINT32_MAX;
	err = talkers_run("matrix", query, &by_pair, now_us, result);
	result->as_grid = true;
	return err;
}
