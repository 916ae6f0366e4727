#include "collector/query/mirror_tables.h"
#include "collector/store/schema.h"
#include "tests/collector/ship/cluster_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US 60000000ull

enum { IF_INDEX = 3, KEYS = 3, MINUTES = 3, MANY = 1000000 };

static const uint8_t agent_id[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- rows of tables ---- */

static uint64_t
number_of(const char *column, unsigned row)
{
	static const struct {
		const char *name;
		uint64_t value;
	} known[] = {{"if_index", IF_INDEX}, {"boot", 1}, {"direction", 1}, {"level", 1}, {"offset_us", 0},
	    {"start_us", ANSWERS_NOON_US}, {"skip", 10}, {"mean_skip", 10}, {"lag_parent", 0},
	    {"kind", 1}, {"edge", 1}, {"sequence", 7}, {"duplex", 2}, {"first_us", ANSWERS_NOON_US},
	    {"discontinuity_us", 0}, {"since_us", ANSWERS_NOON_US}};
	size_t n = strcspn(column, ", ");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n && strncmp(known[i].name, column, n) == 0)
			return known[i].value;
	if (n > 3 && strncmp(column + n - 3, "_us", 3) == 0)
		return ANSWERS_NOON_US + (row + 1) * MINUTE_US;
	return 1000 * (row + 1);
}

static void
put_cell(struct row_buffer *out, enum cluster_type type, const char *column, unsigned row)
{
	static const uint8_t octets[CLUSTER_N_TYPES] = {[CLUSTER_U8] = 1, [CLUSTER_U16] = 2,
	    [CLUSTER_U32] = 4, [CLUSTER_U64] = 8, [CLUSTER_I64] = 8, [CLUSTER_I64_OR_NULL] = 8};
	uint64_t value = number_of(column, row);

	if (type == CLUSTER_I64_OR_NULL || type == CLUSTER_TEXT_OR_NULL)
		row_put_null(out, false);
	if (type == CLUSTER_AGENT_ID)
		row_put_fixed(out, agent_id, sizeof(agent_id));
	else if (type == CLUSTER_F64)
		row_put_f64(out, (double)value);
	else if (octets[type] > 0)
		row_put_int(out, value, octets[type]);
	else if (strstr(column, "mac") == column || strstr(column, "src_mac") == column)
		row_put_text(out, "\2\0\0\0\0\1", 6);
	else if (strcspn(column, ", ") == 4 && begins(column, "text")) /* a row of the file of names, or any text */
		row_put_text(out, "agent * site two", 16);
	else
		row_put_text(out, "ge-3", 4);
}

/* A statement of a mirror's table names its columns, or what stands for them. */
static bool
asks_for(const char *sql, const struct mirror_table *table)
{
	char all[MIRROR_COLUMNS_TEXT], from[64];
	const char *columns = table->select ? table->select : all;

	mirror_columns(table, all);
	snprintf(from, sizeof(from), " FROM ease.%s", cluster_tables[table->from].name);
	return *columns && begins(sql, columns) && begins(sql + strlen(columns), from);
}

static bool
give_table(const char *sql, struct row_buffer *out)
{
	const struct mirror_table *table = mirror_tables;
	char columns[MIRROR_COLUMNS_TEXT];
	unsigned rows;

	while (table->name && !asks_for(sql, table))
		table++;
	if (!table->name)
		return false;
	rows = table->from == CLUSTER_COUNTERS || table->from == CLUSTER_RESOURCES ? 2 : 1;
	mirror_columns(table, columns);
	for (unsigned row = 0; row < rows; row++)
		for (const char *name = columns; *name; name += strspn(name, ", ")) {
			size_t n = strcspn(name, ",");
			enum cluster_type type = cluster_type_of(&cluster_tables[table->from], name, n);

			if (type == CLUSTER_N_TYPES)
				abort();
			put_cell(out, type, name, row);
			name += n;
		}
	return true;
}

/* ---- sums ---- */

/* Of a port's sums the first that is less than what was counted: cut_pkts. */
enum { FIRST_CUT = 12 };

static unsigned
count(const char *text, const char *what, const char *end)
{
	unsigned n = 0;

	while ((text = strstr(text, what)) != NULL && text < end) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* Octets of half a key, by its kind. */
static size_t
octets_of(const char *sql)
{
	static const uint8_t octets[] = {[STORE_KEY_ETH_PAIR] = 6, [STORE_KEY_IP_PAIR] = 4,
	    [STORE_KEY_VLAN] = 2, [STORE_KEY_ETHERTYPE] = 2, [STORE_KEY_IP_PROTO] = 1,
	    [STORE_KEY_SERVER_PORT] = 3, [STORE_KEY_CONVERSATION] = 4, [STORE_KEY_SYN] = 4};
	const char *at = strstr(sql, "kind = ");
	unsigned long kind = at ? strtoul(at + strlen("kind = "), NULL, 10) : 0;

	return kind < sizeof(octets) ? octets[kind] : 0;
}

static void
put_half(struct row_buffer *out, const char *sql, const char *none, unsigned i)
{
	uint8_t half[8] = {2, 0, 0, (uint8_t)(i + 1), 0, 1, 0, 0};

	row_put_text(out, half, strstr(sql, none) ? 0 : octets_of(sql));
}

/* Where the columns of sums end: what is expected of a port asks another table among them. */
static const char *
end_of_columns(const char *sql)
{
	static const char *const summed[] = {" FROM ease.ports ", " FROM ease.keys ", " FROM ease.folded "};
	const char *from = NULL;

	for (size_t i = 0; !from && i < sizeof(summed) / sizeof(summed[0]); i++)
		from = strstr(sql, summed[i]);
	return from;
}

static bool
give_sums(const char *sql, struct row_buffer *out)
{
	const char *from = end_of_columns(sql), *step = strstr(sql, " AS step, agent, if_index");
	unsigned n_sums, keys = strstr(sql, "FROM ease.keys ") ? KEYS : 1;
	bool whole = strstr(sql, "FROM ease.folded ") != NULL, ports = strstr(sql, "FROM ease.ports ") != NULL;
	uint64_t step_us = begins(sql, "intDiv(start_us, ") ? strtoull(sql + 17, NULL, 10) : 0;

	if (!from || !step || step > from)
		return false;
	n_sums = count(sql, "sum(", from) + count(sql, "max(w_max)", from);
	for (unsigned i = 0; i < (step_us > 0 ? MINUTES : 1) * keys; i++) {
		uint64_t at_us = ANSWERS_NOON_US + i / keys * MINUTE_US;

		row_put_int(out, step_us > 0 ? at_us / step_us : 0, 8);
		row_put_fixed(out, agent_id, sizeof(agent_id));
		row_put_int(out, IF_INDEX, 8);
		row_put_int(out, 1, 1);
		put_half(out, sql, "'' AS half1", i);
		put_half(out, sql, "'' AS half2", i);
		for (unsigned c = 0; c < n_sums; c++)
			if (c == 0 || whole)
				row_put_int(out, 100 + 10 * i, 8);
			else
				row_put_f64(out, ports && c >= FIRST_CUT ? 10 : 1000.0 * (c + i + 1));
	}
	return true;
}

static bool
give_ranking(const char *sql, struct row_buffer *out)
{
	const char *from = strstr(sql, " FROM "), *ranked = strstr(sql, " AS estimate, ");

	if (!from || !ranked || ranked > from)
		return false;
	for (unsigned i = 0; i < KEYS; i++) {
		put_half(out, sql, "'' AS half1", i);
		put_half(out, sql, "'' AS half2", i);
		for (int c = -1; c <= 1; c++)
			row_put_f64(out, 1000.0 * (KEYS - i) + c);
		row_put_int(out, 100, 8);
	}
	return true;
}

/* ---- the rest ---- */

static void
put_levels(struct row_buffer *out)
{
	static const unsigned minutes[] = {1, 5, 60, 1440};

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		row_put_int(out, minutes[i], 2);
		row_put_int(out, 0, 8);
		row_put_int(out, i == 0 ? ANSWERS_NOON_US + 10 * MINUTE_US : 0, 8);
	}
}

bool
cluster_answers_give(void *arg, const char *sql, struct row_buffer *out)
{
	const struct cluster_answers *answers = arg;

	if (!begins(sql, "SELECT "))
		return false;
	sql += strlen("SELECT ");
	if (give_table(sql, out) || give_sums(sql, out) || give_ranking(sql, out))
		return true;
	if (begins(sql, "level, kept, "))
		put_levels(out);
	else if (begins(sql, "uniq")) { /* by port, and at all */
		row_put_int(out, answers->many ? MANY : KEYS, 8);
		row_put_int(out, answers->many ? MANY : KEYS, 8);
	}
	else if (begins(sql, "sum(if(k = 1, cw")) { /* what all keys tell, and how many there are */
		for (int c = 0; c < 10; c++)
			if (c == 4 || c == 9)
				row_put_int(out, c == 4 ? 0 : MANY, 8);
			else
				row_put_f64(out, 0);
	} else if (begins(sql, "agent, max(start_us) FROM")) {
		row_put_fixed(out, agent_id, sizeof(agent_id));
		row_put_int(out, ANSWERS_NOON_US, 8); /* a minute less than was heard of */
	} else if (begins(sql, "name, sum(value)") || begins(sql, "'cluster.passed_over'")) {
		row_put_text(out, "input.records", 13);
		row_put_int(out, 70, 8);
	} else
		return false;
	return true;
}
