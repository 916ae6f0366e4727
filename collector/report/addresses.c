/*
 * Addresses: the agent, port and VLAN where a MAC or IP address was seen last, since when it is
 * there, and where it was before. An address is seen as the source of a kept sample that an edge
 * port received, or when a switch reports it as new. The newest arrivals come first.
 */
#include "collector/report/address_names.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "common/sample.h"
#include "common/trap_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_ADDRESS_TEXT,
	COLUMN_ADDRESS,
	COLUMN_NAME,
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
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_VLAN] = {"vlan", "VLAN", REPORT_ID},
	[COLUMN_SINCE] = {"since", "SINCE", REPORT_TIME}, /* or earlier, if the samples begin then */
	[COLUMN_LAST] = {"last", "LAST SEEN", REPORT_TIME},
	[COLUMN_FROM_AGENT] = {"moved_from_agent", NULL, REPORT_TEXT},
	[COLUMN_FROM_PORT] = {"moved_from_port", NULL, REPORT_TEXT},
	[COLUMN_FROM_TEXT] = {NULL, "MOVED FROM", REPORT_TEXT},
	[COLUMN_MOVES] = {"moves", "MOVES", REPORT_COUNT},
	[COLUMN_SEEN] = {"seen", "SEEN", REPORT_COUNT},
};

/* One address; its sightings come in the order of time. */
struct place {
	uint8_t n_octets, octets[FRAME_IP_LEN];
	const struct query_port *port, *before; /* before: NULL if it was seen nowhere else */
	int32_t vlan;				/* REPORT_ANY: untagged */
	uint64_t since_us, last_us;
	uint64_t moves, seen;
};

struct places {
	struct query *query;
	const struct report_options *options;
	struct place *items;
	size_t n, room;
};

/* Columns: address, agent, ifIndex, time, VLAN; each address in the order of time. */
static const char *
sightings_sql(const struct report_options *options)
{
	if (options->layer == REPORT_LAYER_INNER)
		return "SELECT inner_src_ip, agent, if_index, time_us, vlan FROM sample WHERE"
		    " direction = :in AND time_us < :to AND inner_src_ip IS NOT NULL ORDER BY 1, 4";
	if (options->layer == REPORT_LAYER_IP)
		return "SELECT src_ip, agent, if_index, time_us, vlan FROM sample"
		    " WHERE direction = :in AND time_us < :to AND src_ip IS NOT NULL ORDER BY 1, 4";
	return "SELECT src_mac, agent, if_index, time_us, vlan FROM sample"
	    " WHERE direction = :in AND time_us < :to AND src_mac IS NOT NULL"
	    " UNION ALL SELECT mac, agent, if_index, time_us, NULLIF(vlan, 0) FROM event"
	    " WHERE kind = :new_address AND time_us < :to AND mac IS NOT NULL ORDER BY 1, 4";
}

static int
new_place(struct places *places, const uint8_t *octets, int n_octets)
{
	struct place *items = places->items;

	if (places->n == places->room) {
		places->room = places->room ? 2 * places->room : 256;
		items = realloc(items, places->room * sizeof(*items));
		if (!items)
			return -ENOMEM;
		places->items = items;
	}
	items[places->n] = (struct place){.n_octets = (uint8_t)n_octets};
	memcpy(items[places->n++].octets, octets, (size_t)n_octets);
	return 0;
}

static void
see(struct place *place, const struct query_port *port, sqlite3_stmt *stmt)
{
	uint64_t time_us = (uint64_t)sqlite3_column_int64(stmt, 3);

	if (place->port != port) {
		place->moves += place->port != NULL;
		place->before = place->port;
		place->port = port;
		place->since_us = time_us;
	}
	place->last_us = time_us;
	place->vlan = sqlite3_column_type(stmt, 4) == SQLITE_NULL ? REPORT_ANY
								 : sqlite3_column_int(stmt, 4);
	place->seen++;
}

static int
add_sighting(struct places *places, sqlite3_stmt *stmt)
{
	const uint8_t *octets = sqlite3_column_blob(stmt, 0);
	int n_octets = sqlite3_column_bytes(stmt, 0), err;
	const struct query_port *port = query_find_port(places->query,
	    sqlite3_column_int64(stmt, 1), (uint32_t)sqlite3_column_int64(stmt, 2));
	const struct report_prefix *prefix = &places->options->addr;
	struct place *last = places->n > 0 ? &places->items[places->n - 1] : NULL;

	if (!octets || n_octets > FRAME_IP_LEN || !port || !port_is_counted(places->options, port) ||
	    (prefix->n_octets > 0 && !report_in_prefix(prefix, (size_t)n_octets, octets)))
		return 0;
	if (!last || last->n_octets != n_octets || memcmp(last->octets, octets, (size_t)n_octets)) {
		err = new_place(places, octets, n_octets);
		if (err)
			return err;
	}
	see(&places->items[places->n - 1], port, stmt);
	return 0;
}

/* Binds the value if the statement has the name: index 0 binds nothing. */
static void
bind(sqlite3_stmt *stmt, const char *name, int value)
{
	sqlite3_bind_int(stmt, stmt ? sqlite3_bind_parameter_index(stmt, name) : 0, value);
}

static int
read_sightings(struct places *places)
{
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(places->query, QUERY_ALL_ROWS, 0, places->query->range.to_us);
	stmt = query_prepare(places->query, sightings_sql(places->options));
	err = stmt ? 0 : -EIO;
	bind(stmt, ":in", EASE_IN);
	bind(stmt, ":new_address", EASE_NOTIFY_NEW_ADDRESS);
	while (err == 0 && (err = query_step(places->query, stmt)) == 1)
		err = add_sighting(places, stmt);
	sqlite3_finalize(stmt);
	return err;
}

/* Drops addresses that were not seen in the range or are of another VLAN than asked for. */
static void
drop_what_is_not_asked_for(struct places *places)
{
	const struct report_options *options = places->options;
	size_t kept = 0;

	for (size_t i = 0; i < places->n; i++)
		if (places->items[i].last_us >= places->query->range.from_us &&
		    (options->vlan == REPORT_ANY || places->items[i].vlan == options->vlan))
			places->items[kept++] = places->items[i];
	places->n = kept;
}

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
fill_address(struct address_names *names, struct report_value *row, const struct place *place)
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
add_place(struct report_result *result, struct address_names *names, const struct place *place)
{
	struct report_value *row = result_add_row(result);

	if (!row)
		return -ENOMEM;
	fill_address(names, row, place);
	row[COLUMN_AGENT] = cell_text(place->port->agent->name);
	row[COLUMN_PORT] = cell_text(place->port->name);
	if (place->vlan != REPORT_ANY)
		row[COLUMN_VLAN] = cell_number(place->vlan);
	row[COLUMN_SINCE] = cell_time(place->since_us);
	row[COLUMN_LAST] = cell_time(place->last_us);
	if (place->before)
		fill_before(row, place);
	row[COLUMN_MOVES] = cell_number((double)place->moves);
	row[COLUMN_SEEN] = cell_number((double)place->seen);
	return 0;
}

static void
count_ports(struct report_result *result, const struct places *places)
{
	for (size_t i = 0; i < places->query->n_ports; i++)
		if (port_is_counted(places->options, &places->query->ports[i]))
			result_count_port(result, &places->query->ports[i]);
}

/* A prefix of --addr says whether MAC or IP addresses are meant, whatever --layer says. */
static struct report_options
with_layer(const struct report_options *options)
{
	struct report_options copy = *options;

	if (options->addr.n_octets == FRAME_MAC_LEN)
		copy.layer = REPORT_LAYER_ETH;
	else if (options->addr.n_octets > 0 && options->layer == REPORT_LAYER_ETH)
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
	count_ports(result, &places);
	if (err == 0)
		err = read_sightings(&places);
	drop_what_is_not_asked_for(&places);
	if (places.n > 1)
		qsort(places.items, places.n, sizeof(*places.items), compare_places);
	for (size_t i = 0; err == 0 && i < places.n && i < options.top; i++)
		err = add_place(result, options.names, &places.items[i]);
	result->n_left_out = places.n > options.top ? places.n - options.top : 0;
	result_hide_agent(result, query, COLUMN_AGENT);
	result_finish(result, query);
	free(places.items);
	return err;
}
