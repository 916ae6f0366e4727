/*
 * A filter as a condition on a cluster's keys, so that servers rank and send only what passes. Part of query.h.
 */
#include "collector/query/cluster.h"
#include "collector/query/dimension.h"

#include <inttypes.h>
#include <stdio.h>

enum { IP_PROTO_TCP = 6, ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd };

/* Where keys of a kind have a field, as SQL; "": they have not. Numbers are in network order. */
struct key_column {
	char sql[64];
};

/* first: octets of it that are left out; n: how many are taken, 0: all. */
static struct key_column
part_of_key(const struct key_layout *layout, enum key_field field, unsigned first, unsigned n)
{
	struct key_column column = {""};
	unsigned behind;

	for (unsigned half = 1; half <= 2 && !*column.sql; half++) {
		behind = key_octets_behind(layout, half);
		for (size_t i = 0; i < KEY_HALF_FIELDS && layout->halves[half - 1][i] != KEY_NO_FIELD; i++) {
			bool is = layout->halves[half - 1][i] == field;

			if (is && n == 0 && i == 0 && layout->halves[half - 1][1] == KEY_NO_FIELD) /* servers have an index of it */
				snprintf(column.sql, sizeof(column.sql), "key%u", half);
			else if (is && field < KEY_N_ADDRESSES)
				snprintf(column.sql, sizeof(column.sql), "substring(key%u, 1, length(key%u) - %u)", half, half, behind);
			else if (is)
				snprintf(column.sql, sizeof(column.sql), "substring(key%u, length(key%u) - %u, %u)", half, half,
				    behind - first - 1, n > 0 ? n : key_field_octets(field));
			behind -= key_field_octets(layout->halves[half - 1][i]);
		}
	}
	return column;
}

static struct key_column
cluster_column_of(enum store_key_kind kind, enum filter_field field)
{
	const struct key_layout *layout = key_layout_of(kind);
	struct key_column column = {""};

	if (layout && FILTER_BIT(field) & FILTER_ICMP) {
		column = part_of_key(layout, KEY_SERVER_PORT, field == FILTER_ICMP_CODE, 1);
		if (!*column.sql)
			column = part_of_key(layout, KEY_DST_PORT, field == FILTER_ICMP_CODE, 1);
	} else if (layout) {
		column = part_of_key(layout, query_key_field(field), 0, 0);
	}
	return column;
}

void
cluster_write_hex(FILE *sql, const uint8_t *octets, size_t n)
{
	fputs("unhex('", sql);
	for (size_t i = 0; i < n; i++)
		fprintf(sql, "%02x", octets[i]);
	fputs("')", sql);
}

/* Addresses of a prefix lie between two of their length. */
static void
put_prefix(FILE *sql, const char *column, const struct filter_prefix *prefix)
{
	uint8_t low[FRAME_IP_LEN], high[FRAME_IP_LEN];

	filter_cut(prefix->octets, prefix->bits, low);
	for (unsigned bit = 0; bit < 8u * prefix->n_octets; bit++) {
		if (bit % 8 == 0)
			high[bit / 8] = low[bit / 8];
		if (bit >= prefix->bits)
			high[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	fprintf(sql, "(length(%s) = %u AND %s >= ", column, prefix->n_octets, column);
	cluster_write_hex(sql, low, prefix->n_octets);
	fprintf(sql, " AND %s <= ", column);
	cluster_write_hex(sql, high, prefix->n_octets);
	fputs(")", sql);
}

static bool
is_in(const struct filter_node *node, uint32_t number)
{
	return node->range.low <= number && number <= node->range.high;
}

/* Of IP addresses the length says the ethertype, and keys of SYNs are all of TCP. */
static void
put_implied(FILE *sql, enum store_key_kind kind, const struct filter_node *node)
{
	const struct key_column address = cluster_column_of(kind, FILTER_SRC_IP);

	if (node->field == FILTER_ETHERTYPE && *address.sql)
		fprintf(sql, "((length(%s) = 4 AND %d) OR (length(%s) = %d AND %d))", address.sql,
		    is_in(node, ETHERTYPE_IP4), address.sql, FRAME_IP_LEN, is_in(node, ETHERTYPE_IP6));
	else
		fprintf(sql, "%d", kind == STORE_KEY_SYN && node->field == FILTER_IP_PROTO &&
		    is_in(node, IP_PROTO_TCP));
}

/* Of ICMP, and where its type is known; or where there are ports. */
static void
put_guard(FILE *sql, enum store_key_kind kind, const struct filter_node *node)
{
	bool is_icmp = FILTER_BIT(node->field) & FILTER_ICMP, is_port = FILTER_BIT(node->field) & FILTER_PORTS;
	bool is_conversation = kind == STORE_KEY_CONVERSATION;

	if (is_icmp || (is_port && is_conversation))
		fprintf(sql, " AND %s %s (unhex('%02x'), unhex('%02x'))", cluster_column_of(kind, FILTER_IP_PROTO).sql,
		    is_icmp ? "IN" : "NOT IN", STORE_PROTO_ICMP, STORE_PROTO_ICMP6);
	if (is_conversation && is_icmp)
		fprintf(sql, " AND %s = unhex('%04x')", cluster_column_of(kind, FILTER_SRC_PORT).sql, STORE_ICMP_MARK);
	if (is_conversation && is_port && node->range.low == 0)
		fprintf(sql, " AND NOT (%s = unhex('0000') AND %s = unhex('0000'))",
		    cluster_column_of(kind, FILTER_SRC_PORT).sql, cluster_column_of(kind, FILTER_DST_PORT).sql);
}

static void
put_range(FILE *sql, enum store_key_kind kind, const struct filter_node *node)
{
	const struct key_column column = cluster_column_of(kind, (enum filter_field)node->field);
	bool is_octet = FILTER_BIT(node->field) & (FILTER_BIT(FILTER_IP_PROTO) | FILTER_ICMP);
	uint32_t max = is_octet ? 0xff : 0xffff;
	uint32_t high = node->range.high < max ? node->range.high : max;
	int digits = is_octet ? 2 : 4;

	if (!*column.sql) {
		put_implied(sql, kind, node);
		return;
	}
	fprintf(sql, "(%s >= unhex('%0*x') AND %s <= unhex('%0*x')", column.sql, digits, node->range.low, column.sql,
	    digits, high);
	put_guard(sql, kind, node);
	fputs(")", sql);
}

/* Chosen ports with that name, and those without it. */
static void
count_named(const struct query *query, uint8_t name, size_t *with, size_t *without)
{
	*with = *without = 0;
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].chosen)
			++*(query->ports[i].named >> name & 1 ? with : without);
}

static void
put_named(FILE *sql, const struct query *query, uint8_t name)
{
	size_t with, without, listed = 0;

	count_named(query, name, &with, &without);
	if (with == 0 || without == 0) {
		fputs(with > 0 ? "1" : "0", sql);
		return;
	}
	fputs("((agent, if_index) IN (", sql);
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].chosen && query->ports[i].named >> name & 1)
			fprintf(sql, "%s(unhex('%s'), %" PRIu64 ")", listed++ > 0 ? ", " : "",
			    query->ports[i].agent->id_text, query->ports[i].if_index);
	fputs("))", sql);
}

static void
put_node(FILE *sql, const struct query *query, enum store_key_kind kind, const struct filter_node *node)
{
	const struct filter *f = query->filter;
	const struct key_column column = cluster_column_of(kind, (enum filter_field)node->field);

	switch ((enum filter_op)node->op) {
	case FILTER_ALL_OF:
	case FILTER_ANY_OF:
		fputs(node->op == FILTER_ALL_OF ? "(1" : "(0", sql);
		for (uint16_t i = node->child; i > 0; i = f->nodes[i].next) {
			fputs(node->op == FILTER_ALL_OF ? " AND " : " OR ", sql);
			put_node(sql, query, kind, &f->nodes[i]);
		}
		fputs(")", sql);
		break;
	case FILTER_NOT:
		fputs("NOT ", sql);
		put_node(sql, query, kind, &f->nodes[node->child]);
		break;
	case FILTER_NAMED:
		put_named(sql, query, node->name);
		break;
	case FILTER_IN_PREFIX:
		if (*column.sql)
			put_prefix(sql, column.sql, &node->prefix);
		break;
	case FILTER_IS_GROUP:
		fprintf(sql, "(bitAnd(reinterpretAsUInt8(substring(%s, 1, 1)), 1) = 1)", *column.sql ? column.sql : "''");
		break;
	case FILTER_IN_RANGE:
		put_range(sql, kind, node);
		break;
	case FILTER_IN_GROUP: /* cluster_can_filter */
		break;
	}
}

bool
cluster_can_filter(const struct query *query, unsigned kind)
{
	size_t with, without;

	if (!query_kind_has(kind, query->filter) || (query->filter && query->filter->asks_for_groups))
		return false;
	for (uint8_t name = 0; query->filter && name < query->filter->n_names; name++) {
		count_named(query, name, &with, &without);
		if (without > 0 && with > CLUSTER_PORTS_LISTED_MAX)
			return false;
	}
	return true;
}

void
cluster_write_filter(FILE *sql, const struct query *query, unsigned kind)
{
	if (!query->filter || !(query->filter->fields & ~FILTER_PLACES) || !cluster_can_filter(query, kind))
		return;
	fputs(" AND ", sql);
	put_node(sql, query, (enum store_key_kind)kind, &query->filter->nodes[0]);
}
