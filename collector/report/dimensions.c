#include "collector/report/dimensions.h"

#include "collector/filter/address_names.h"
#include "collector/filter/icmp_names.h"
#include "collector/filter/protocol_names.h"
#include "collector/query/query_private.h"
#include "collector/report/result.h"

#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

#define RANK {"rank", "RANK", REPORT_RANK}
#define TAIL TAIL_OF("pps", "bit/s")
#define TAIL_OF(pkts, octets)                                                                      \
	{"site", "SITE", REPORT_TEXT}, /* known if there is one only, as the next two are */       \
	{"agent", "AGENT", REPORT_TEXT},                                                           \
	{"port", NULL, REPORT_TEXT},                                                               \
	{"ports", NULL, REPORT_COUNT},                                                             \
	{NULL, "PORT", REPORT_TEXT},                                                               \
	{"packets", pkts, REPORT_PKTS},                                                            \
	{"octets", octets, REPORT_OCTETS},                                                         \
	{"share", "SHARE", REPORT_SHARE},                                                          \
	{"samples", "SAMPLES", REPORT_COUNT},                                                      \
	{"uncounted_samples", "NO COUNTERS", REPORT_COUNT} /* of these, of ports without counters */

#define LAYOUT(name, ...) LAYOUT_WITH(name, __VA_ARGS__, TAIL)
#define LAYOUT_WITH(name, ...)                                                                     \
	static const struct report_column name##_columns[] = {RANK, __VA_ARGS__};                  \
	static const struct dimension_layout name = {name##_columns, ARRAY_LEN(name##_columns)}

LAYOUT(addresses, {NULL, "SOURCE", REPORT_TEXT}, {NULL, "DESTINATION", REPORT_TEXT},
    {"src", NULL, REPORT_TEXT}, {"src_name", NULL, REPORT_TEXT}, {"dst", NULL, REPORT_TEXT},
    {"dst_name", NULL, REPORT_TEXT});
LAYOUT(subnets, {NULL, "SUBNET", REPORT_TEXT}, {"subnet", NULL, REPORT_TEXT},
    {"name", NULL, REPORT_TEXT});
LAYOUT(vlans, {NULL, "VLAN", REPORT_TEXT}, {"vlan", NULL, REPORT_ID}, {"name", NULL, REPORT_TEXT});
LAYOUT(vnis, {"vni", "VNI", REPORT_ID});
LAYOUT(ethertypes, {"ethertype", "ETHERTYPE", REPORT_TEXT}, {"name", "NAME", REPORT_TEXT});
LAYOUT(protocols, {"protocol", "PROTOCOL", REPORT_ID}, {"name", "NAME", REPORT_TEXT});
LAYOUT(services, {NULL, "SERVICE", REPORT_TEXT}, {"protocol", NULL, REPORT_ID},
    {"server_port", NULL, REPORT_ID}, {"name", "NAME", REPORT_TEXT}, {"icmp_type", NULL, REPORT_ID},
    {"icmp_code", NULL, REPORT_ID});
LAYOUT(conversations, {NULL, "SOURCE", REPORT_TEXT}, {NULL, "DESTINATION", REPORT_TEXT},
    {"name", "PROTOCOL", REPORT_TEXT}, {"src", NULL, REPORT_TEXT}, {"src_name", NULL, REPORT_TEXT},
    {"src_port", NULL, REPORT_ID}, {"dst", NULL, REPORT_TEXT}, {"dst_name", NULL, REPORT_TEXT},
    {"dst_port", NULL, REPORT_ID}, {"protocol", NULL, REPORT_ID}, {"icmp_type", NULL, REPORT_ID},
    {"icmp_code", NULL, REPORT_ID});
LAYOUT_WITH(servers, {NULL, "SERVER", REPORT_TEXT}, {"dst", NULL, REPORT_TEXT},
    {"dst_name", NULL, REPORT_TEXT}, {"dst_port", NULL, REPORT_ID}, {"name", "NAME", REPORT_TEXT},
    TAIL_OF("SYN/s", NULL));
LAYOUT_WITH(clients, {NULL, "SOURCE", REPORT_TEXT}, {"src", NULL, REPORT_TEXT},
    {"src_name", NULL, REPORT_TEXT}, TAIL_OF("SYN/s", NULL));

/* ---- how keys read ---- */

enum { LINE = 96, IP_PROTO_TCP = 6 };

static unsigned
read_be16(const uint8_t *octets)
{
	return (unsigned)octets[0] << 8 | octets[1];
}

/* Key and name together, for people. */
static struct report_value
with_name(const char *key, const char *name)
{
	char text[LINE + ADDRESS_NAME_ROOM];

	snprintf(text, sizeof(text), *name ? "%s %s" : "%s", key, name);
	return cell_text(text);
}

/* Both together for people; for programs address and name in a cell each. */
static void
dimensions_fill_address(const struct report_options *options, size_t n_octets, const uint8_t *octets,
    struct report_value *both, struct report_value *alone)
{
	char text[FRAME_IP_TEXT], name[ADDRESS_NAME_ROOM];

	result_format_address(n_octets, octets, text);
	address_names_of_address(options->names, n_octets, octets, name);
	*both = with_name(text, name);
	alone[0] = cell_text(text);
	alone[1] = cell_text(name);
}

static void
fill_src(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	dimensions_fill_address(options, key->n_octets, key->key1, &row[1], &row[3]);
}

static void
fill_dst(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	dimensions_fill_address(options, key->n_octets, key->key2, &row[2], &row[5]);
}

static void
dimensions_fill_pair(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	fill_src(options, key, row);
	fill_dst(options, key, row);
}

static void
fill_subnet(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	unsigned bits = report_mask_bits(options, key->n_octets);
	char text[LINE], name[ADDRESS_NAME_ROOM];
	size_t len;

	result_format_address(key->n_octets, key->key1, text);
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, "/%u", bits);
	address_names_of_prefix(options->names, key->n_octets, key->key1, bits, name);
	row[1] = with_name(text, name);
	row[2] = cell_text(text);
	row[3] = cell_text(name);
}

/* In the columns of an address. */
static void
dimensions_fill_group(const struct report_options *options, enum address_group group, const uint8_t *octets,
    struct report_value *both, struct report_value *alone)
{
	uint32_t number = (uint32_t)read_be16(octets) << 16 | read_be16(octets + 2);
	char text[ADDRESS_NAME_ROOM], name[ADDRESS_NAME_ROOM];

	address_names_of_group(options->names, group, number, text, name);
	*both = with_name(text, name);
	alone[0] = cell_text(text);
	alone[1] = cell_text(name);
}

static void
fill_groups(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	const struct dimension *d = dimension_find(options);

	if (d->key1)
		dimensions_fill_group(options, d->group, key->key1, &row[1], &row[3]);
	if (d->key2)
		dimensions_fill_group(options, d->group, key->key2, &row[2], &row[5]);
}

static void
dimensions_fill_vlan(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	unsigned vlan = read_be16(key->key1);
	char text[LINE], name[ADDRESS_NAME_ROOM];

	snprintf(text, sizeof(text), "%u", vlan);
	address_names_of_vlan(options->names, vlan, name);
	row[1] = with_name(text, name);
	row[2] = cell_number(vlan);
	row[3] = cell_text(name);
}

static void
fill_vni(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	(void)options;
	row[1] = cell_number((unsigned)key->key1[0] << 16 | read_be16(key->key1 + 1));
}

static void
fill_ethertype(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	char text[LINE];

	(void)options;
	snprintf(text, sizeof(text), "0x%04x", read_be16(key->key1));
	if (read_be16(key->key1) > 0) /* else a length of IEEE 802.3, 3.2.6: no type */
		row[1] = cell_text(text);
	row[2] = cell_text(protocol_names_ethertype((uint16_t)read_be16(key->key1)));
}

static void
fill_protocol(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	(void)options;
	row[1] = cell_number(key->key1[0]);
	row[2] = cell_text(protocol_names_ip_proto(key->key1[0]));
}

/* "tcp/443", or "132/5000" where the protocol has no name here. */
static void
format_service(uint8_t ip_proto, unsigned port, char *text, size_t size)
{
	const char *name = protocol_names_ip_proto(ip_proto);

	if (*name)
		snprintf(text, size, "%s/%u", name, port);
	else
		snprintf(text, size, "%u/%u", ip_proto, port);
}

/* Type and code for programs, and their name. */
static void
fill_icmp(uint8_t ip_proto, const uint8_t *message, struct report_value *numbers, char *name, size_t size)
{
	numbers[0] = cell_number(message[0]);
	numbers[1] = cell_number(message[1]);
	icmp_names_message(ip_proto, message[0], message[1], name, size);
}

/* "icmp/3.1 unreachable host" */
static void
fill_icmp_service(uint8_t ip_proto, const uint8_t *message, struct report_value *row)
{
	char text[LINE];

	fill_icmp(ip_proto, message, &row[5], text, sizeof(text));
	row[4] = cell_text(text);
	snprintf(text, sizeof(text), "%s/%u.%u", protocol_names_ip_proto(ip_proto), message[0], message[1]);
	row[1] = cell_text(text);
	row[2] = cell_number(ip_proto);
}

static void
fill_service(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	unsigned port = read_be16(key->key1 + 1);
	char text[LINE];

	(void)options;
	if (store_is_icmp(key->key1[0])) {
		fill_icmp_service(key->key1[0], key->key1 + 1, row);
		return;
	}
	format_service(key->key1[0], port, text, sizeof(text));
	row[1] = cell_text(text);
	row[2] = cell_number(key->key1[0]);
	row[3] = cell_number(port);
	protocol_names_service(key->key1[0], (uint16_t)port, text, sizeof(text));
	row[4] = cell_text(text);
}

/* Of both halves, of which a key of the dimension may have one, and none that is too short. */
static struct key_fields
fields_of(size_t index, const struct query_key *key)
{
	const struct key_reader r = key_reader_of(key_layouts[index].kind);
	struct key_fields fields = {0};

	key_read_half(&r, 1, key->key1, key->n_octets, &fields);
	key_read_half(&r, 2, key->key2, key->n_octets, &fields);
	return fields;
}

/* 10.0.0.1:443, [2001:db8::1]:443; without a port (0: ICMP, fragments) the address alone. Fills the
 * text, and from `alone` on address, name and port. */
static void
fill_endpoint(const struct report_options *options, const struct key_fields *key, enum key_field field, unsigned port,
    struct report_value *both, struct report_value *alone)
{
	static const uint8_t none[FRAME_IP_LEN];
	const uint8_t *octets = key->of[field].octets ? key->of[field].octets : none;
	size_t n_octets = key->of[field].n;
	char address[FRAME_IP_TEXT], text[LINE], name[ADDRESS_NAME_ROOM];

	result_format_address(n_octets, octets, address);
	if (port == 0)
		snprintf(text, sizeof(text), "%s", address);
	else
		snprintf(text, sizeof(text), n_octets == 4 ? "%s:%u" : "[%s]:%u", address, port);
	address_names_of_address(options->names, n_octets, octets, name);
	*both = with_name(text, name);
	alone[0] = cell_text(address);
	alone[1] = cell_text(name);
	alone[2] = cell_number(port);
}

static void
fill_conversation(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	const struct key_fields f = fields_of(KIND_CONVERSATION, key);
	uint8_t ip_proto = (uint8_t)key_number(&f, KEY_IP_PROTO);
	unsigned port1 = key_number(&f, KEY_SRC_PORT), port2 = key_number(&f, KEY_DST_PORT);
	bool is_icmp = store_is_icmp(ip_proto);
	const char *name = protocol_names_ip_proto(ip_proto);
	char text[LINE], message[LINE];

	fill_endpoint(options, &f, KEY_SRC_IP, is_icmp ? 0 : port1, &row[1], &row[4]);
	fill_endpoint(options, &f, KEY_DST_IP, is_icmp ? 0 : port2, &row[2], &row[7]);
	snprintf(text, sizeof(text), "%u", ip_proto);
	if (*name)
		snprintf(text, sizeof(text), "%s", name);
	if (is_icmp && port1 > 0) { /* else a fragment, or kept by an earlier version */
		fill_icmp(ip_proto, f.of[KEY_DST_PORT].octets, &row[11], message, sizeof(message));
		snprintf(text, sizeof(text), "%s %.*s", name, LINE / 2, message);
	}
	row[3] = cell_text(text);
	row[10] = cell_number(ip_proto);
}

static void
fill_server(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	const struct key_fields f = fields_of(KIND_SYN, key);
	char text[LINE];

	fill_endpoint(options, &f, KEY_DST_IP, key_number(&f, KEY_DST_PORT), &row[1], &row[2]);
	protocol_names_service(IP_PROTO_TCP, (uint16_t)key_number(&f, KEY_DST_PORT), text, sizeof(text));
	row[5] = cell_text(text);
}

static void
fill_client(const struct report_options *options, const struct query_key *key, struct report_value *row)
{
	dimensions_fill_address(options, key->n_octets, key->key1, &row[1], &row[2]);
}

/* ---- the dimensions ---- */

static const struct key_layout vni_alone = {.halves = {{KEY_VNI}}};
static const struct key_layout stated_as = {.halves = {{KEY_SRC_AS}, {KEY_DST_AS}}};
static const struct key_layout inner_pair = {.halves = {{KEY_INNER_SRC_IP}, {KEY_INNER_DST_IP}}};

#define KEY(index) .key = &key_layouts[index]
#define HALVES(k1, k2) .key1 = k1, .key2 = k2
#define REST(without) .rest = without, .rest_or_folded = without ", or memory full"
#define ETH(b, k1, k2, f, u)                                                                       \
	{.by = b, .layer = REPORT_LAYER_ETH, .has_layer = true, KEY(KIND_ETH_PAIR), HALVES(k1, k2), \
	 .layout = &addresses, .has_two = true, .fill = f, u, REST("without MAC address")}
#define IP(b, k1, k2, f, u)                                                                        \
	{.by = b, .layer = REPORT_LAYER_IP, .has_layer = true, KEY(KIND_IP_PAIR), HALVES(k1, k2),   \
	 .layout = &addresses, .has_two = true, .fill = f, u, REST("without IP")}
#define INNER(b, k1, k2, f, u)                                                                     \
	{.by = b, .layer = REPORT_LAYER_INNER, .has_layer = true, .key = &inner_pair,              \
	 HALVES(k1, k2), .layout = &addresses, .has_two = true, .fill = f, u, .rest = "not in a tunnel", \
	 .rest_or_folded = "not in a tunnel"}
#define GROUP(b, k, folded, of, k1, k2, what, did, without)                                        \
	{.by = b, .key = k, HALVES(k1, k2), .fold = folded, .group = of, .layout = &addresses, .has_two = true, \
	 .fill = fill_groups, .noun = what, .unseen = what " without a sample " did, REST(without)}
#define GROUPS_OF(k, folded, src, dst, pair, of, what, without)                                    \
	GROUP(src, k, folded, of, true, false, what, "sent", without),                             \
	    GROUP(dst, k, folded, of, false, true, what, "received", without),                     \
	    GROUP(pair, k, folded, of, true, true, "pair of " what "s", "carried", without)
#define GROUPS(...) GROUPS_OF(&key_layouts[KIND_IP_PAIR], FOLD_GROUP, __VA_ARGS__)
#define SYN(b, k1, k2, l, f, ...)                                                                  \
	{.by = b, .layer = REPORT_LAYER_SYN, .has_layer = true, KEY(KIND_SYN), HALVES(k1, k2),      \
	 .layout = l, .fill = f, __VA_ARGS__, REST("other frames")}
#define ALONE(b, k, l, f, what, without)                                                           \
	{.by = b, KEY(k), .key1 = true, .layout = l, .fill = f, .noun = what,                      \
	 .unseen = what " without a sample carried", REST(without)}

#define NO_SOURCE .noun = "source", .unseen = "source without a sample sent"
#define NO_DESTINATION                                                                             \
	.noun = "destination", .unseen = "destination without a sample received"
#define NO_PAIR .noun = "pair", .unseen = "pair without a sample carried"

static const struct dimension dimensions[] = {
	ETH(REPORT_BY_SRC, true, false, fill_src, NO_SOURCE),
	ETH(REPORT_BY_DST, false, true, fill_dst, NO_DESTINATION),
	ETH(REPORT_BY_PAIR, true, true, dimensions_fill_pair, NO_PAIR),
	IP(REPORT_BY_SRC, true, false, fill_src, NO_SOURCE),
	IP(REPORT_BY_DST, false, true, fill_dst, NO_DESTINATION),
	IP(REPORT_BY_PAIR, true, true, dimensions_fill_pair, NO_PAIR),
	INNER(REPORT_BY_SRC, true, false, fill_src, NO_SOURCE),
	INNER(REPORT_BY_DST, false, true, fill_dst, NO_DESTINATION),
	INNER(REPORT_BY_PAIR, true, true, dimensions_fill_pair, NO_PAIR),
	{.by = REPORT_BY_SUBNET, KEY(KIND_IP_PAIR), .key1 = true, .fold = FOLD_SUBNET, .layout = &subnets, .fill = fill_subnet,
	 .noun = "subnet", .unseen = "subnet without a sample sent", REST("without IP")},
	ALONE(REPORT_BY_VLAN, KIND_VLAN, &vlans, dimensions_fill_vlan, "VLAN", "untagged"),
	{.by = REPORT_BY_VNI, .key = &vni_alone, .key1 = true, .layout = &vnis, .fill = fill_vni, .noun = "VNI",
	 .unseen = "VNI without a sample carried", REST("without a VNI")},
	ALONE(REPORT_BY_ETHERTYPE, KIND_ETHERTYPE, &ethertypes, fill_ethertype, "ethertype", "header cut off"),
	ALONE(REPORT_BY_PROTO, KIND_IP_PROTO, &protocols, fill_protocol, "protocol", "without IP"),
	ALONE(REPORT_BY_SERVICE, KIND_SERVER_PORT, &services, fill_service, "service", "without ports"),
	GROUPS(REPORT_BY_NETWORK, REPORT_BY_DST_NETWORK, REPORT_BY_NETWORK_PAIR, ADDRESS_NETWORK, "network",
	    "in no named network, or without IP"),
	GROUPS_OF(&stated_as, FOLD_NOTHING, REPORT_BY_AS, REPORT_BY_DST_AS, REPORT_BY_AS_PAIR, ADDRESS_AS, "AS number",
	    "without a stated AS number"),
	GROUPS(REPORT_BY_AS, REPORT_BY_DST_AS, REPORT_BY_AS_PAIR, ADDRESS_AS, "AS number", "in no known AS, or without IP"),
	GROUPS(REPORT_BY_COUNTRY, REPORT_BY_DST_COUNTRY, REPORT_BY_COUNTRY_PAIR, ADDRESS_COUNTRY, "country code",
	    "in no known country, or without IP"),
	{.by = REPORT_BY_CONVERSATION, KEY(KIND_CONVERSATION), HALVES(true, true), .layout = &conversations,
	 .fill = fill_conversation, .noun = "conversation", .unseen = "conversation without a sample carried",
	 REST("without IP")},
	SYN(REPORT_BY_SERVER, false, true, &servers, fill_server,
	    .noun = "server", .unseen = "server without a sample was asked for connections by"),
	SYN(REPORT_BY_SRC, true, false, &clients, fill_client,
	    .noun = "source", .unseen = "source without a sample asked for connections with"),
};

const struct dimension *
dimension_find(const struct report_options *options)
{
	for (size_t i = 0; i < ARRAY_LEN(dimensions); i++)
		if (dimensions[i].by == options->by &&
		    (!dimensions[i].has_layer || dimensions[i].layer == options->layer) &&
		    (dimensions[i].key != &stated_as || !address_names_has_groups(options->names, ADDRESS_AS)))
			return &dimensions[i];
	return NULL;
}

/* Whether the filter lets no frame pass of which there is no conversation: without an IP protocol. */
static bool
is_of_conversations(const struct filter *filter)
{
	struct filter_subject subject = {0};

	filter_set_absent(&subject, FILTER_BIT(FILTER_IP_PROTO) | FILTER_PORTS | FILTER_ICMP);
	return filter_judge(filter, &subject) == FILTER_NO;
}

/* In a conversation's key two ports of 0 are none. */
static bool
asks_for_port_0(const struct filter *filter)
{
	for (size_t i = 0; i < filter->n_nodes; i++)
		if (filter->nodes[i].op == FILTER_IN_RANGE && filter->nodes[i].range.low == 0 &&
		    FILTER_BIT(filter->nodes[i].field) & FILTER_PORTS)
			return true;
	return false;
}

static bool
conversations_tell(const struct key_layout *key, const struct filter *filter)
{
	bool has_all = key->kind == STORE_KEY_IP_PROTO || key->kind == STORE_KEY_SERVER_PORT;

	if (!query_kind_has(STORE_KEY_CONVERSATION, filter) || asks_for_port_0(filter))
		return false;
	return has_all || (key->kind == STORE_KEY_IP_PAIR && is_of_conversations(filter));
}

/* Of samples of one notification all are taken to be of one subnet or group, which makes limits wider under loss than they need
 * to be. */
static enum pack_column
pairs_of_samples(const struct dimension *d)
{
	if (d->fold != FOLD_NOTHING)
		return PACK_ANY_PKTS;
	return !d->key->is_pair || (d->key1 && d->key2) ? PACK_SAME_PKTS : d->key1 ? PACK_SAME1_PKTS : PACK_SAME2_PKTS;
}

struct dimension
dimension_for(const struct dimension *d, const struct filter *filter)
{
	struct dimension answer = *d;

	if (d->key->kind != 0 && query_kind_has(d->key->kind, filter)) {
		answer.kind = d->key->kind;
		answer.same = pairs_of_samples(d);
		for (size_t i = 0; d->key1 != d->key2 && i < KEY_N_SINGLES; i++)
			if (key_singles[i].of == answer.kind && key_singles[i].half == (d->key1 ? 1 : 2))
				answer.single = key_singles[i].kind;
	} else if (d->key->kind != 0 && conversations_tell(d->key, filter)) {
		answer.kind = STORE_KEY_CONVERSATION;
		answer.from_conversations = true;
		answer.same = PACK_ANY_PKTS; /* as of subnets */
	}
	return answer;
}
