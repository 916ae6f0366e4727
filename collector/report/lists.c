/*
 * Lists of keys of received frames, largest first, with limits, shares and the ranks that follow
 * from the limits: talkers, protocols, conversations. dimension.h says what a key is. A matrix is
 * the talkers by pair, shown as a grid.
 */
#include "collector/report/dimension.h"
#include "collector/report/lists.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/report/sort.h"
#include "collector/report/unkeyed.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_RANK = 0, COLUMN_SRC = 1, COLUMN_DST = 2 }; /* the last two of addresses only */

/* One key over all ports that saw it. */
struct entry {
	const struct sort_item *first; /* of n_parts keys, one a port */
	size_t n_parts;
	uint64_t n; /* samples */
	struct estimate_figure figure[2]; /* by enum estimate_unit */
	struct estimate_rank rank;
};

struct list {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	const struct dimension *dimension;
	struct query_key *keys;
	size_t n_keys;
	struct sort_item *sorted_keys; /* those of counted ports */
	size_t n_sorted;
	struct query_left left; /* keys that were not fetched */
	struct entry *entries; /* in the order of their keys */
	size_t n;
	struct estimate_part *parts; /* room for those of any entry */
	size_t most_parts;
	struct sort_item *order; /* of the entries: the shown ones first, each part largest first */
	size_t n_shown;
};

static int
compare_addresses(const struct query_key *x, const struct query_key *y)
{
	int order = (x->n_octets > y->n_octets) - (x->n_octets < y->n_octets);

	if (order == 0)
		order = memcmp(x->key1, y->key1, sizeof(x->key1));
	return order ? order : memcmp(x->key2, y->key2, sizeof(x->key2));
}

/* By addresses, then by samples: the port with the most samples comes first. The order of parts is
 * always the same, so that equal keys give results that are equal to the last bit. */
static int
compare_keys(const void *a, const void *b)
{
	const struct query_key *x = a, *y = b;
	int order = compare_addresses(x, y);

	if (order == 0)
		order = (x->sums.n < y->sums.n) - (x->sums.n > y->sums.n);
	return order ? order : (x->port > y->port) - (x->port < y->port);
}

static const struct query_key *
key_of(const struct sort_item *item)
{
	return item->what;
}

static int
compare_key_items(const void *a, const void *b)
{
	return compare_keys(key_of(a), key_of(b));
}

/* The first octets that compare_addresses compares, so that heads sort in the same order. */
static uint64_t
head_of(const struct query_key *key)
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
			    (struct sort_item){head_of(&list->keys[i]), &list->keys[i]};
	sort_items(items, list->n_sorted, compare_key_items, items + list->n_keys);
	return 0;
}

/* Keys lie in memory in the order in which they were found, so the next ones are prefetched. */
enum { FETCH_AHEAD = 8 };

static void
fetch_key(const struct list *list, size_t i)
{
	if (i >= list->n_sorted)
		return;
	__builtin_prefetch(key_of(&list->sorted_keys[i]));
	__builtin_prefetch(&key_of(&list->sorted_keys[i])->sums.w2b2);
}

static void
add_part(struct list *list, size_t i)
{
	const struct query_key *key = key_of(&list->sorted_keys[i]);
	struct entry *entry = list->n > 0 ? &list->entries[list->n - 1] : NULL;

	fetch_key(list, i + FETCH_AHEAD);
	if (!entry || compare_addresses(key_of(entry->first), key) != 0) {
		entry = &list->entries[list->n++];
		*entry = (struct entry){.first = &list->sorted_keys[i]};
	}
	entry->n_parts++;
	entry->n += key->sums.n;
	if (entry->n_parts > list->most_parts)
		list->most_parts = entry->n_parts;
}

static int
gather(struct list *list)
{
	int err = query_top_keys(list->query, list->options, list->dimension, &list->keys,
	    &list->n_keys, &list->left, &list->result->kept_since_us);

	if (err == 0)
		err = sort_keys(list);
	if (err)
		return err;
	list->entries = calloc(list->n_sorted + 1, sizeof(*list->entries));
	if (!list->entries)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_sorted; i++)
		add_part(list, i);
	list->parts = calloc(list->most_parts + 1, sizeof(*list->parts));
	return list->parts ? 0 : -ENOMEM;
}

/* The full memory for keys may have cost a key samples, so its upper limit rises; its lower limit
 * stays. */
static void
estimate(struct list *list, enum estimate_unit unit, double unkeyed, struct entry *entry)
{
	struct estimate_figure *f = &entry->figure[unit];

	for (size_t p = 0; p < entry->n_parts; p++) {
		const struct query_key *key = key_of(&entry->first[p]);

		list->parts[p] = (struct estimate_part){&key->port->side[EASE_IN], key->sums};
	}
	*f = estimate_key(unit, list->parts, entry->n_parts);
	if (unkeyed > 0)
		f->high = fmax(f->high, fmin(f->high + unkeyed, list->result->total[unit]));
}

static const struct entry *
entry_of(const struct sort_item *item)
{
	return item->what;
}

static int
compare_entry_items(const void *a, const void *b)
{
	return compare_keys(key_of(entry_of(a)->first), key_of(entry_of(b)->first));
}

static bool
is_shown(const struct list *list, const struct entry *entry)
{
	return list->n_shown < list->options->top &&
	    !(list->options->fold_few && entry->n < REPORT_FEW_SAMPLES);
}

/* Moves the entries that are shown to the front; both parts keep their order. */
static void
choose_shown(struct list *list, struct sort_item *spare)
{
	size_t n_others = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (is_shown(list, entry_of(&list->order[i])))
			list->order[list->n_shown++] = list->order[i];
		else
			spare[n_others++] = list->order[i];
	}
	memcpy(list->order + list->n_shown, spare, n_others * sizeof(*spare));
}

/* Only the figure to sort by: of the others no more is shown. */
static int
sort_entries(struct list *list)
{
	enum estimate_unit unit = list->options->sort;
	double unkeyed = unkeyed_most(list->query, list->options, list->dimension, unit);
	struct sort_item *items = calloc(2 * list->n + 1, sizeof(*items));

	list->order = items;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct entry *entry = &list->entries[i];

		fetch_key(list, (size_t)(entry->first - list->sorted_keys) + FETCH_AHEAD);
		estimate(list, unit, unkeyed, entry);
		items[i] = (struct sort_item){
		    sort_largest_first(entry->figure[unit].estimate), entry};
	}
	sort_items(items, list->n, compare_entry_items, items + list->n);
	choose_shown(list, items + list->n);
	return 0;
}

static struct entry *
shown(const struct list *list, size_t i)
{
	return &list->entries[entry_of(&list->order[i]) - list->entries];
}

/* Ranks of the shown entries among all. */
static int
rank(struct list *list)
{
	enum estimate_unit unit = list->options->sort;
	struct estimate_figure *figures = calloc(list->n + 1, sizeof(*figures));
	struct estimate_rank *ranks = calloc(list->n_shown + 1, sizeof(*ranks));
	int err = -ENOMEM;

	for (size_t i = 0; figures && i < list->n; i++)
		figures[i] = entry_of(&list->order[i])->figure[unit];
	if (figures && ranks)
		err = estimate_ranks(figures, list->n, list->n_shown, ranks);
	for (size_t i = 0; err == 0 && i < list->n_shown; i++)
		shown(list, i)->rank = ranks[i];
	free(figures);
	free(ranks);
	return err;
}

/* Cell of the tail. */
static struct report_value *
tail(const struct list *list, struct report_value *row, enum dimension_tail i)
{
	return &row[dimension_tail(list->dimension, i)];
}

static void
fill_figures(const struct list *list, struct report_value *row,
    const struct estimate_figure figure[2], uint64_t n)
{
	enum estimate_unit unit = list->options->sort;

	*tail(list, row, TAIL_PKTS) = cell_figure(figure[ESTIMATE_PKTS]);
	*tail(list, row, TAIL_OCTETS) = cell_figure(figure[ESTIMATE_OCTETS]);
	*tail(list, row, TAIL_SHARE) = cell_figure(estimate_share(figure[unit],
	    list->result->total[unit]));
	*tail(list, row, TAIL_SAMPLES) = cell_number((double)n);
}

static bool
has_one_agent(const struct entry *entry)
{
	for (size_t i = 1; i < entry->n_parts; i++)
		if (key_of(&entry->first[i])->port->agent != key_of(entry->first)->port->agent)
			return false;
	return true;
}

/* Agent and port where the key was seen; text has the port with most samples, and how many more. */
static void
fill_place(const struct list *list, const struct entry *entry, struct report_value *row)
{
	const struct query_port *port = key_of(entry->first)->port;
	char text[EASE_NAME_MAX + 32];

	if (has_one_agent(entry))
		*tail(list, row, TAIL_AGENT) = cell_text(port->agent->name);
	*tail(list, row, TAIL_PORTS) = cell_number((double)entry->n_parts);
	if (entry->n_parts == 1) {
		*tail(list, row, TAIL_PORT) = cell_text(port->name);
		*tail(list, row, TAIL_PORT_TEXT) = cell_text(port->name);
		return;
	}
	snprintf(text, sizeof(text), "%s +%zu", port->name, entry->n_parts - 1);
	*tail(list, row, TAIL_PORT_TEXT) = cell_text(text);
}

static int
add_entry(const struct list *list, const struct entry *entry)
{
	struct report_value *row = result_add_row(list->result);

	if (!row)
		return -ENOMEM;
	row[COLUMN_RANK] = (struct report_value){.known = true, .rank = entry->rank};
	list->dimension->fill(list->options, key_of(entry->first), row);
	fill_place(list, entry, row);
	fill_figures(list, row, entry->figure, entry->n);
	return 0;
}

/* A row estimated from sums by port of many keys together. */
static struct report_value *
sum_row(const struct list *list, const struct estimate_part *parts)
{
	struct report_value *row = calloc(list->dimension->layout->n_columns, sizeof(*row));
	struct estimate_figure figure[2];
	uint64_t n = 0;

	if (!row)
		return NULL;
	for (size_t i = 0; i < list->query->n_ports; i++)
		n += parts[i].key.n;
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++)
		figure[u] = estimate_key((enum estimate_unit)u, parts, list->query->n_ports);
	fill_figures(list, row, figure, n);
	return row;
}

static int
add_others(const struct list *list)
{
	struct estimate_part *parts = calloc(list->query->n_ports + 1, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = list->n_shown; i < list->n; i++)
		for (size_t p = 0; p < entry_of(&list->order[i])->n_parts; p++) {
			const struct query_key *key = key_of(&entry_of(&list->order[i])->first[p]);
			struct estimate_part *part = &parts[key->port - list->query->ports];

			part->stratum = &key->port->side[EASE_IN];
			estimate_add_sums(&part->key, &key->sums);
			estimate_unite(&part->key);
		}
	for (size_t i = 0; list->left.n_keys > 0 && i < list->query->n_ports; i++) {
		parts[i].stratum = &list->query->ports[i].side[EASE_IN];
		estimate_add_sums(&parts[i].key, &list->left.sums[i]);
		estimate_unite(&parts[i].key);
	}
	list->result->others = sum_row(list, parts);
	list->result->n_others = list->n - list->n_shown + list->left.n_keys;
	for (size_t i = list->n_shown; list->options->fold_few && i < list->n; i++)
		list->result->n_few += entry_of(&list->order[i])->n < REPORT_FEW_SAMPLES;
	free(parts);
	return list->result->others ? 0 : -ENOMEM;
}

/* Samples without a key: with them, rows, others and rest add up to the counted total. */
static int
add_rest(const struct list *list)
{
	struct estimate_part *parts = calloc(list->query->n_ports + 1, sizeof(*parts));
	uint64_t n = 0;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < list->query->n_ports; i++) {
		const struct query_port *port = &list->query->ports[i];

		parts[i].stratum = &port->side[EASE_IN];
		if (port_is_counted(list->options, port))
			parts[i].key = port->side[EASE_IN].all;
	}
	for (size_t i = 0; i < list->n_sorted; i++) {
		const struct query_key *key = key_of(&list->sorted_keys[i]);

		estimate_subtract_sums(&parts[key->port - list->query->ports].key, &key->sums);
	}
	for (size_t i = 0; list->left.n_keys > 0 && i < list->query->n_ports; i++)
		estimate_subtract_sums(&parts[i].key, &list->left.sums[i]);
	for (size_t i = 0; i < list->query->n_ports; i++)
		n += parts[i].key.n;
	if (n > 0)
		list->result->rest = sum_row(list, parts);
	free(parts);
	return n > 0 && !list->result->rest ? -ENOMEM : 0;
}

static bool
has_filter(const struct report_options *options)
{
	return options->vlan != REPORT_ANY || options->ip_proto != REPORT_ANY ||
	    options->ethertype != REPORT_ANY || options->addr.n_octets > 0;
}

static const char *
rest_name(const struct list *list)
{
	if (has_filter(list->options))
		return "outside the filter";
	return list->result->folded > 0 ? list->dimension->rest_or_folded : list->dimension->rest;
}

/* Totals of the counted ports, and the bound for a key without a sample. */
static int
count_ports(struct list *list)
{
	struct estimate_stratum *strata = calloc(list->query->n_ports + 1, sizeof(*strata));
	size_t n_strata = 0;
	double w = 0, n = 0;
	int err;

	if (!strata)
		return -ENOMEM;
	for (size_t i = 0; i < list->query->n_ports; i++) {
		const struct query_port *port = &list->query->ports[i];

		if (!port_is_counted(list->options, port))
			continue;
		result_count_port(list->result, port);
		list->result->folded += port->folded;
		list->result->folded_most += unkeyed_most_samples(list->dimension, port);
		strata[n_strata] = port->side[EASE_IN];
		w += strata[n_strata].all.w;
		n += (double)strata[n_strata++].all.n;
	}
	list->result->mean_skip = n > 0 ? w / n : 0;
	err = estimate_unseen_pkts(strata, n_strata, &list->result->unseen_pkts);
	list->result->unseen_pkts +=
	    unkeyed_most(list->query, list->options, list->dimension, ESTIMATE_PKTS);
	free(strata);
	return err;
}

static void
hide_what_is_the_same(struct list *list)
{
	struct report_result *result = list->result;
	const struct query_agent *agent = NULL;
	bool several_agents = false;

	for (size_t i = 0; i < list->n_sorted; i++) {
		const struct query_port *port = key_of(&list->sorted_keys[i])->port;

		several_agents |= agent && agent != port->agent;
		agent = port->agent;
	}
	for (size_t i = 0; list->left.n_keys > 0 && i < list->query->n_ports; i++)
		several_agents |= list->left.sums[i].n > 0 && agent &&
		    agent != list->query->ports[i].agent;
	result->hidden |= several_agents ? 0 : 1u << dimension_tail(list->dimension, TAIL_AGENT);
	result->hidden |= list->options->by == REPORT_BY_SRC ? 1u << COLUMN_DST : 0;
	result->hidden |= list->options->by == REPORT_BY_DST ? 1u << COLUMN_SRC : 0;
	result->hidden |= 1u << dimension_tail(list->dimension,
	    list->options->sort == ESTIMATE_PKTS ? TAIL_OCTETS : TAIL_PKTS);
}

static int
add_shown(struct list *list)
{
	enum estimate_unit other = list->options->sort == ESTIMATE_PKTS ? ESTIMATE_OCTETS
									: ESTIMATE_PKTS;
	double unkeyed = unkeyed_most(list->query, list->options, list->dimension, other);
	int err = 0;

	for (size_t i = 0; err == 0 && i < list->n_shown; i++) {
		estimate(list, other, unkeyed, shown(list, i));
		err = add_entry(list, shown(list, i));
	}
	return err;
}

static int
fill(struct list *list)
{
	int err = count_ports(list);

	if (err == 0)
		err = sort_entries(list);
	if (err == 0)
		err = rank(list);
	if (err == 0)
		err = add_shown(list);
	if (err == 0 && list->n_shown < list->n + list->left.n_keys)
		err = add_others(list);
	if (err == 0)
		err = add_rest(list);
	list->result->rest_name = rest_name(list);
	hide_what_is_the_same(list);
	return err;
}

/* The lists, each with the values that --by may have; the first is the default. */
static const struct list_report {
	const char *name;
	enum report_by by[9]; /* ended by 0 */
} talkers = {"talkers", {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET,
		 REPORT_BY_VLAN}},
  matrix = {"matrix", {REPORT_BY_PAIR}},
  protocols = {"protocols", {REPORT_BY_SERVICE, REPORT_BY_PROTO, REPORT_BY_ETHERTYPE,
		   REPORT_BY_VLAN}},
  conversations = {"conversations", {REPORT_BY_CONVERSATION}},
  history = {"history", {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET,
		 REPORT_BY_VLAN, REPORT_BY_SERVICE, REPORT_BY_PROTO, REPORT_BY_ETHERTYPE}};

static bool
has_by(const struct list_report *report, enum report_by wanted)
{
	for (const enum report_by *by = report->by; *by; by++)
		if (*by == wanted)
			return true;
	return false;
}

static int
choose_by(struct query *query, const struct list_report *report, struct report_options *options)
{
	static const struct list_report *const lists[] = {&talkers, &protocols, &history};
	const char *between = "; it is for ";
	size_t len;

	if (options->by == REPORT_BY_DEFAULT)
		options->by = report->by[0];
	if (has_by(report, options->by))
		return 0;
	snprintf(query->error, sizeof(query->error), "%s has no --by %s", report->name,
	    report_by_name(options->by));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (has_by(lists[i], options->by)) {
			len = strlen(query->error);
			snprintf(query->error + len, sizeof(query->error) - len, "%s%s", between,
			    lists[i]->name);
			between = ", ";
		}
	return -EINVAL;
}

static int
copy_shown(const struct list *list, struct list_keys *keys)
{
	keys->dimension = list->dimension;
	keys->keys = calloc(list->n_shown + 1, sizeof(*keys->keys));
	if (!keys->keys)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_shown; i++)
		keys->keys[keys->n++] = *key_of(shown(list, i)->first);
	return 0;
}

/* keys: set to those of the rows. */
static int
list_run(const struct list_report *report, struct query *query,
    const struct report_options *asked, uint64_t now_us, struct report_result *result,
    struct list_keys *keys)
{
	struct report_options options = *asked;
	struct list list = {.query = query, .options = &options, .result = result};
	int err = choose_by(query, report, &options);

	if (err == 0)
		err = query_begin(query, &options, now_us);
	if (err)
		return err;
	list.dimension = dimension_find(&options);
	result_begin(result, report->name, list.dimension->layout->columns,
	    list.dimension->layout->n_columns, query);
	result->has_keys = true;
	result->sort = options.sort;
	result->noun = list.dimension->noun;
	result->unseen = list.dimension->unseen;
	err = query_windows(query);
	if (err == 0)
		err = gather(&list);
	if (err == 0)
		err = fill(&list);
	if (err == 0)
		err = copy_shown(&list, keys);
	result_finish(result, query);
	free(list.keys);
	free(list.left.sums);
	free(list.sorted_keys);
	free(list.parts);
	free(list.entries);
	free(list.order);
	return err;
}

static int
list_of(const struct list_report *report, struct query *query,
    const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct list_keys keys = {0};
	int err = list_run(report, query, options, now_us, result, &keys);

	result->keys = keys.keys;
	result->n_keys = keys.n;
	return err;
}

int
report_talkers(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of(&talkers, query, options, now_us, result);
}

int
report_protocols(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of(&protocols, query, options, now_us, result);
}

int
report_conversations(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	return list_of(&conversations, query, options, now_us, result);
}

/* ---- a grid of a cluster's ---- */

enum {
	GRID_PAIRS = REPORT_GRID_ADDRESSES * REPORT_GRID_ADDRESSES,
	GRID_RANKED = QUERY_ONLY_MAX - GRID_PAIRS, /* more pairs than its addresses can have */
};

struct grid_address {
	uint8_t n_octets, octets[QUERY_KEY_OCTETS];
};

static void
add_address(struct grid_address *addresses, size_t *n, uint8_t n_octets, const uint8_t *octets)
{
	for (size_t i = 0; i < *n; i++)
		if (addresses[i].n_octets == n_octets &&
		    memcmp(addresses[i].octets, octets, QUERY_KEY_OCTETS) == 0)
			return;
	if (*n == REPORT_GRID_ADDRESSES)
		return;
	addresses[*n].n_octets = n_octets;
	memcpy(addresses[(*n)++].octets, octets, QUERY_KEY_OCTETS);
}

static bool
has_pair(const struct list_keys *keys, const struct query_key *pair)
{
	for (size_t i = 0; i < keys->n; i++)
		if (compare_addresses(&keys->keys[i], pair) == 0)
			return true;
	return false;
}

/* Adds the other pairs between the addresses of the first pairs, chosen as render_grid.c does. */
static int
add_grid_pairs(struct list_keys *keys)
{
	struct grid_address addresses[REPORT_GRID_ADDRESSES];
	struct query_key *all = realloc(keys->keys, (keys->n + GRID_PAIRS) * sizeof(*all));
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	keys->keys = all;
	for (size_t i = 0; i < keys->n; i++) {
		add_address(addresses, &n, all[i].n_octets, all[i].key1);
		add_address(addresses, &n, all[i].n_octets, all[i].key2);
	}
	for (size_t i = 0; i < n * n; i++) {
		const struct grid_address *src = &addresses[i / n], *dst = &addresses[i % n];
		struct query_key pair = {.n_octets = src->n_octets};

		memcpy(pair.key1, src->octets, QUERY_KEY_OCTETS);
		memcpy(pair.key2, dst->octets, QUERY_KEY_OCTETS);
		if (src->n_octets == dst->n_octets && !has_pair(keys, &pair))
			all[keys->n++] = pair;
	}
	return 0;
}

/* The grid chooses addresses by the largest pairs and then needs all pairs of these: the servers
 * rank pairs first, and are then asked for the others. */
static int
grid_run(struct query *query, struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	struct report_result first = {0};
	struct list_keys keys = {0};
	int err;

	options->top = GRID_RANKED;
	err = list_run(&matrix, query, options, now_us, &first, &keys);
	if (err == 0)
		err = add_grid_pairs(&keys);
	if (err == 0) {
		query->only = keys.keys;
		query->n_only = keys.n;
		options->top = UINT32_MAX;
		err = list_of(&matrix, query, options, now_us, result);
		query->only = NULL;
		query->n_only = 0;
	}
	if (err == 0)
		result->n_others = first.n_rows + first.n_others - result->n_rows;
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

	if (options->fold_few) /* the grid chooses addresses, and then needs all their pairs */
		by_pair.top = UINT32_MAX;
	if (options->fold_few && query->mirror)
		err = grid_run(query, &by_pair, now_us, result);
	else
		err = list_of(&matrix, query, &by_pair, now_us, result);
	result->as_grid = true;
	return err;
}

int
list_history(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result, struct list_keys *shown)
{
	return list_run(&history, query, options, now_us, result, shown);
}
