/*
 * A filter as a condition on a cluster's keys, so that servers rank and send only what passes. Part of query.h.
 */
#include "collector/report/dimension.h"
#include "collector/report/query_cluster.h"

#include <inttypes.h>
#include <stdio.h>

enum { IP_PROTO_TCP = 6, ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd };

/* Where keys of a kind have a field. NULL: they have not. Numbers are in network order. */
static const char *
column_of(enum store_key_kind kind, enum filter_field field)
{
	static const struct {
		enum store_key_kind kind;
		enum filter_field field;
		const char *sql;
	} columns[] = {
		{STORE_KEY_ETH_PAIR, FILTER_SRC_MAC, "key1"},
		{STORE_KEY_ETH_PAIR, FILTER_DST_MAC, "key2"},
		{STORE_KEY_IP_PAIR, FILTER_SRC_IP, "key1"},
		{STORE_KEY_IP_PAIR, FILTER_DST_IP, "key2"},
		{STORE_KEY_VLAN, FILTER_VLAN, "key1"},
		{STORE_KEY_ETHERTYPE, FILTER_ETHERTYPE, "key1"},
		{STORE_KEY_IP_PROTO, FILTER_IP_PROTO, "key1"},
		{STORE_KEY_SERVER_PORT, FILTER_IP_PROTO, "substring(key1, 1, 1)"},
		{STORE_KEY_CONVERSATION, FILTER_SRC_IP, "substring(key1, 1, length(key1) - 3)"},
		{STORE_KEY_CONVERSATION, FILTER_DST_IP, "substring(key2, 1, length(key2) - 3)"},
		{STORE_KEY_CONVERSATION, FILTER_SRC_PORT, "substring(key1, length(key1) - 2, 2)"},
		{STORE_KEY_CONVERSATION, FILTER_DST_PORT, "substring(key2, length(key2) - 2, 2)"},
		{STORE_KEY_CONVERSATION, FILTER_IP_PROTO, "substring(key1, length(key1), 1)"},
		{STORE_KEY_CONVERSATION, FILTER_ICMP_TYPE, "substring(key2, length(key2) - 2, 1)"},
		{STORE_KEY_CONVERSATION, FILTER_ICMP_CODE, "substring(key2, length(key2) - 1, 1)"},
		{STORE_KEY_SERVER_PORT, FILTER_ICMP_TYPE, "substring(key1, 2, 1)"},
		{STORE_KEY_SERVER_PORT, FILTER_ICMP_CODE, "substring(key1, 3, 1)"},
		{STORE_KEY_SYN, FILTER_SRC_IP, "key1"},
		{STORE_KEY_SYN, FILTER_DST_IP, "substring(key2, 1, length(key2) - 2)"},
		{STORE_KEY_SYN, FILTER_DST_PORT, "substring(key2, length(key2) - 1, 2)"},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (columns[i].kind == kind && columns[i].field == field)
			return columns[i].sql;
	return NULL;
}

static void
put_hex(FILE *sql, const uint8_t *octets, size_t n)
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
	put_hex(sql, low, prefix->n_octets);
	fprintf(sql, " AND %s <= ", column);
	put_hex(sql, high, prefix->n_octets);
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
	const char *address = column_of(kind, FILTER_SRC_IP);

	if (node->field == FILTER_ETHERTYPE && address)
		fprintf(sql, "((length(%s) = 4 AND %d) OR (length(%s) = %d AND %d))", address,
		    is_in(node, ETHERTYPE_IP4), address, FRAME_IP_LEN, is_in(node, ETHERTYPE_IP6));
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
		fprintf(sql, " AND %s %s (unhex('%02x'), unhex('%02x'))", column_of(kind, FILTER_IP_PROTO),
		    is_icmp ? "IN" : "NOT IN", STORE_PROTO_ICMP, STORE_PROTO_ICMP6);
	if (is_conversation && is_icmp)
		fprintf(sql, " AND %s = unhex('%04x')", column_of(kind, FILTER_SRC_PORT), STORE_ICMP_MARK);
	if (is_conversation && is_port && node->range.low == 0)
		fprintf(sql, " AND NOT (%s = unhex('0000') AND %s = unhex('0000'))",
		    column_of(kind, FILTER_SRC_PORT), column_of(kind, FILTER_DST_PORT));
}

static void
put_range(FILE *sql, enum store_key_kind kind, const struct filter_node *node)
{
	const char *column = column_of(kind, (enum filter_field)node->field);
	bool is_octet = FILTER_BIT(node->field) & (FILTER_BIT(FILTER_IP_PROTO) | FILTER_ICMP);
	uint32_t max = is_octet ? 0xff : 0xffff;
	uint32_t high = node->range.high < max ? node->range.high : max;
	int digits = is_octet ? 2 : 4;

	if (!column) {
		put_implied(sql, kind, node);
		return;
	}
	fprintf(sql, "(%s >= unhex('%0*x') AND %s <= unhex('%0*x')", column, digits, node->range.low, column, digits,
	    high);
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
	const char *column = column_of(kind, (enum filter_field)node->field);

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
		if (column)
			put_prefix(sql, column, &node->prefix);
		break;
	case FILTER_IS_GROUP:
		fprintf(sql, "(bitAnd(reinterpretAsUInt8(substring(%s, 1, 1)), 1) = 1)", column ? column : "''");
		break;
	case FILTER_IN_RANGE:
		put_range(sql, kind, node);
		break;
	}
}

bool
cluster_can_filter(const struct query *query, unsigned kind)
{
	size_t with, without;

	if (!query_kind_has(kind, query->filter))
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
