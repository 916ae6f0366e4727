/*
 * Lists of keys of received frames, largest first, with limits, shares and the ranks that follow
 * from the limits: talkers, protocols, conversations. dimension.h says what a key is. A matrix is
 * the talkers by pair, shown as a grid.
 */
#include "collector/filter/address_names.h"
#include "collector/query/query_private.h"
#include "collector/query/unkeyed.h"
#include "collector/report/agreement.h"
#include "collector/report/by_values.h"
#include "collector/report/list_account.h"
#include "collector/report/lists.h"
#include "collector/report/loss_by_load.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/report/verdicts.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_RANK = 0, COLUMN_SRC = 1, COLUMN_DST = 2 }; /* the last two of addresses only */
enum { FRAME_OCTETS_MAX = 9234 }; /* of a jumbo frame with two VLAN tags */
static const double WIDE = 2; /* times the limit of the ports that saw a key: then the others are named */

static int
compare_addresses(const struct query_key *x, const struct query_key *y)
{
	int order = (x->n_octets > y->n_octets) - (x->n_octets < y->n_octets);

	if (order == 0)
		order = memcmp(x->key1, y->key1, sizeof(x->key1));
	return order ? order : memcmp(x->key2, y->key2, sizeof(x->key2));
}

/* What makes a row: the addresses, and per site where they were seen. */
static int
lists_compare_rows(const struct query_key *x, const struct query_key *y, bool per_site)
{
	int order = compare_addresses(x, y);

	return order || !per_site ? order : query_compare_sites(x->port, y->port);
}

/* By rows, then by samples: the port with the most samples comes first. The order of parts is
 * always the same, so that equal keys give results that are equal to the last bit. */
static int
lists_compare_keys(const struct query_key *x, const struct query_key *y, bool per_site)
{
	int order = lists_compare_rows(x, y, per_site);

	if (order == 0)
		order = (x->sums.n < y->sums.n) - (x->sums.n > y->sums.n);
	return order ? order : (x->port > y->port) - (x->port < y->port);
}

static int
compare_key_items(const void *a, const void *b)
{
	return lists_compare_keys(list_key(a), list_key(b), false);
}

static int
compare_site_key_items(const void *a, const void *b)
{
	return lists_compare_keys(list_key(a), list_key(b), true);
}

/* The first octets that compare_addresses compares, so that heads sort in the same order. */
static uint64_t
lists_head_of(const struct query_key *key)
{
	uint64_t head;

	memcpy(&head, key->key1, sizeof(head));
	return (uint64_t)key->n_octets << 56 | be64toh(head) >> 8;
}

static int
sort_keys(struct list *list)
{
	struct sort_item *items = calloc(2 * list->n_keys + 1, sizeof(*items));

	list->sorted_keys = items;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_keys; i++)
		if (port_is_counted(list->options, list->keys[i].port))
			items[list->n_sorted++] =
			    (struct sort_item){lists_head_of(&list->keys[i]), &list->keys[i]};
	sort_items(items, list->n_sorted, list->options->per_site ? compare_site_key_items : compare_key_items,
	    items + list->n_keys);
	return 0;
}

/* Keys lie in memory in the order in which they were found, so the next ones are prefetched. */
enum { FETCH_AHEAD = 8 };

static void
fetch_key(const struct list *list, size_t i)
{
	if (i >= list->n_sorted)
		return;
	__builtin_prefetch(list_key(&list->sorted_keys[i]));
	__builtin_prefetch(&list_key(&list->sorted_keys[i])->sums.w2b2);
}

static void
lists_add_part(struct list *list, size_t i)
{
	const struct query_key *key = list_key(&list->sorted_keys[i]);
	struct list_entry *entry = list->n > 0 ? &list->entries[list->n - 1] : NULL;

	fetch_key(list, i + FETCH_AHEAD);
	if (!entry || lists_compare_rows(list_key(entry->first), key, list->options->per_site) != 0) {
		entry = &list->entries[list->n++];
		*entry = (struct list_entry){.first = &list->sorted_keys[i]};
	}
	entry->n_parts++;
	entry->n += key->sums.n;
}

/* Keys are known for a part of the range: the list is of that part, in whole windows, because what they had
 * before is not known. Of the window in which it begins only if there is no other. False: there is nothing to
 * leave out. */
static bool
narrow_to(struct list *list, uint64_t since_us)
{
	struct query *query = list->query;
	uint64_t span_us = query_finest_us(query, since_us);
	uint64_t from_us = (since_us + span_us - 1) / span_us * span_us;

	if (from_us >= query->range.to_us)
		from_us -= span_us;
	if (since_us == 0 || from_us <= query->range.from_us || from_us >= query->range.to_us)
		return false;
	query_narrow(query, from_us, query->range.to_us);
	list->result->from_us = from_us;
	return true;
}

static int
read_keys(struct list *list, uint64_t *kept_since_us)
{
	free(list->keys);
	list->keys = NULL;
	list->n_keys = 0;
	return query_top_keys(list->query, list->options, list->dimension, &list->keys, &list->n_keys,
	    &list->left, kept_since_us);
}

static int
gather_keys(struct list *list)
{
	uint64_t kept_since_us = 0, again;
	int err = read_keys(list, &kept_since_us);

	if (kept_since_us > 0)
		note_time(note_of(list->result, NOTE_ID_KEPT_SAMPLES), "samples_kept_since", kept_since_us);
	if (err == 0 && list->narrows && narrow_to(list, kept_since_us)) {
		err = query_windows(list->query);
		if (err == 0)
			err = read_keys(list, &again);
	}
	if (err == 0)
		err = sort_keys(list);
	if (err)
		return err;
	list->entries = calloc(list->n_sorted + 1, sizeof(*list->entries));
	if (!list->entries)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_sorted; i++)
		lists_add_part(list, i);
	return 0;
}

static void
sum_entry(const struct list *list, const struct list_entry *entry, struct estimate_key *key)
{
	estimate_key_begin(key);
	for (size_t p = 0; p < entry->n_parts; p++) {
		const struct query_key *part = list_key(&entry->first[p]);

		estimate_key_add(list->range, key, (size_t)(part->port - list->query->ports), &part->sums);
	}
	estimate_key_end(list->range, key);
}

static int
compare_entry_items(const void *a, const void *b)
{
	return lists_compare_keys(list_key(list_entry(a)->first), list_key(list_entry(b)->first), false);
}

static int
compare_site_entry_items(const void *a, const void *b)
{
	return lists_compare_keys(list_key(list_entry(a)->first), list_key(list_entry(b)->first), true);
}

enum { GRID_PAIRS = REPORT_GRID_ADDRESSES * REPORT_GRID_ADDRESSES };

/* Of the largest pairs, as render_grid.c chooses them. */
struct grid_addresses {
	size_t n;
	struct {
		uint8_t n_octets, octets[QUERY_KEY_OCTETS];
	} items[REPORT_GRID_ADDRESSES];
};

/* False: there is no place. */
static bool
place_address(struct grid_addresses *grid, uint8_t n_octets, const uint8_t *octets)
{
	for (size_t i = 0; i < grid->n; i++)
		if (grid->items[i].n_octets == n_octets && memcmp(grid->items[i].octets, octets, QUERY_KEY_OCTETS) == 0)
			return true;
	if (grid->n == REPORT_GRID_ADDRESSES)
		return false;
	grid->items[grid->n].n_octets = n_octets;
	memcpy(grid->items[grid->n++].octets, octets, QUERY_KEY_OCTETS);
	return true;
}

static bool
place_pair(struct grid_addresses *grid, const struct query_key *pair)
{
	bool has_src = place_address(grid, pair->n_octets, pair->key1);

	return place_address(grid, pair->n_octets, pair->key2) && has_src;
}

static bool
lists_is_shown(const struct list *list, const struct list_entry *entry, struct grid_addresses *grid)
{
	return list->n_shown < list->options->top &&
	    !(list->options->fold_few && entry->n < REPORT_FEW_SAMPLES) &&
	    (!list->options->as_grid || place_pair(grid, list_key(entry->first)));
}

static int
choose_shown(struct list *list)
{
	struct grid_addresses grid = {0};

	list->rows = calloc(list->n + 1, sizeof(*list->rows));
	if (!list->rows)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		if (lists_is_shown(list, list_entry(&list->order[i]), &grid))
			list->rows[list->n_shown++] = i;
	return 0;
}

/* One pass over all keys: their order, and what follows from all of them together. */
static int
sort_entries(struct list *list)
{
	enum estimate_unit unit = list->options->sort;
	struct sort_item *items = calloc(2 * list->n + 1, sizeof(*items));

	list->order = items;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct list_entry *entry = &list->entries[i];
		struct estimate_key key;

		fetch_key(list, (size_t)(entry->first - list->sorted_keys) + FETCH_AHEAD);
		sum_entry(list, entry, &key);
		estimate_told_add(&list->told, &key);
		entry->estimate = key.unit[unit].estimate;
		entry->own_variance = key.unit[unit].own_variance;
		items[i] = (struct sort_item){sort_largest_first(entry->estimate), entry};
	}
	if (list->options->told)
		list->told = *list->options->told;
	else if (list->left.n_keys > 0)
		list->told = list->left.told;
	estimate_range_set_lengths(list->range, &list->told.lengths);
	sort_items(items, list->n, list->options->per_site ? compare_site_entry_items : compare_entry_items,
	    items + list->n);
	return choose_shown(list);
}

static const struct list_entry *
shown_entry(const struct list *list, size_t i)
{
	return list_entry(&list->order[list->rows[i]]);
}

/* Keys with a sample, also those that a cluster did not send. */
static size_t
n_ranked(const struct list *list)
{
	return list->options->n_ranked ? list->options->n_ranked : list->n + list->left.n_keys;
}

/* The estimates of all keys in their order, as the estimator reads them. */
struct ordered {
	struct estimate_order order;
	double *room;
	uint64_t *samples;
};

static int
make_ordered(const struct list *list, struct ordered *o)
{
	o->room = calloc(2 * list->n + 1, sizeof(*o->room));
	o->samples = calloc(list->n + 1, sizeof(*o->samples));
	if (!o->room || !o->samples) {
		free(o->room);
		free(o->samples);
		return -ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct list_entry *entry = list_entry(&list->order[i]);

		o->room[i] = entry->estimate;
		o->room[list->n + i] = entry->own_variance;
		o->samples[i] = entry->n;
	}
	o->order = (struct estimate_order){list->n, o->room, o->room + list->n, o->samples, list->unkeyed[list->options->sort]};
	return 0;
}

/* Keys without a sample, as ranks must allow for them: at 1 % for any of them, 0.5 % for all. */
static struct estimate_unseen_bounds
unseen_bounds(const struct list *list)
{
	enum estimate_unit unit = list->options->sort;
	double each = unit == ESTIMATE_PKTS ? 1 : FRAME_OCTETS_MAX;

	return (struct estimate_unseen_bounds){each * estimate_any_unseen_pkts(list->range, 0.01) + list->unkeyed[unit],
	    estimate_not_seen_figure(list->range, &list->told.not_seen, unit, 0.005).high +
		unkeyed_most(list->query, list->options, NULL, unit)};
}

/* Puts ranks among all keys, those without a sample included, into the rows. low: their lower limits, as
 * estimate_ranks asks for them. */
static int
rank_entries(const struct list *list, const struct estimate_order *order, const double *low)
{
	struct estimate_unseen_bounds bounds = unseen_bounds(list);
	struct estimate_rank *ranks = calloc(list->n_shown + 1, sizeof(*ranks));
	int err = ranks ? estimate_ranks(order, list->rows, list->n_shown, low, &bounds, ranks) : -ENOMEM;

	for (size_t i = 0; err == 0 && i < list->n_shown; i++)
		*report_cell(list->result, i, COLUMN_RANK) =
		    (struct report_value){.known = true, .rank = ranks[i]};
	free(ranks);
	return err;
}

static bool
has_one_agent(const struct list_entry *entry)
{
	for (size_t i = 1; i < entry->n_parts; i++)
		if (list_key(&entry->first[i])->port->agent != list_key(entry->first)->port->agent)
			return false;
	return true;
}

static bool
has_one_site(const struct list_entry *entry)
{
	for (size_t i = 1; i < entry->n_parts; i++)
		if (!query_same_site(list_key(&entry->first[i])->port, list_key(entry->first)->port))
			return false;
	return true;
}

/* How many of its samples are of ports without counters. */
static void
fill_uncounted(struct list *list, const struct list_entry *entry, struct report_value *row)
{
	uint64_t n = 0;

	for (size_t i = 0; i < entry->n_parts; i++) {
		const struct query_key *key = list_key(&entry->first[i]);

		n += port_is_uncounted(key->port) ? key->sums.n : 0;
	}
	*list_tail(list, row, TAIL_UNCOUNTED) = cell_number((double)n);
	list->n_uncounted += n > 0;
}

/* Agent and port where the key was seen; text has the port with most samples, and how many more. */
static void
fill_place(const struct list *list, const struct list_entry *entry, struct report_value *row)
{
	const struct query_port *port = list_key(entry->first)->port;
	char text[EASE_NAME_MAX + 32];

	if (has_one_site(entry))
		*list_tail(list, row, TAIL_SITE) = cell_site(port->site);
	if (has_one_agent(entry))
		*list_tail(list, row, TAIL_AGENT) = cell_text(port->agent->name);
	*list_tail(list, row, TAIL_PORTS) = cell_number((double)entry->n_parts);
	if (entry->n_parts == 1) {
		*list_tail(list, row, TAIL_PORT) = cell_text(port->name);
		*list_tail(list, row, TAIL_PORT_TEXT) = cell_text(port->name);
		return;
	}
	snprintf(text, sizeof(text), "%s +%zu", port->name, entry->n_parts - 1);
	*list_tail(list, row, TAIL_PORT_TEXT) = cell_text(text);
}

/* The claim that a list makes for its row i. Keys that were named beforehand, as those of --versus were, are each
 * judged at an error of their own. */
static struct estimate_claim
claim_of(const struct list *list, size_t i, size_t n_rivals)
{
	size_t place = i + 1;

	if (list->options->error > 0)
		return (struct estimate_claim){list->options->error, list->options->error, false};
	if (list->options->all_at_once)
		return estimate_claim_of_all(n_ranked(list));
	if (list->options->as_grid) { /* a cell has no place of its own */
		n_rivals = n_ranked(list);
		place = GRID_PAIRS < n_rivals ? GRID_PAIRS : n_rivals;
	}
	return estimate_claim_of_row(place, n_rivals);
}

/* What --versus and --warn need beside what is printed: limits at errors of their own. */
static void
fill_extremes(const struct list *list, const struct estimate_key *key, struct report_extremes *extremes)
{
	const struct estimate_claim change = {0.025 / (double)n_ranked(list), 0.025 / (double)list->n_shown, true};
	const struct estimate_claim alarm = {REPORT_ALARM_ERROR, REPORT_ALARM_ERROR, false};

	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		enum estimate_unit unit = (enum estimate_unit)u;

		if (list->options->wants_change)
			extremes->change[u] = estimate_key_figure(list->range, key, unit, &change);
		if (list->options->wants_alarm)
			extremes->alarm[u] = estimate_key_figure(list->range, key, unit, &alarm);
		list_allow_for_folded(list, unit, list->unkeyed[u], &extremes->change[u]);
		list_allow_for_folded(list, unit, list->unkeyed[u], &extremes->alarm[u]);
	}
}

/* The row's lower limit at the error that ranks are settled with. */
static double
rank_low(const struct list *list, size_t i)
{
	const struct estimate_claim claim = {0.01 / (double)n_ranked(list), 0.025, true};
	struct estimate_key key;

	sum_entry(list, shown_entry(list, i), &key);
	return estimate_key_figure(list->range, &key, list->options->sort, &claim).low;
}

static void
fill_entry(struct list *list, size_t i, size_t n_rivals)
{
	enum estimate_unit sort = list->options->sort;
	const struct list_entry *entry = shown_entry(list, i);
	struct estimate_claim claim = claim_of(list, i, n_rivals);
	struct report_value *row = report_cell(list->result, i, 0);
	struct estimate_figure figure[ESTIMATE_N_UNITS];
	struct estimate_key key;

	sum_entry(list, entry, &key);
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		figure[u] = estimate_key_figure(list->range, &key, (enum estimate_unit)u, &claim);
		list_allow_for_folded(list, (enum estimate_unit)u, list->unkeyed[u], &figure[u]);
	}
	if (figure[sort].high > WIDE * estimate_key_own_high(list->range, &key, sort, &claim) + list->unkeyed[sort])
		list->n_wide++;
	if (list->result->list->extremes)
		fill_extremes(list, &key, &list->result->list->extremes[i]);
	list->dimension->fill(list->options, list_key(entry->first), row);
	fill_place(list, entry, row);
	fill_uncounted(list, entry, row);
	list_fill_figures(list, row, figure, entry->n);
}

/* Where no sample was lost, the port's counters say whether its skip counter was empty; a cluster is not asked for them. */
static int
note_why_lost(struct list *list, const struct query_port *port)
{
	unsigned *why = &list->lost_why;
	struct query_load load;
	int err;

	if (query_listed_cut(port)->pkts <= 0 || port->cut_numbers > 0) {
		*why |= query_listed_cut(port)->pkts > 0 ? REPORT_LOST_SAMPLES : 0;
		return 0;
	}
	if ((*why | REPORT_LOST_SAMPLES) == (REPORT_LOST_SAMPLES | REPORT_LOST_STALLED | REPORT_LOST_BEFORE_FIRST))
		return 0;
	if (list->query->store->is_remote) {
		*why |= REPORT_LOST_STALLED | REPORT_LOST_BEFORE_FIRST;
		return 0;
	}
	err = query_load(list->query, port, &load);
	if (err == 0)
		*why |= load.stalled_pkts > 0 ? REPORT_LOST_STALLED : REPORT_LOST_BEFORE_FIRST;
	return err;
}

/* What keys without a row of their own can have: those that had no room, and those without a sample (95 of 100
 * lists). */
static void
note_unseen(const struct list *list)
{
	struct note_values *folded = note_of(list->result, NOTE_ID_FOLDED);
	struct note_values *unseen = note_of(list->result, NOTE_ID_UNSEEN);

	note_count(folded, "folded_samples", list->folded);
	note_count(folded, "folded_samples_one_key_high", list->folded_most);
	note_count(unseen, "unseen_packets_high", estimate_any_unseen_pkts(list->range, 0.05) +
	    list->unkeyed[ESTIMATE_PKTS]);
	note_text(unseen, "unseen", list->dimension->unseen);
}

/* Totals of the counted ports, and the bound for a key without a sample. */
static int
lists_count_ports(struct list *list)
{
	double w = 0, n = 0;
	int err = 0;

	list->strata = calloc(list->query->n_ports + 1, sizeof(*list->strata));
	if (!list->strata)
		return -ENOMEM;
	for (size_t i = 0; i < list->query->n_ports && err == 0; i++) {
		const struct query_port *port = &list->query->ports[i];

		if (!port_is_counted(list->options, port))
			continue;
		result_count_port(list->result, port);
		err = note_why_lost(list, port);
		list->folded += port->folded + port->dropped;
		list->folded_most += unkeyed_most_samples(list->dimension, port);
		list->strata[i] = *query_listed(port);
		w += list->strata[i].all.w;
		n += (double)list->strata[i].all.n;
	}
	list->result->list->mean_skip = n > 0 ? w / n : 0;
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		list->unkeyed[u] = unkeyed_most(list->query, list->options, list->dimension, (enum estimate_unit)u);
	if (err == 0)
		err = estimate_range_create(list->strata, list->query->n_ports, &list->range);
	if (err)
		return err;
	note_unseen(list);
	if (list->options->error > 0)
		err = estimate_given_unseen_pkts(list->range, list->options->error,
		    &list->result->list->given_unseen_pkts);
	return err;
}

static void
hide_what_is_the_same(struct list *list)
{
	struct report_result *result = list->result;
	const struct query_port *first = list->n_sorted > 0 ? list_key(list->sorted_keys)->port : NULL;
	bool several_agents = false, several_sites = list->options->per_site;

	for (size_t i = 0; i < list->n_sorted; i++) {
		const struct query_port *port = list_key(&list->sorted_keys[i])->port;

		several_agents |= first->agent != port->agent;
		several_sites |= !query_same_site(first, port);
	}
	for (size_t i = 0; list->left.n_keys > 0 && first && i < list->query->n_ports; i++) {
		const struct query_port *port = &list->query->ports[i];

		several_agents |= list->left.sums[i].n > 0 && first->agent != port->agent;
		several_sites |= list->left.sums[i].n > 0 && !query_same_site(first, port);
	}
	result->hidden |= result->uncounted.n_ports > 0 ? 0 : 1u << dimension_tail(list->dimension, TAIL_UNCOUNTED);
	result->hidden |= several_sites ? 0 : 1u << dimension_tail(list->dimension, TAIL_SITE);
	result->hidden |= several_agents ? 0 : 1u << dimension_tail(list->dimension, TAIL_AGENT);
	result->hidden |= list->dimension->has_two && !list->dimension->key2 ? 1u << COLUMN_DST : 0;
	result->hidden |= list->dimension->has_two && !list->dimension->key1 ? 1u << COLUMN_SRC : 0;
	result->hidden |= 1u << dimension_tail(list->dimension,
	    list->options->sort == ESTIMATE_PKTS ? TAIL_OCTETS : TAIL_PKTS);
}

/* The port that may hide most of a key: much traffic, of which few frames are sampled. */
static void
name_hiding_port(const struct list *list)
{
	struct note_values *note = note_of(list->result, NOTE_ID_WIDE);
	char name[REPORT_SCOPE_TEXT] = "";
	double most = 0, most_skip = 0;

	for (size_t i = 0; i < list->query->n_ports; i++) {
		const struct query_port *port = &list->query->ports[i];
		const struct estimate_sums *all = &list->strata[i].all;
		double skip = all->w > 0 ? all->w2 / all->w : 0;
		double hides = estimate_total(ESTIMATE_PKTS, &list->strata[i]) * skip * skip;

		if (hides <= most)
			continue;
		most = hides;
		most_skip = skip;
		snprintf(name, sizeof(name), "%.*s", EASE_NAME_MAX, port->name);
	}
	note_count(note, "wide_rows", list->n_wide);
	note_text(note, "hiding_port", name);
	note_count(note, "hiding_skip", most_skip);
}

static int
add_shown(struct list *list, const struct estimate_order *order)
{
	double *low = calloc(list->n_shown + 1, sizeof(*low));
	size_t *rivals = calloc(list->n_shown + 1, sizeof(*rivals));
	int err = low && rivals ? 0 : -ENOMEM;

	if (err == 0 && (list->options->wants_change || list->options->wants_alarm)) {
		list->result->list->extremes = calloc(list->n_shown + 1, sizeof(struct report_extremes));
		err = list->result->list->extremes ? 0 : -ENOMEM;
	}
	for (size_t i = 0; err == 0 && i < list->n_shown; i++) {
		low[i] = rank_low(list, i);
		err = result_add_row(list->result) ? 0 : -ENOMEM;
	}
	if (err == 0)
		err = rank_entries(list, order, low);
	if (err == 0)
		err = estimate_rivals(order, list->rows, list->n_shown, n_ranked(list), rivals);
	for (size_t i = 0; err == 0 && i < list->n_shown; i++)
		fill_entry(list, i, rivals[i]);
	if (list->n_wide > 0)
		name_hiding_port(list);
	free(low);
	free(rivals);
	return err;
}

/* So many of the samples without IP are looked at, and where these are so large a part of all it is said that most of
 * them have it in a tunnel. */
enum { INNER_LOOKED_AT = 1000 };
static const double INNER_PART = 0.2;

/* A cluster would have to send them all. */
static int
look_inside(const struct list *list)
{
	struct query *query = list->query;
	const struct report_sum *rest = &list->result->sums[REPORT_SUM_REST];
	uint64_t n = 0, inner = 0;
	sqlite3_stmt *stmt;
	int err;

	if (!rest->said || query->store->is_remote || (list->options->filter && list->options->filter->fields & ~FILTER_PLACES) ||
	    !list->dimension->has_layer || list->dimension->layer != REPORT_LAYER_IP ||
	    list_tail(list, rest->row, TAIL_SHARE)->figure.estimate < INNER_PART)
		return 0;
	stmt = query_prepare(query, "SELECT agent, if_index, inner_src_ip IS NOT NULL FROM sample"
	    " WHERE time_us >= :from AND time_us < :to AND src_ip IS NULL");
	if (!stmt)
		return -EIO;
	while (n < INNER_LOOKED_AT && (err = query_step(query, stmt)) == 1) {
		const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
		    (uint64_t)sqlite3_column_int64(stmt, 1));

		n += port && port_is_counted(list->options, port);
		inner += port && port_is_counted(list->options, port) && sqlite3_column_int(stmt, 2);
	}
	sqlite3_finalize(stmt);
	if (2 * inner > n)
		note_of(list->result, NOTE_ID_INNER);
	return err < 0 ? err : 0;
}

static int
fill_rows(struct list *list)
{
	struct ordered ordered;
	int err = lists_count_ports(list);

	if (err == 0)
		err = sort_entries(list);
	if (err == 0)
		err = make_ordered(list, &ordered);
	if (err)
		return err;
	list->result->list->n_ranked = n_ranked(list);
	list->result->list->told = list->told;
	err = add_shown(list, &ordered.order);
	if (err == 0)
		err = list_add_account(list, &ordered.order);
	if (err == 0)
		err = look_inside(list);
	free(ordered.room);
	free(ordered.samples);
	hide_what_is_the_same(list);
	return err;
}

/* Rows of groups need what says who is of which. */
static int
check_groups(struct query *query, const struct report_options *options)
{
	static const char *const needs[] = {
	    [ADDRESS_NETWORK] = "prefixes with names: a file of rows as \"10.20.0.0/16 customer-a\"; names, or --names",
	    [ADDRESS_COUNTRY] = "a file that knows countries: mmdb, or --mmdb",
	};
	const struct dimension *d = dimension_find(options);

	if (!d || d->fold != FOLD_GROUP || address_names_has_groups(options->names, d->group))
		return 0;
	return query_fail(query, -EINVAL, "--by %s needs %s", report_by_name(options->by), needs[d->group]);
}

static int
choose_by(struct query *query, const char *report, struct report_options *options)
{
	if (options->by == REPORT_BY_DEFAULT)
		options->by = by_values_of(report)[0];
	if (options->by == REPORT_BY_PORT) /* what "service" was called first */
		options->by = REPORT_BY_SERVICE;
	if (by_values_have(report, options->by))
		return check_groups(query, options);
	by_values_refuse(report, options->by, query->error, sizeof(query->error));
	return -EINVAL;
}

static int
copy_shown(const struct list *list, struct list_keys *keys)
{
	keys->dimension = list->chosen;
	keys->keys = calloc(list->n_shown + 1, sizeof(*keys->keys));
	if (!keys->keys)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_shown; i++)
		keys->keys[keys->n++] = *list_key(shown_entry(list, i)->first);
	return 0;
}

static int
begin_list(const struct list *list, const char *report)
{
	const struct report_options *options = list->options;
	struct report_result *result = list->result;

	result_begin(result, report, list->dimension->layout->columns, list->dimension->layout->n_columns, list->query);
	if (options->filter && options->filter->fields & ~FILTER_PLACES)
		note_text(note_of(result, NOTE_ID_FILTER), "answered_from", query_answers_from(list->dimension));
	result->list = calloc(1, sizeof(*result->list));
	if (!result->list)
		return -ENOMEM;
	result->list->per_site = options->per_site;
	result->list->sort = options->sort;
	return 0;
}

/* Rows that rest on ports without counters, wholly or partly. */
static void
note_uncounted_rows(const struct list *list)
{
	struct report_result *result = list->result;
	struct note_values *note;

	if (!note_find(result, NOTE_ID_UNCOUNTED))
		return;
	note = note_of(result, NOTE_ID_UNCOUNTED_ROWS);
	note_count(note, "rows", list->n_uncounted);
	note_count(note, "#of", result->n_rows);
	if (!list->options->as_grid)
		note_count(note, "#ports", result->uncounted.n_ports);
}

/* keys: set to those of the rows. */
static int
list_run(const char *report, struct query *query,
    const struct report_options *asked, uint64_t now_us, struct report_result *result,
    struct list_keys *keys)
{
	struct report_options options = *asked;
	struct list list = {.query = query, .options = &options, .result = result,
	    .narrows = strcmp(report, "history") != 0};
	int err = choose_by(query, report, &options);

	if (err == 0)
		err = query_begin(query, &options, now_us);
	if (err)
		return err;
	list.chosen = dimension_for(dimension_find(&options), options.filter);
	list.dimension = &list.chosen;
	err = begin_list(&list, report);
	if (err == 0)
		err = query_windows(query);
	if (err == 0)
		err = gather_keys(&list);
	if (err == 0)
		err = fill_rows(&list);
	if (err == 0)
		err = loss_by_load_name(query, &options, result);
	if (err == 0)
		err = copy_shown(&list, keys);
	if (err == 0)
		err = verdicts_read(query, &options, result);
	result_finish(result, query);
	note_uncounted_rows(&list);
	if (err == 0)
		agreement_judge(query, &options, result);
	free(list.keys);
	free(list.left.sums);
	free(list.sorted_keys);
	free(list.entries);
	free(list.order);
	free(list.rows);
	estimate_range_destroy(list.range);
	free(list.strata);
	return err;
}

static int
list_of(const char *report, struct query *query,
    const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct list_keys keys = {0};
	int err = list_run(report, query, options, now_us, result, &keys);

	if (result->list) {
		result->list->keys = keys.keys;
		result->list->n_keys = keys.n;
	}
	return err;
}

int
report_talkers(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of("talkers", query, options, now_us, result);
}

int
report_protocols(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of("protocols", query, options, now_us, result);
}

int
report_conversations(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of("conversations", query, options, now_us, result);
}

/* Each SYN is one attempt, whatever its length, so attempts are counted in frames. */
int
report_connections(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	struct report_options of_syns = *options;

	of_syns.layer = REPORT_LAYER_SYN;
	of_syns.sort = ESTIMATE_PKTS;
	return list_of("connections", query, &of_syns, now_us, result);
}

/* ---- a grid of a cluster's ---- */

enum { GRID_RANKED = QUERY_ONLY_MAX - GRID_PAIRS }; /* more pairs than its addresses can have */

static bool
has_pair(const struct list_keys *keys, const struct query_key *pair)
{
	for (size_t i = 0; i < keys->n; i++)
		if (compare_addresses(&keys->keys[i], pair) == 0)
			return true;
	return false;
}

/* Adds the other pairs between the addresses of these. */
static int
add_grid_pairs(struct list_keys *keys)
{
	struct query_key *all = realloc(keys->keys, (keys->n + GRID_PAIRS) * sizeof(*all));
	struct grid_addresses grid = {0};

	if (!all)
		return -ENOMEM;
	keys->keys = all;
	for (size_t i = 0; i < keys->n; i++)
		place_pair(&grid, &all[i]);
	for (size_t i = 0; i < grid.n * grid.n; i++) {
		size_t src = i / grid.n, dst = i % grid.n;
		struct query_key pair = {.n_octets = grid.items[src].n_octets};

		memcpy(pair.key1, grid.items[src].octets, QUERY_KEY_OCTETS);
		memcpy(pair.key2, grid.items[dst].octets, QUERY_KEY_OCTETS);
		if (pair.n_octets == grid.items[dst].n_octets && !has_pair(keys, &pair))
			all[keys->n++] = pair;
	}
	return 0;
}

/* The grid chooses addresses by the largest pairs and then needs all pairs of these: the servers
 * rank pairs first, and are then asked for the others. */
static int
grid_run(struct query *query, struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct report_result first = {0};
	struct list_keys keys = {0};
	int err;

	options->top = GRID_RANKED;
	err = list_run("matrix", query, options, now_us, &first, &keys);
	if (err == 0)
		err = add_grid_pairs(&keys);
	if (err == 0) {
		options->only = keys.keys;
		options->n_only = keys.n;
		options->top = UINT32_MAX;
		options->n_ranked = first.list->n_ranked;
		options->told = &first.list->told;
		err = list_of("matrix", query, options, now_us, result);
	}
	if (err == 0)
		result->sums[REPORT_SUM_OTHERS].n = first.n_rows + first.sums[REPORT_SUM_OTHERS].n - result->n_rows;
	report_result_free(&first);
	free(keys.keys);
	return err;
}

int
report_matrix(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	struct report_options by_pair = *options;
	int err;

	if (options->fold_few) { /* the grid chooses addresses, and then needs all their pairs */
		by_pair.top = UINT32_MAX;
		by_pair.as_grid = true;
	}
	if (options->fold_few && query->store->is_remote)
		err = grid_run(query, &by_pair, now_us, result);
	else
		err = list_of("matrix", query, &by_pair, now_us, result);
	if (err == 0)
		result->list->as_grid = true;
	return err;
}

int
list_history(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result, struct list_keys *shown)
{
	return list_run("history", query, options, now_us, result, shown);
}
