/*
 * Addresses: the agent, port and VLAN where a MAC or IP address was seen last, since when it is
 * there, and where it was before. An address is seen as the source of a sample that an edge
 * port received, or when a switch reports it as new (store/places.h). The newest arrivals come first. Sites may use
 * the same IP addresses: at each it is another one, and does not move between them. A MAC address does.
 */
#include "collector/filter/address_names.h"
#include "collector/query/query_private.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_ADDRESS_TEXT,
	COLUMN_ADDRESS,
	COLUMN_NAME,
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_VLAN,
	COLUMN_SINCE,
	COLUMN_LAST,
	COLUMN_FROM_AGENT,
	COLUMN_FROM_PORT,
	COLUMN_FROM_TEXT,
	COLUMN_MOVES,
	COLUMN_SEEN,
	N_COLUMNS,
};

static const struct report_column columns[N_COLUMNS] = {
	[COLUMN_ADDRESS_TEXT] = {NULL, "ADDRESS", REPORT_TEXT}, /* and its name */
	[COLUMN_ADDRESS] = {"address", NULL, REPORT_TEXT},
	[COLUMN_NAME] = {"name", NULL, REPORT_TEXT},
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_VLAN] = {"vlan", "VLAN", REPORT_ID},
	[COLUMN_SINCE] = {"since", "SINCE", REPORT_TIME}, /* or earlier, if the store begins then */
	[COLUMN_LAST] = {"last", "LAST SEEN", REPORT_TIME},
	[COLUMN_FROM_AGENT] = {"moved_from_agent", NULL, REPORT_TEXT},
	[COLUMN_FROM_PORT] = {"moved_from_port", NULL, REPORT_TEXT},
	[COLUMN_FROM_TEXT] = {NULL, "MOVED FROM", REPORT_TEXT},
	[COLUMN_MOVES] = {"moves", "MOVES", REPORT_COUNT},
	[COLUMN_SEEN] = {"seen", "SEEN", REPORT_COUNT},
};

enum { UNTAGGED = -1 };

/* One address: its place is the port where it was seen last. */
struct place {
	uint8_t n_octets, octets[FRAME_IP_LEN];
	const struct query_port *port, *before; /* before: NULL if it was seen nowhere else */
	int32_t vlan;				/* UNTAGGED, or the outermost tag's */
	uint64_t since_us, last_us, before_us; /* at port; and when it was seen last at before */
	uint64_t moves, seen;
	bool seen_later; /* after the range: how often within is not known */
};

struct places {
	struct query *query;
	const struct report_options *options;
	struct place *open; /* the address whose rows are being read: at each site, where it is an IP address */
	size_t n_open, open_room;
	struct place *items;
	size_t n, room, n_dropped;
};

enum { PLACES_MIN = 512 };

/* Newest arrival first; at one time in the order of addresses. */
static int
compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->since_us != y->since_us)
		return x->since_us < y->since_us ? 1 : -1;
	return memcmp(x->octets, y->octets, sizeof(x->octets));
}

static void
sort_places(struct places *places)
{
	if (places->n > 1)
		qsort(places->items, places->n, sizeof(*places->items), compare_places);
}

/* The address as the source of a frame; without a place the VLAN where it is now is not known. */
static enum filter_answer
judge_place(const struct places *places, const struct query_port *port, const uint8_t *octets, size_t n_octets,
    const struct place *place)
{
	bool is_inner = places->options->layer == REPORT_LAYER_INNER;
	struct filter_subject subject;

	if (port->passes)
		return FILTER_YES;
	query_set_place(&subject, port);
	filter_set_absent(&subject, FILTER_MACS | FILTER_IPS | FILTER_INNER_IPS);
	filter_set_address(&subject, n_octets == FRAME_MAC_LEN ? FILTER_SRC_MAC
	    : is_inner ? FILTER_INNER_SRC_IP : FILTER_SRC_IP, octets, n_octets);
	if (place && place->vlan == UNTAGGED)
		filter_set_absent(&subject, FILTER_BIT(FILTER_VLAN));
	else if (place)
		filter_set_number(&subject, FILTER_VLAN, (uint32_t)place->vlan);
	return filter_judge(places->query->filter, &subject);
}

/* Ends an address at a site: what was not seen in the range, or does not pass the filter where it is now, is not asked for. Memory is for the
 * newest arrivals only. */
static void
end_place(struct places *places, struct place *p)
{
	const struct report_options *options = places->options;

	if (p->last_us < places->query->range.from_us ||
	    judge_place(places, p->port, p->octets, p->n_octets, p) != FILTER_YES)
		return;
	if (p->before && p->before_us >= p->since_us) { /* it came back after it was elsewhere */
		p->since_us = p->before_us;
		p->moves++;
	}
	if (places->n == places->room) {
		sort_places(places);
		places->n_dropped += places->n - options->top;
		places->n = options->top;
	}
	places->items[places->n++] = *p;
}

static void
end_address(struct places *places)
{
	for (size_t i = 0; i < places->n_open; i++)
		end_place(places, &places->open[i]);
	places->n_open = 0;
}

/* The address where this port is; a new one is without a port. NULL: no memory. */
static struct place *
open_place(struct places *places, const uint8_t *octets, size_t n_octets, const struct query_port *port)
{
	struct place *p = places->open;

	if (places->n_open > 0 && (p->n_octets != n_octets || memcmp(p->octets, octets, n_octets) != 0))
		end_address(places);
	for (; p < places->open + places->n_open; p++)
		if (n_octets == FRAME_MAC_LEN || query_same_site(p->port, port))
			return p;
	if (places->n_open == places->open_room) {
		size_t room = 2 * places->open_room + 8;

		p = realloc(places->open, room * sizeof(*p));
		if (!p)
			return NULL;
		places->open = p;
		places->open_room = room;
	}
	p = &places->open[places->n_open++];
	*p = (struct place){.n_octets = (uint8_t)n_octets};
	memcpy(p->octets, octets, n_octets);
	return p;
}

static void
addresses_set_place(struct place *p, const struct query_port *port, uint64_t first_us, uint64_t last_us, int32_t vlan)
{
	p->port = port;
	p->since_us = first_us;
	p->last_us = last_us;
	p->vlan = vlan;
}

/* Adds a port where the address was. Rows of a port are one, so times between its first and its last are not
 * known: of an address that came back it is known when it was elsewhere last. */
static void
addresses_add_port(struct place *p, const struct query_port *port, uint64_t first_us, uint64_t last_us, int32_t vlan)
{
	p->moves += p->port != NULL;
	if (!p->port) {
		addresses_set_place(p, port, first_us, last_us, vlan);
	} else if (last_us > p->last_us || (last_us == p->last_us && first_us > p->since_us)) {
		p->before = p->port;
		p->before_us = p->last_us;
		addresses_set_place(p, port, first_us, last_us, vlan);
	} else if (!p->before || last_us > p->before_us) {
		p->before = port;
		p->before_us = last_us;
	}
}

/* Columns: address, agent, ifIndex, first and last time, VLAN, how often. 0 or -ENOMEM. */
static int
addresses_add_row(struct places *places, sqlite3_stmt *stmt)
{
	const uint8_t *octets = sqlite3_column_blob(stmt, 0);
	int n_octets = sqlite3_column_bytes(stmt, 0);
	const struct query_port *port = query_find_port(places->query,
	    sqlite3_column_int64(stmt, 1), (uint64_t)sqlite3_column_int64(stmt, 2));
	uint64_t last_us = (uint64_t)sqlite3_column_int64(stmt, 4), to_us = places->query->range.to_us;
	bool later = last_us >= to_us, untagged = sqlite3_column_type(stmt, 5) == SQLITE_NULL;
	struct place *p;

	if (!octets || n_octets > FRAME_IP_LEN || !port || !port_is_counted(places->options, port) ||
	    judge_place(places, port, octets, (size_t)n_octets, NULL) == FILTER_NO)
		return 0;
	p = open_place(places, octets, (size_t)n_octets, port);
	if (!p)
		return -ENOMEM;
	addresses_add_port(p, port, (uint64_t)sqlite3_column_int64(stmt, 3), later ? to_us - 1 : last_us,
	    untagged ? UNTAGGED : sqlite3_column_int(stmt, 5));
	p->seen += (uint64_t)sqlite3_column_int64(stmt, 6);
	p->seen_later = p->seen_later || later;
	return 0;
}

static enum store_place_layer
place_layer(const struct report_options *options)
{
	return options->layer == REPORT_LAYER_INNER ? STORE_PLACE_INNER
	    : options->layer == REPORT_LAYER_IP	    ? STORE_PLACE_IP
						    : STORE_PLACE_ETH;
}

/* A prefix that the filter asks all addresses to have, as a source or in either direction; NULL: none. */
static const struct filter_prefix *
required_prefix(const struct filter *filter, const struct filter_node *node)
{
	const struct filter_node *first = &filter->nodes[node->child];
	const struct filter_prefix *found = NULL;

	if (node->op == FILTER_IN_PREFIX)
		return &node->prefix;
	if (node->op == FILTER_ANY_OF && first->op == FILTER_IN_PREFIX && first->next > 0 &&
	    filter->nodes[first->next].op == FILTER_IN_PREFIX && filter->nodes[first->next].next == 0 &&
	    memcmp(&first->prefix, &filter->nodes[first->next].prefix, sizeof(first->prefix)) == 0)
		return &first->prefix;
	for (uint16_t i = node->child; node->op == FILTER_ALL_OF && !found && i > 0; i = filter->nodes[i].next)
		found = required_prefix(filter, &filter->nodes[i]);
	return found;
}

/* The addresses that a prefix can hold are one range of the table. */
static void
bind_prefix(sqlite3_stmt *stmt, const struct filter *filter)
{
	static const struct filter_prefix all;
	const struct filter_prefix *found = filter ? required_prefix(filter, &filter->nodes[0]) : NULL;
	const struct filter_prefix *prefix = found ? found : &all;
	uint8_t low[FRAME_IP_LEN] = {0}, high[FRAME_IP_LEN];

	memset(high, 0xff, sizeof(high));
	filter_cut(prefix->octets, prefix->bits, low);
	for (unsigned bit = 0; bit < prefix->bits; bit++)
		if (!(low[bit / 8] & 0x80 >> bit % 8))
			high[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
	sqlite3_bind_blob(stmt, sqlite3_bind_parameter_index(stmt, ":low"), low,
	    prefix->n_octets ? prefix->n_octets : 0, SQLITE_TRANSIENT);
	sqlite3_bind_blob(stmt, sqlite3_bind_parameter_index(stmt, ":high"), high, sizeof(high), SQLITE_TRANSIENT);
}

static int
addresses_read_places(struct places *places)
{
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(places->query, QUERY_ALL_ROWS, 0, places->query->range.to_us);
	stmt = query_prepare(places->query,
	    "SELECT address, agent, if_index, first_us, last_us, vlan, seen FROM place WHERE layer = :layer AND"
	    " address >= :low AND address <= :high AND first_us < :to ORDER BY address");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, sqlite3_bind_parameter_index(stmt, ":layer"), place_layer(places->options));
	bind_prefix(stmt, places->options->filter);
	while ((err = query_step(places->query, stmt)) == 1 && (err = addresses_add_row(places, stmt)) == 0)
		continue;
	end_address(places);
	sqlite3_finalize(stmt);
	return err;
}

static void
fill_before(struct report_value *row, const struct place *place)
{
	const struct query_port *before = place->before;
	char text[QUERY_AGENT_TEXT + EASE_NAME_MAX + 2];

	row[COLUMN_FROM_AGENT] = cell_text(before->agent->name);
	row[COLUMN_FROM_PORT] = cell_text(before->name);
	if (before->agent == place->port->agent)
		row[COLUMN_FROM_TEXT] = cell_text(before->name);
	else {
		snprintf(text, sizeof(text), "%s %s", before->agent->name, before->name);
		row[COLUMN_FROM_TEXT] = cell_text(text);
	}
}

static void
addresses_fill_address(struct address_names *names, struct report_value *row, const struct place *place)
{
	char text[FRAME_IP_TEXT + ADDRESS_NAME_ROOM];
	char address[FRAME_IP_TEXT], name[ADDRESS_NAME_ROOM];

	result_format_address(place->n_octets, place->octets, address);
	address_names_of_address(names, place->n_octets, place->octets, name);
	snprintf(text, sizeof(text), *name ? "%s %s" : "%s", address, name);
	row[COLUMN_ADDRESS_TEXT] = cell_text(text);
	row[COLUMN_ADDRESS] = cell_text(address);
	row[COLUMN_NAME] = cell_text(name);
}

static int
addresses_add_place(struct report_result *result, struct address_names *names, const struct place *place)
{
	struct report_value *row = result_add_row(result);

	if (!row)
		return -ENOMEM;
	addresses_fill_address(names, row, place);
	row[COLUMN_SITE] = cell_site(place->port->site);
	row[COLUMN_AGENT] = cell_text(place->port->agent->name);
	row[COLUMN_PORT] = cell_text(place->port->name);
	if (place->vlan != UNTAGGED)
		row[COLUMN_VLAN] = cell_number(place->vlan);
	row[COLUMN_SINCE] = cell_time(place->since_us);
	if (place->before)
		fill_before(row, place);
	row[COLUMN_MOVES] = cell_number((double)place->moves);
	if (place->seen_later)
		return 0;
	row[COLUMN_LAST] = cell_time(place->last_us);
	row[COLUMN_SEEN] = cell_number((double)place->seen);
	return 0;
}

/* Addresses in the filter say whether MAC or IP addresses are meant, whatever --layer says. */
static struct report_options
with_layer(const struct report_options *options)
{
	struct report_options copy = *options;

	if (filter_find(options->filter, FILTER_MACS))
		copy.layer = REPORT_LAYER_ETH;
	else if (filter_find(options->filter, FILTER_INNER_IPS))
		copy.layer = REPORT_LAYER_INNER;
	else if (filter_find(options->filter, FILTER_IPS))
		copy.layer = REPORT_LAYER_IP;
	return copy;
}

int
report_addresses(struct query *query, const struct report_options *asked, uint64_t now_us,
    struct report_result *result)
{
	struct report_options options = with_layer(asked);
	struct places places = {.query = query, .options = &options};
	int err = query_begin(query, &options, now_us);

	if (err)
		return err;
	result_begin(result, "addresses", columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; i < places.query->n_ports; i++)
		if (port_is_counted(places.options, &places.query->ports[i]))
			result_count_port(result, &places.query->ports[i]);
	places.room = PLACES_MIN + 2 * options.top;
	places.items = malloc(places.room * sizeof(*places.items));
	if (err == 0)
		err = places.items ? addresses_read_places(&places) : -ENOMEM;
	sort_places(&places);
	for (size_t i = 0; err == 0 && i < places.n && i < options.top; i++)
		err = addresses_add_place(result, options.names, &places.items[i]);
	result_leave_out(result, places.n_dropped + (places.n > options.top ? places.n - options.top : 0));
	result_hide_agent(result, query, COLUMN_AGENT);
	result_finish(result, query);
	free(places.items);
	free(places.open);
	return err;
}
