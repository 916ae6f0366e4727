/*
 * Sums of the keys of a dimension from kept samples, where a filter crosses keys. Part of query.h.
 */
#include "collector/query/dimension.h"
#include "collector/query/key_table.h"
#include "collector/store/schema.h"
#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The samples of the range, port after port: each of them looked up by its time alone is one somewhere else in the
 * file. The index of times has the ports and numbers. */
#define SAMPLES                                                                                    \
	"(SELECT agent AS a, boot AS b, if_index AS i, min(sequence) AS low, max(sequence) AS high FROM sample" \
	" WHERE time_us >= :from AND time_us < :to GROUP BY 1, 2, 3) CROSS JOIN sample ON agent = a AND boot = b"  \
	" AND if_index = i AND sequence BETWEEN low AND high AND time_us >= :from AND time_us < :to"

enum { SAMPLES_SQL = 2048 };

void
query_suppose_mates(struct estimate_sums *sums, const struct estimate_sums *all)
{
	sums->any.pkts = all->any.pkts * query_ratio(sums->w, all->w);
	sums->any.octets = all->any.octets * query_ratio(sums->wb, all->wb);
	estimate_unite(sums);
}

void
query_use_kept(struct estimate_stratum *side, const struct estimate_sums *kept)
{
	const struct estimate_sums pairs = {.w = 1, .wb = 1,
	    .any = {query_ratio(side->all.any.pkts, side->all.w), query_ratio(side->all.any.octets, side->all.wb)}};

	side->all = *kept;
	if (kept->n > 0)
		query_suppose_mates(&side->all, &pairs);
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
    [KEY_VNI] = {"vni", "vni"},
    [KEY_SRC_AS] = {"src_as", "src_as"},
    [KEY_DST_AS] = {"dst_as", "dst_as"},
};

static bool
has_half(const struct dimension *d, unsigned half)
{
	return half == 1 ? d->key1 : half == 2 && d->key2;
}

/* An address as the dimension has it; NULL where that is of no group. */
static void
write_address(const struct dimension *d, const char *column, char *sql, size_t size)
{
	if (d->fold == FOLD_NOTHING)
		snprintf(sql, size, "%s", column);
	else
		snprintf(sql, size, "fold(%d, %s)", d->fold == FOLD_GROUP ? (int)d->group : -1, column);
}

/* The octets of a half of the dimension's key (1, 2), or NULL where it is no part of it (0). */
static void
write_half(const struct dimension *d, unsigned half, char *sql, size_t size)
{
	const uint8_t *field = d->key->halves[half > 0 ? half - 1 : 0];

	snprintf(sql, size, has_half(d, half) ? "" : "NULL");
	if (!has_half(d, half))
		return;
	if (field[0] < KEY_N_ADDRESSES && field[1] == KEY_NO_FIELD) {
		write_address(d, sample_fields[field[0]].value, sql, size);
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
	char address[SAMPLES_SQL / 16];

	snprintf(sql, size, "1");
	for (unsigned half = 1; half <= 2; half++)
		for (size_t i = 0; has_half(d, half) && i < KEY_HALF_FIELDS; i++) {
			const char *needs = sample_fields[d->key->halves[half - 1][i]].needs;

			if (!needs)
				continue;
			write_address(d, needs, address, sizeof(address));
			text_add(sql, size, " AND %s IS NOT NULL", address);
		}
}

/* Weights as floating point: sums of squares of integers would overflow. A half of the key that each sample has is NULL
 * where lists do not count it, it has no key, or the filter does not let it pass; the other half is last. */
static void
write_samples(const struct query *query, const struct dimension *dimension, char *sql, size_t size)
{
	char first[SAMPLES_SQL / 8], second[SAMPLES_SQL / 8], has[SAMPLES_SQL / 8], filter[SAMPLES_SQL / 4] = "1";

	write_half(dimension, dimension->key1 ? 1 : 2, first, sizeof(first));
	write_half(dimension, dimension->key1 && dimension->key2 ? 2 : 0, second, sizeof(second));
	write_has(dimension, has, sizeof(has));
	if (query->filter)
		query_write_wanted(query, filter, sizeof(filter));
	snprintf(sql, size, "SELECT agent, if_index, direction, time_us, 1.0 * mean_skip * stands_for, frame_octets,"
	    " iif(%s AND %s AND %s, %s, NULL), %s FROM " SAMPLES,
	    query->n_sent_agents > 0 ? "is_listed(agent, direction)" : "direction = 1", has, filter, first, second);
}

static void
column_half(sqlite3_stmt *stmt, int column, uint8_t half[QUERY_KEY_OCTETS], uint8_t *n_octets)
{
	int octets = sqlite3_column_bytes(stmt, column);

	if (octets > 0 && octets <= QUERY_KEY_OCTETS) {
		memcpy(half, sqlite3_column_blob(stmt, column), (size_t)octets);
		*n_octets = (uint8_t)octets;
	}
}

int
query_each_sample(struct query *query, const struct dimension *dimension, query_sample_fn *take, void *arg)
{
	struct query_port *port = NULL;
	char sql[SAMPLES_SQL];
	sqlite3_stmt *stmt;
	int err;

	write_samples(query, dimension, sql, sizeof(sql));
	stmt = query_prepare(query, sql);
	err = stmt ? 0 : -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		int64_t agent = sqlite3_column_int64(stmt, 0), if_index = sqlite3_column_int64(stmt, 1);
		struct query_sample sample = {.direction = (uint8_t)sqlite3_column_int(stmt, 2), .time_us = query_u64(stmt, 3),
		    .weight = sqlite3_column_double(stmt, 4), .octets = (uint32_t)sqlite3_column_int64(stmt, 5)};

		err = 0;
		if (!port || port->agent->id != agent || port->if_index != (uint64_t)if_index)
			port = query_find_port(query, agent, (uint64_t)if_index);
		if (!port || (sample.direction != EASE_IN && sample.direction != EASE_OUT))
			continue;
		sample.key.port = sample.port = port;
		sample.has_key = sqlite3_column_type(stmt, 6) != SQLITE_NULL;
		if (sample.has_key) {
			column_half(stmt, 6, dimension->key1 ? sample.key.key1 : sample.key.key2, &sample.key.n_octets);
			column_half(stmt, 7, sample.key.key2, &sample.key.n_octets);
		}
		err = take(query, &sample, arg);
	}
	sqlite3_finalize(stmt);
	return err;
}

void
query_add_sample(struct estimate_sums *sums, double weight, double octets)
{
	sums->n++;
	sums->w += weight;
	sums->w2 += weight * weight;
	sums->wb += weight * octets;
	sums->wb2 += weight * octets * octets;
	sums->w2b2 += weight * weight * octets * octets;
}

/* ---- keys ---- */

struct kept_sums {
	struct estimate_sums (*sides)[EASE_OUT + 1]; /* of each port */
	struct key_table keys;
};

static int
keys_add_sample(struct query *query, const struct query_sample *sample, void *arg)
{
	struct kept_sums *kept = arg;
	struct query_key *key;
	int err = 0;

	query_add_sample(&kept->sides[sample->port - query->ports][sample->direction], sample->weight, sample->octets);
	if (!sample->has_key || !key_table_wants(&kept->keys, &sample->key))
		return 0;
	key = key_table_find(query, &kept->keys, &sample->key, key_table_hash(query, &sample->key), &err);
	if (key)
		query_add_sample(&key->sums, sample->weight, sample->octets);
	return err;
}

int
query_keys_of_samples(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n, uint64_t *kept_since_us)
{
	struct kept_sums kept = {.sides = calloc(query->n_ports + 1, sizeof(*kept.sides))};
	int err = key_table_begin(query, &kept.keys, options);

	if (!kept.sides)
		err = query_fail(query, -ENOMEM, "no memory");
	if (err == 0)
		err = query_each_sample(query, dimension, keys_add_sample, &kept);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			query_use_kept(&query->ports[i].side[d], &kept.sides[i][d]);
	for (size_t i = 0; err == 0 && i < kept.keys.n; i++)
		query_suppose_mates(&kept.keys.items[i].sums, &query_listed(kept.keys.items[i].port)->all);
	if (err == 0)
		err = query_find_kept_since(query, kept_since_us);
	free(kept.sides);
	return key_table_end(&kept.keys, err, keys, n);
}
