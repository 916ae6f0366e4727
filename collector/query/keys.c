/*
 * Sums of the keys of a dimension from kept samples, where a filter crosses keys. Part of query.h.
 */
#include "collector/query/dimension.h"
#include "collector/query/query_private.h"
#include "collector/store/schema.h"
#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct estimate_sums
column_sums(sqlite3_stmt *stmt, int column)
{
	return (struct estimate_sums){
		.n = query_u64(stmt, column),
		.w = sqlite3_column_double(stmt, column + 1),
		.w2 = sqlite3_column_double(stmt, column + 2),
		.wb = sqlite3_column_double(stmt, column + 3),
		.wb2 = sqlite3_column_double(stmt, column + 4),
		.w2b2 = sqlite3_column_double(stmt, column + 5),
		.any.pkts = sqlite3_column_double(stmt, column + 6),
		.any.octets = sqlite3_column_double(stmt, column + 7),
		.same.pkts = sqlite3_column_double(stmt, column + 8),
		.same.octets = sqlite3_column_double(stmt, column + 9),
	};
}

static struct estimate_stratum *
column_side(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	int direction = sqlite3_column_int(stmt, 2);

	return port && (direction == EASE_IN || direction == EASE_OUT) ? &port->side[direction]
								       : NULL;
}

/* Weights as floating point: sums of squares of integers would overflow. */
#define WEIGHT "1.0 * mean_skip * stands_for"
#define SUMS_OF_SAMPLES                                                                            \
	"COUNT(*), TOTAL(" WEIGHT "), TOTAL(" WEIGHT " * " WEIGHT "),"                             \
	" TOTAL(" WEIGHT " * frame_octets),"                                                       \
	" TOTAL(" WEIGHT " * frame_octets * frame_octets),"                                        \
	" TOTAL(" WEIGHT " * " WEIGHT " * frame_octets * frame_octets), 0, 0, 0, 0"

/* The samples of the range, port after port: each of them looked up by its time alone is one somewhere else in the
 * file. The index of times has the ports and numbers. */
#define SAMPLES                                                                                    \
	"(SELECT agent AS a, boot AS b, if_index AS i, min(sequence) AS low, max(sequence) AS high FROM sample" \
	" WHERE time_us >= :from AND time_us < :to GROUP BY 1, 2, 3) CROSS JOIN sample ON agent = a AND boot = b"  \
	" AND if_index = i AND sequence BETWEEN low AND high AND time_us >= :from AND time_us < :to"

static double
ratio(double of, double to)
{
	return to > 0 ? of / to : 0;
}

void
query_suppose_mates(struct estimate_sums *sums, const struct estimate_sums *all)
{
	sums->any.pkts = all->any.pkts * ratio(sums->w, all->w);
	sums->any.octets = all->any.octets * ratio(sums->wb, all->wb);
	estimate_unite(sums);
}

void
query_use_kept(struct estimate_stratum *side, const struct estimate_sums *kept)
{
	const struct estimate_sums pairs = {.w = 1, .wb = 1,
	    .any = {ratio(side->all.any.pkts, side->all.w), ratio(side->all.any.octets, side->all.wb)}};

	side->all = *kept;
	if (kept->n > 0)
		query_suppose_mates(&side->all, &pairs);
}

static int
set_sample_sums(struct query *query, sqlite3_stmt *stmt)
{
	struct estimate_stratum *side = column_side(query, stmt);
	struct estimate_sums kept = column_sums(stmt, 3);

	if (side)
		query_use_kept(side, &kept);
	return 0;
}

/* A port without kept samples has no sums. */
static int
replace_sums(struct query *query)
{
	int err;

	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			query->ports[i].side[d].all.n = 0;
	err = query_rows(query, "SELECT agent, if_index, direction, " SUMS_OF_SAMPLES
	    " FROM " SAMPLES " GROUP BY agent, if_index, direction", set_sample_sums);
	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			if (query->ports[i].side[d].all.n == 0)
				query->ports[i].side[d].all = (struct estimate_sums){0};
	return err;
}

/* Of an agent whose samples made room for others. */
static int
raise_floor(struct query *query, sqlite3_stmt *stmt)
{
	const struct query_agent *agent = query_find_agent(query, sqlite3_column_int64(stmt, 0));

	if (agent && agent->chosen && query_u64(stmt, 1) > query->samples_since_us)
		query->samples_since_us = query_u64(stmt, 1);
	return 0;
}

int
query_find_kept_since(struct query *query, uint64_t *kept_since_us)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT MIN(time_us) FROM sample");
	int more = stmt ? query_step(query, stmt) : -EIO;
	uint64_t oldest_us = 0;

	if (more == 1)
		oldest_us = query_u64(stmt, 0);
	sqlite3_finalize(stmt);
	query->samples_since_us = oldest_us;
	if (more >= 0)
		more = query_rows(query, "SELECT agent, since_us FROM sample_floor", raise_floor);
	oldest_us = query->samples_since_us;
	*kept_since_us = oldest_us >= query->range.from_us + STORE_WINDOW_US ? oldest_us : 0;
	return more < 0 ? more : 0;
}

bool
query_needs_samples(const struct dimension *dimension)
{
	return dimension->kind == 0;
}

const char *
query_answers_from(const struct dimension *dimension)
{
	return query_needs_samples(dimension) ? "kept samples"
	    : dimension->from_conversations ? "sums of conversations" : "sums";
}

/* The columns of a sample that are a field of a key, and one that is there where it is; NULL: it may be missing. */
static const struct {
	const char *value, *needs;
} sample_fields[KEY_N_FIELDS] = {
    [KEY_SRC_MAC] = {"src_mac", "src_mac"},
    [KEY_DST_MAC] = {"dst_mac", "dst_mac"},
    [KEY_SRC_IP] = {"src_ip", "src_ip"},
    [KEY_DST_IP] = {"dst_ip", "dst_ip"},
    [KEY_INNER_SRC_IP] = {"inner_src_ip", "inner_src_ip"},
    [KEY_INNER_DST_IP] = {"inner_dst_ip", "inner_dst_ip"},
    [KEY_VLAN] = {"vlan", "vlan"},
    [KEY_ETHERTYPE] = {"CASE WHEN ethertype > 1500 THEN ethertype ELSE 0 END", "ethertype"},
    [KEY_SRC_PORT] = {"iif(" STORE_IS_ICMP ", dst_port IS NOT NULL, src_port)", NULL},
    [KEY_DST_PORT] = {"dst_port", NULL},
    [KEY_SERVER_PORT] = {"iif(" STORE_IS_ICMP ", dst_port, MIN(src_port, dst_port))", "dst_port"},
    [KEY_IP_PROTO] = {"ip_proto", "ip_proto"},
};

static bool
has_half(const struct dimension *d, unsigned half)
{
	return half == 1 ? d->key1 : d->key2;
}

/* The octets of a half of the dimension's key (1, 2), or NULL where it is no part of it. */
static void
write_half(const struct dimension *d, unsigned half, char *sql, size_t size)
{
	const uint8_t *field = d->key->halves[half - 1];

	snprintf(sql, size, has_half(d, half) ? "" : "NULL");
	if (!has_half(d, half))
		return;
	if (field[0] < KEY_N_ADDRESSES && field[1] == KEY_NO_FIELD) {
		snprintf(sql, size, d->subnet ? "subnet(%s)" : "%s", sample_fields[field[0]].value);
		return;
	}
	for (size_t i = 0; i < KEY_HALF_FIELDS && field[i] != KEY_NO_FIELD; i++)
		text_add(sql, size, "%s%s, %u", i > 0 ? ", " : "octets(", sample_fields[field[i]].value,
		    key_field_octets(field[i]));
	text_add(sql, size, ")");
}

static void
write_has(const struct dimension *d, char *sql, size_t size)
{
	snprintf(sql, size, "1");
	for (unsigned half = 1; half <= 2; half++)
		for (size_t i = 0; has_half(d, half) && i < KEY_HALF_FIELDS; i++)
			if (sample_fields[d->key->halves[half - 1][i]].needs)
				text_add(sql, size, " AND %s IS NOT NULL", sample_fields[d->key->halves[half - 1][i]].needs);
}

/* Which samples have a key of the list, and the halves of that key. */
struct key_sql {
	char where[640], key1[QUERY_SAMPLES_SQL / 8], key2[QUERY_SAMPLES_SQL / 8];
};

static void
write_key(const struct query *query, const struct dimension *dimension, struct key_sql *sql)
{
	char has[QUERY_SAMPLES_SQL / 8], filter[sizeof(sql->where) / 2] = "1";

	write_half(dimension, 1, sql->key1, sizeof(sql->key1));
	write_half(dimension, 2, sql->key2, sizeof(sql->key2));
	write_has(dimension, has, sizeof(has));
	if (query->filter)
		query_write_wanted(query, filter, sizeof(filter));
	snprintf(sql->where, sizeof(sql->where), "%s AND %s AND %s",
	    query->n_sent_agents > 0 ? "is_listed(agent, direction)" : "direction = 1", has, filter);
}

static void
build_sample_sql(const struct query *query, const struct report_options *options, const struct dimension *dimension,
    char *sql, size_t size)
{
	struct key_sql key;

	write_key(query, dimension, &key);
	snprintf(sql, size, "SELECT agent, if_index, %s AS k1, %s AS k2, " SUMS_OF_SAMPLES
	    " FROM " SAMPLES " AND %s%s GROUP BY agent, if_index, k1, k2",
	    key.key1, key.key2, key.where, options->only ? " AND asked_key(k1, k2) IS NOT NULL" : "");
}

void
query_write_samples(const struct query *query, const struct dimension *dimension, char *sql, size_t size)
{
	struct key_sql key;

	write_key(query, dimension, &key);
	snprintf(sql, size, "SELECT agent, if_index, direction, time_us, " WEIGHT ", frame_octets,"
	    " iif(%s, asked_key(%s, %s), NULL) FROM " SAMPLES, key.where, key.key1, key.key2);
}

struct key_list {
	struct query_key *items;
	size_t n, room;
};

static void
column_key(sqlite3_stmt *stmt, int column, uint8_t *key, uint8_t *n_octets)
{
	int octets = sqlite3_column_bytes(stmt, column);

	if (octets > 0 && octets <= QUERY_KEY_OCTETS) {
		memcpy(key, sqlite3_column_blob(stmt, column), (size_t)octets);
		*n_octets = (uint8_t)octets;
	}
}

static int
add_key(struct query *query, const struct report_options *options, sqlite3_stmt *stmt, struct key_list *list)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	struct query_key *key;

	if (!port)
		return 0;
	if (query->limits.keys > 0 && list->n >= query->limits.keys &&
	    query_drop_keys(query, options, list->items, &list->n) < 0)
		return -ENOMEM;
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 256;
		struct query_key *items = realloc(list->items, room * sizeof(*items));

		if (!items)
			return query_fail(query, -ENOMEM, "no memory");
		list->items = items;
		list->room = room;
	}
	key = &list->items[list->n++];
	*key = (struct query_key){.port = port, .sums = column_sums(stmt, 4)};
	if (query->from_samples)
		query_suppose_mates(&key->sums, &query_listed(port)->all);
	column_key(stmt, 2, key->key1, &key->n_octets);
	column_key(stmt, 3, key->key2, &key->n_octets);
	return 0;
}

/* The statement's rows. */
static int
read_samples(struct query *query, const struct report_options *options, const char *sql, struct key_list *list)
{
	sqlite3_stmt *stmt = query_prepare(query, sql);
	int err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = add_key(query, options, stmt, list);
	sqlite3_finalize(stmt);
	return err;
}

int
query_keys_of_samples(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n, uint64_t *kept_since_us)
{
	struct key_list list = {0};
	char sql[QUERY_SAMPLES_SQL];
	int err;

	query_begin_drop(query);
	build_sample_sql(query, options, dimension, sql, sizeof(sql));
	err = replace_sums(query);
	if (err == 0)
		err = query_find_kept_since(query, kept_since_us);
	if (err == 0)
		err = read_samples(query, options, sql, &list);
	if (err) {
		free(list.items);
		return err;
	}
	*keys = list.items;
	*n = list.n;
	return 0;
}
