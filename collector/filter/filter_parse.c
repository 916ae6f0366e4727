/*
 * Reads filters: recursive descent over the words of filter_lexer.h. Part of filter.h.
 *
 *     any    = all { "or" all }              without parentheses either "or" or "and", not both
 *     term   = "not" term | "(" any ")" | [qualifiers] value | [qualifiers] "[" values "]" | protocol | …
 *
 * As with tcpdump, a value alone has the qualifiers of the term before it: "port 80 or 443".
 */
#include "collector/filter/filter.h"
#include "collector/filter/filter_lexer.h"
#include "collector/filter/icmp_names.h"
#include "collector/filter/protocol_names.h"
#include "common/utf8.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum direction { EITHER, SRC, DST, BOTH };

enum layer { ANY_LAYER, ETHER, IP4, IP6, OVER_IP };

enum type { NO_TYPE, HOST, NET, PORT, PROTO, MAC, VLAN, VNI, ICMP_TYPE, ICMP_CODE, OCTETS, LENGTH, LESS, GREATER, AGENT,
	IF, SITE, BROADCAST, MULTICAST, NETWORK, AS, COUNTRY, EVERYTHING };

struct qualifiers {
	enum direction direction;
	enum layer layer;
	uint8_t ip_proto; /* OVER_IP: of this protocol */
	bool inner;
	enum type type;
};

enum { TOKEN_TEXT = 256, ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd, LENGTH_MAX = 1500, VNI_MOST = (1 << 24) - 1,
	NUMBER_MAX = 0x7fffffff };

struct parser {
	struct filter *filter;
	struct token token; /* the one to be read */
	struct qualifiers last;
	bool has_last;
	unsigned depth;
	char *error; /* FILTER_ERROR_TEXT; not empty: reading has failed */
};

static const struct {
	const char *word;
	enum type type;
} types[] = {
	{"host", HOST}, {"net", NET}, {"port", PORT}, {"portrange", PORT}, {"proto", PROTO}, {"mac", MAC},
	{"vlan", VLAN}, {"vni", VNI}, {"octets", OCTETS}, {"bytes", OCTETS}, {"len", LENGTH}, {"less", LESS}, {"greater", GREATER},
	{"icmp-type", ICMP_TYPE}, {"icmp-code", ICMP_CODE}, {"agent", AGENT}, {"if", IF}, {"site", SITE}, {"broadcast", BROADCAST}, {"multicast", MULTICAST},
	{"network", NETWORK}, {"as", AS}, {"country", COUNTRY}, {"any", EVERYTHING},
};

/* Names that other filters have for protocols, beside those of protocol_names.h. */
static const struct {
	const char *word;
	int32_t ip_proto, ethertype;
} aliases[] = {
	{"ipv4", -1, ETHERTYPE_IP4}, {"inet", -1, ETHERTYPE_IP4}, {"ip6", -1, ETHERTYPE_IP6},
	{"inet6", -1, ETHERTYPE_IP6}, {"rarp", -1, 0x8035}, {"icmpv6", 58, -1}, {"pppoed", -1, 0x8863},
	{"pppoes", -1, 0x8864},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]), N_ALIASES = sizeof(aliases) / sizeof(aliases[0]) };

#define EXPECTED_TERM "a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address"

/* ---- mistakes ---- */

static bool
has_failed(const struct parser *p)
{
	return *p->error != '\0';
}

/* Only the first mistake counts. Returns 0, which is no node. */
static uint16_t
refuse_token(struct parser *p, const struct token *token, const char *expected)
{
	char got[64], shown[48];
	int octets = token->octets < sizeof(got) ? (int)token->octets : (int)sizeof(got) - 1;

	if (has_failed(p))
		return 0;
	snprintf(got, sizeof(got), "%.*s", octets, token->at);
	utf8_printable(got, shown, sizeof(shown));
	if (token->kind == TOKEN_END)
		snprintf(p->error, FILTER_ERROR_TEXT, "column %u: expected %.120s, not the end", token->column, expected);
	else
		snprintf(p->error, FILTER_ERROR_TEXT, "column %u: expected %.120s, not \"%s\"", token->column, expected,
		    shown);
	return 0;
}

static uint16_t
refuse_size(struct parser *p, const struct token *token, const char *what, int most)
{
	if (!has_failed(p))
		snprintf(p->error, FILTER_ERROR_TEXT, "column %u: expected at most %d %s", token->column, most, what);
	return 0;
}

static struct token
take_token(struct parser *p)
{
	struct token taken = p->token;

	p->token = filter_next_token(&taken);
	return taken;
}

static bool
take_kind(struct parser *p, enum token_kind kind)
{
	if (p->token.kind != kind)
		return false;
	take_token(p);
	return true;
}

/* ---- nodes ---- */

static uint16_t
new_node(struct parser *p, struct filter_node node, const struct token *at)
{
	struct filter *f = p->filter;

	if (has_failed(p))
		return 0;
	if (f->n_nodes == FILTER_NODES_MAX)
		return refuse_size(p, at, "terms, of which one for both directions counts three times", FILTER_NODES_MAX);
	node.column = at->column;
	f->nodes[f->n_nodes] = node;
	return f->n_nodes++;
}

/* A list of nodes under way. */
struct parts {
	uint16_t first, last, n;
};

static void
filter_add_part(struct parser *p, struct parts *parts, uint16_t node)
{
	if (node == 0)
		return;
	if (parts->n++ == 0)
		parts->first = node;
	else
		p->filter->nodes[parts->last].next = node;
	parts->last = node;
}

/* One part stands for itself. */
static uint16_t
join_parts(struct parser *p, enum filter_op op, const struct parts *parts, const struct token *at)
{
	return parts->n == 1 ? parts->first
			     : new_node(p, (struct filter_node){.op = (uint8_t)op, .child = parts->first}, at);
}

static uint16_t
join_two(struct parser *p, enum filter_op op, uint16_t a, uint16_t b, const struct token *at)
{
	struct parts parts = {0};

	filter_add_part(p, &parts, a);
	filter_add_part(p, &parts, b);
	return join_parts(p, op, &parts, at);
}

static struct filter_node
range_node(enum filter_field field, uint32_t low, uint32_t high)
{
	return (struct filter_node){.op = FILTER_IN_RANGE, .field = (uint8_t)field, .range = {low, high}};
}

/* The term for a source, a destination, either or both. */
static uint16_t
directed_term(struct parser *p, const struct qualifiers *q, struct filter_node node, enum filter_field src,
    enum filter_field dst, const struct token *at)
{
	uint16_t first = 0, second = 0;

	if (q->direction != DST) {
		node.field = (uint8_t)src;
		first = new_node(p, node, at);
	}
	if (q->direction != SRC) {
		node.field = (uint8_t)dst;
		second = new_node(p, node, at);
	}
	return join_two(p, q->direction == BOTH ? FILTER_ALL_OF : FILTER_ANY_OF, first, second, at);
}

/* The term, and that the frame is of the layer before it: "ip6 host", "tcp port". */
static uint16_t
filter_of_layer(struct parser *p, const struct qualifiers *q, uint16_t node, const struct token *at)
{
	struct filter_node layer = q->layer == OVER_IP ? range_node(FILTER_IP_PROTO, q->ip_proto, q->ip_proto)
	    : q->layer == IP4 ? range_node(FILTER_ETHERTYPE, ETHERTYPE_IP4, ETHERTYPE_IP4)
			      : range_node(FILTER_ETHERTYPE, ETHERTYPE_IP6, ETHERTYPE_IP6);

	if (q->layer == ANY_LAYER || q->layer == ETHER)
		return node;
	return join_two(p, FILTER_ALL_OF, new_node(p, layer, at), node, at);
}

/* ---- numbers ---- */

/* Digits, hexadecimal ones, or with k, M. False if the text is no such number up to max. */
static bool
filter_read_number(const char *text, size_t octets, uint32_t max, uint32_t *number)
{
	char copy[24], *end;
	unsigned long long value;

	if (octets == 0 || octets >= sizeof(copy) || !isdigit((unsigned char)*text))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)octets, text);
	value = strtoull(copy, &end, strncmp(copy, "0x", 2) == 0 ? 16 : 10);
	if (value > max)
		return false;
	if ((*end == 'k' || *end == 'M') && max == NUMBER_MAX)
		value *= *end++ == 'k' ? 1000 : 1000000;
	*number = (uint32_t)value;
	return *end == '\0' && value <= max;
}

static bool
read_range(const struct token *token, uint32_t max, uint32_t *low, uint32_t *high)
{
	const char *dash = memchr(token->at, '-', token->octets);
	size_t octets = dash ? (size_t)(dash - token->at) : token->octets;

	if (token->kind != TOKEN_WORD || !filter_read_number(token->at, octets, max, low))
		return false;
	*high = *low;
	return !dash || (filter_read_number(dash + 1, token->octets - octets - 1, max, high) && *low <= *high);
}

/* What may stand before a number, and the range that the number then ends. */
static bool
range_of_number(enum token_kind comparison, uint32_t max, uint32_t *low, uint32_t *high)
{
	uint32_t number = *low;

	switch (comparison) {
	case TOKEN_LESS:
	case TOKEN_AT_MOST:
		*low = 0;
		*high = comparison == TOKEN_LESS ? number - 1 : number;
		return comparison != TOKEN_LESS || number > 0;
	case TOKEN_GREATER:
	case TOKEN_AT_LEAST:
		*low = comparison == TOKEN_GREATER ? number + 1 : number;
		*high = max;
		return *low <= max;
	default:
		return true;
	}
}

/* A number, two with a dash between them, or one behind a comparison; a port also by its name. */
static bool
take_range(struct parser *p, uint32_t max, const char *expected, uint32_t *low, uint32_t *high)
{
	enum token_kind comparison = p->token.kind;
	bool compares = comparison >= TOKEN_EQUAL && comparison <= TOKEN_AT_LEAST;
	char name[TOKEN_TEXT];
	uint16_t port;

	if (comparison == TOKEN_NOT_EQUAL) {
		refuse_token(p, &p->token, "=, <, >, <= or >= (and \"not\" before the term)");
		return false;
	}
	if (compares)
		take_token(p);
	if (read_range(&p->token, max, low, high) && (!compares || *low == *high) &&
	    range_of_number(comparison, max, low, high)) {
		take_token(p);
		return true;
	}
	if (max == 65535 && p->token.kind == TOKEN_WORD && filter_token_text(&p->token, name, sizeof(name)) &&
	    protocol_names_find_service(name, &port) == 0) {
		*low = *high = port;
		take_token(p);
		return range_of_number(comparison, max, low, high);
	}
	refuse_token(p, &p->token, expected);
	return false;
}

static uint16_t
filter_parse_port(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	uint32_t low, high;

	if (!take_range(p, 65535, "a port (0 to 65535, two with a dash, or a service's name)", &low, &high))
		return 0;
	return filter_of_layer(p, q, directed_term(p, q, range_node(FILTER_SRC_PORT, low, high), FILTER_SRC_PORT, FILTER_DST_PORT,
	    at), at);
}

/* A tag, and of which VLAN. */
static uint16_t
parse_vlan(struct parser *p, const struct token *at)
{
	uint32_t low = 0, high = 4095;

	if ((p->token.kind == TOKEN_WORD || (p->token.kind >= TOKEN_EQUAL && p->token.kind <= TOKEN_AT_LEAST)) &&
	    !take_range(p, 4095, "a VLAN (0 to 4095)", &low, &high))
		return 0;
	return new_node(p, range_node(FILTER_VLAN, low, high), at);
}

/* The same of VXLAN and GENEVE. */
static uint16_t
parse_vni(struct parser *p, const struct token *at)
{
	uint32_t low = 0, high = VNI_MOST;

	if ((p->token.kind == TOKEN_WORD || (p->token.kind >= TOKEN_EQUAL && p->token.kind <= TOKEN_AT_LEAST)) &&
	    !take_range(p, VNI_MOST, "a VNI (0 to 16777215)", &low, &high))
		return 0;
	return new_node(p, range_node(FILTER_VNI, low, high), at);
}

/* A capture has lengths without FCS, and the smallest frame has 60 octets of it. */
static uint16_t
parse_octets(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	uint32_t low, high;
	bool is_length = q->type != OCTETS;

	if (!take_range(p, NUMBER_MAX, "a number of octets", &low, &high))
		return 0;
	if (q->type == LESS)
		low = 0;
	if (q->type == GREATER)
		high = NUMBER_MAX;
	if (is_length && low > 0)
		low += FRAME_FCS_OCTETS;
	if (is_length && high < NUMBER_MAX)
		high += FRAME_FCS_OCTETS;
	return new_node(p, range_node(FILTER_OCTETS, low, high), at);
}

/* ---- protocols ---- */

static bool
find_protocol(const struct token *token, int32_t *ip_proto, int32_t *ethertype)
{
	char name[TOKEN_TEXT];
	struct token word = *token;

	if (word.kind != TOKEN_WORD)
		return false;
	if (*word.at == '\\') { /* as tcpdump needs it for names that are words of its language */
		word.at++;
		word.octets--;
	}
	*ip_proto = *ethertype = -1;
	for (size_t i = 0; i < N_ALIASES; i++)
		if (filter_token_is(&word, aliases[i].word)) {
			*ip_proto = aliases[i].ip_proto;
			*ethertype = aliases[i].ethertype;
			return true;
		}
	return filter_token_text(&word, name, sizeof(name)) &&
	    protocol_names_find_proto(name, ip_proto, ethertype) == 0;
}

static uint16_t
protocol_node(struct parser *p, int32_t ip_proto, int32_t ethertype, const struct token *at)
{
	struct filter_node node = ethertype >= 0
	    ? range_node(FILTER_ETHERTYPE, (uint32_t)ethertype, (uint32_t)ethertype)
	    : range_node(FILTER_IP_PROTO, (uint32_t)ip_proto, (uint32_t)ip_proto);

	return new_node(p, node, at);
}

/* Of both families, by a number; by its name of the one that has it. */
static uint16_t
filter_parse_icmp(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	enum filter_field field = q->type == ICMP_TYPE ? FILTER_ICMP_TYPE : FILTER_ICMP_CODE;
	uint8_t ip_proto, type;
	char name[TOKEN_TEXT];
	uint32_t low, high;

	if (q->type == ICMP_TYPE && p->token.kind == TOKEN_WORD && filter_token_text(&p->token, name, sizeof(name)) &&
	    icmp_names_find_type(name, &ip_proto, &type) == 0) {
		uint16_t family = protocol_node(p, ip_proto, -1, at);

		take_token(p);
		return join_two(p, FILTER_ALL_OF, family, new_node(p, range_node(field, type, type), at), at);
	}
	if (!take_range(p, 255, q->type == ICMP_TYPE ? "a type of ICMP (0 to 255, icmp-echo, icmp6-echo, …)"
						     : "a code of ICMP (0 to 255)", &low, &high))
		return 0;
	return new_node(p, range_node(field, low, high), at);
}

static uint16_t
parse_proto(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	bool is_ether = q->layer == ETHER, is_ip = q->layer == IP4 || q->layer == IP6;
	int32_t ip_proto, ethertype;
	uint32_t low, high;

	if (find_protocol(&p->token, &ip_proto, &ethertype)) {
		if (is_ether ? ethertype < 0 : is_ip && ip_proto < 0)
			return refuse_token(p, &p->token, is_ether ? "an ethertype" : "an IP protocol");
		take_token(p);
		return filter_of_layer(p, q, protocol_node(p, ip_proto, ethertype, at), at);
	}
	if (!is_ip && read_range(&p->token, 65535, &low, &high) && low > LENGTH_MAX) {
		take_token(p);
		return new_node(p, range_node(FILTER_ETHERTYPE, low, high), at);
	}
	if (is_ether)
		return refuse_token(p, &p->token, "an ethertype (0x0800, arp, …)");
	if (!take_range(p, 255, is_ip ? "an IP protocol (a name, or 0 to 255)"
				      : "a protocol (a name, 0 to 255, or an ethertype such as 0x0800)", &low, &high))
		return 0;
	return filter_of_layer(p, q, new_node(p, range_node(FILTER_IP_PROTO, low, high), at), at);
}

/* ---- addresses ---- */

/* "10", "10.20" or "10.20.30" as a network, as tcpdump has it. */
static bool
read_short_net(const char *text, struct filter_prefix *prefix)
{
	uint32_t part;
	uint8_t n = 0;

	*prefix = (struct filter_prefix){.n_octets = 4};
	for (const char *at = text; n < 3; at++) {
		size_t digits = strspn(at, "0123456789");

		if (!filter_read_number(at, digits, 255, &part))
			return false;
		prefix->octets[n++] = (uint8_t)part;
		at += digits;
		if (*at == '\0') {
			prefix->bits = (uint8_t)(8 * n);
			return true;
		}
		if (*at != '.')
			return false;
	}
	return false;
}

/* "mask 255.255.0.0" behind a network. */
static bool
take_mask(struct parser *p, struct filter_prefix *prefix)
{
	char text[TOKEN_TEXT];
	struct in_addr address;
	uint32_t mask;

	if (prefix->n_octets != 4 || !filter_token_is(&p->token, "mask"))
		return true;
	take_token(p);
	if (p->token.kind != TOKEN_WORD || !filter_token_text(&p->token, text, sizeof(text)) ||
	    inet_pton(AF_INET, text, &address) != 1 ||
	    (~ntohl(address.s_addr) & (~ntohl(address.s_addr) + 1)) != 0) {
		refuse_token(p, &p->token, "a mask such as 255.255.0.0");
		return false;
	}
	take_token(p);
	mask = ntohl(address.s_addr);
	prefix->bits = (uint8_t)__builtin_popcount(mask);
	return true;
}

static const char *
expected_address(const struct qualifiers *q)
{
	if (q->type == MAC || q->layer == ETHER)
		return "a MAC address, or its first octets (00:11:22)";
	if (q->layer == IP4)
		return "an IPv4 address or prefix";
	if (q->layer == IP6)
		return "an IPv6 address or prefix";
	return q->inner ? "an IP address or prefix" : "an address or prefix (10.0.0.0/8, 2001:db8::1, 00:11:22)";
}

static bool
fits_qualifiers(const struct qualifiers *q, const struct filter_prefix *prefix)
{
	bool is_mac = prefix->n_octets == FRAME_MAC_LEN;

	if (q->type == MAC || q->layer == ETHER)
		return is_mac;
	if (q->layer == IP4)
		return prefix->n_octets == 4;
	if (q->layer == IP6)
		return prefix->n_octets == FRAME_IP_LEN;
	return !is_mac || (!q->inner && q->layer == ANY_LAYER);
}

static bool
filter_read_address(const struct token *token, const struct qualifiers *q, struct filter_prefix *prefix)
{
	char text[TOKEN_TEXT];

	if (token->kind != TOKEN_WORD || !filter_token_text(token, text, sizeof(text)))
		return false;
	if (filter_parse_prefix(text, prefix) != 0 && !(q->type == NET && read_short_net(text, prefix)))
		return false;
	return fits_qualifiers(q, prefix);
}

static uint16_t
address_node(struct parser *p, const struct qualifiers *q, const struct filter_prefix *prefix, const struct token *at)
{
	const struct filter_node node = {.op = FILTER_IN_PREFIX, .prefix = *prefix};
	uint16_t made;

	if (prefix->n_octets == FRAME_MAC_LEN)
		return directed_term(p, q, node, FILTER_SRC_MAC, FILTER_DST_MAC, at);
	made = q->inner ? directed_term(p, q, node, FILTER_INNER_SRC_IP, FILTER_INNER_DST_IP, at)
			: directed_term(p, q, node, FILTER_SRC_IP, FILTER_DST_IP, at);
	return q->layer == OVER_IP ? filter_of_layer(p, q, made, at) : made; /* a family is in the address */
}

static uint16_t
filter_parse_address(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	struct filter_prefix prefix;

	if (!filter_read_address(&p->token, q, &prefix))
		return refuse_token(p, &p->token, expected_address(q));
	take_token(p);
	return take_mask(p, &prefix) ? address_node(p, q, &prefix, at) : 0;
}

/* A group of stations as destination. */
static uint16_t
parse_group(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	static const struct filter_prefix all = {6, 48, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
	    ip4 = {4, 4, {0xe0}}, ip6 = {FRAME_IP_LEN, 8, {0xff}};
	struct filter_node node = {.op = FILTER_IN_PREFIX, .field = FILTER_DST_IP};

	if (q->type == BROADCAST && q->layer != ANY_LAYER && q->layer != ETHER)
		return refuse_token(p, at, "\"broadcast\" of Ethernet: no sample says which addresses IP networks have");
	if (q->type == BROADCAST)
		node = (struct filter_node){.op = FILTER_IN_PREFIX, .field = FILTER_DST_MAC, .prefix = all};
	else if (q->layer == IP4)
		node.prefix = ip4;
	else if (q->layer == IP6)
		node.prefix = ip6;
	else
		node = (struct filter_node){.op = FILTER_IS_GROUP, .field = FILTER_DST_MAC};
	return new_node(p, node, at);
}

/* ---- names of places and of groups of addresses ---- */

static const char *
expected_name(enum type type)
{
	switch (type) {
	case IF:
		return "the name or ifIndex of an interface";
	case SITE:
		return "the name of a site";
	case NETWORK:
		return "the name of a network";
	case AS:
		return "an AS number (64500 or AS64500)";
	case COUNTRY:
		return "the two letters of a country (DE)";
	default:
		return "an agent: its name, its address, or its id's first digits";
	}
}

/* Takes a name for a term of that field; false: refused. */
static bool
filter_take_name(struct parser *p, enum type type, enum filter_field field, uint8_t *number)
{
	struct filter *f = p->filter;
	char *text = f->name_text + f->name_octets;

	if ((p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_QUOTED) || p->token.octets == 0)
		return refuse_token(p, &p->token, expected_name(type));
	if (f->n_names == FILTER_NAMES_MAX)
		return refuse_size(p, &p->token, "names of agents, interfaces, sites and networks", FILTER_NAMES_MAX);
	if (!filter_token_text(&p->token, text, sizeof(f->name_text) - f->name_octets))
		return refuse_size(p, &p->token, "octets", FILTER_TEXT_MAX);
	take_token(p);
	f->names[f->n_names] = (struct filter_name){(uint8_t)field, f->name_octets};
	f->name_octets = (uint16_t)(f->name_octets + strlen(text) + 1);
	*number = f->n_names++;
	return true;
}

static uint16_t
parse_name(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	static const enum filter_field fields[] = {[AGENT] = FILTER_AGENT, [IF] = FILTER_IF, [SITE] = FILTER_SITE};
	struct filter_node node = {.op = FILTER_NAMED, .field = (uint8_t)fields[q->type]};

	return filter_take_name(p, q->type, fields[q->type], &node.name) ? new_node(p, node, at) : 0;
}

static uint16_t
parse_member(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	static const enum address_group groups[] = {
	    [NETWORK] = ADDRESS_NETWORK, [AS] = ADDRESS_AS, [COUNTRY] = ADDRESS_COUNTRY};
	enum filter_field src = q->inner ? FILTER_INNER_SRC_IP : FILTER_SRC_IP;
	struct filter_node node = {.op = FILTER_IN_GROUP, .member = {.group = (uint8_t)groups[q->type]}};

	if (!filter_take_name(p, q->type, src, &node.name))
		return 0;
	return directed_term(p, q, node, src, q->inner ? FILTER_INNER_DST_IP : FILTER_DST_IP, at);
}

/* ---- terms ---- */

static uint16_t parse_any(struct parser *p);

static uint16_t
parse_value(struct parser *p, const struct qualifiers *q)
{
	const struct token at = p->token;

	switch (q->type) {
	case PORT:
		return filter_parse_port(p, q, &at);
	case PROTO:
		return parse_proto(p, q, &at);
	case VLAN:
		return parse_vlan(p, &at);
	case VNI:
		return parse_vni(p, &at);
	case ICMP_TYPE:
	case ICMP_CODE:
		return filter_parse_icmp(p, q, &at);
	case OCTETS:
	case LENGTH:
	case LESS:
	case GREATER:
		return parse_octets(p, q, &at);
	case AGENT:
	case IF:
	case SITE:
		return parse_name(p, q, &at);
	case NETWORK:
	case AS:
	case COUNTRY:
		return parse_member(p, q, &at);
	default:
		return filter_parse_address(p, q, &at);
	}
}

/* "in [80 443]", commas between or not. */
static uint16_t
parse_list(struct parser *p, const struct qualifiers *q)
{
	const struct token open = take_token(p);
	struct parts parts = {0};

	do {
		filter_add_part(p, &parts, parse_value(p, q));
		take_kind(p, TOKEN_COMMA);
	} while (!has_failed(p) && p->token.kind != TOKEN_LIST_END && p->token.kind != TOKEN_END);
	if (!take_kind(p, TOKEN_LIST_END))
		return refuse_token(p, &p->token, "]");
	return join_parts(p, FILTER_ANY_OF, &parts, &open);
}

static bool
goes_deeper(struct parser *p, const struct token *at)
{
	if (p->depth == FILTER_DEPTH_MAX)
		refuse_size(p, at, "parentheses and \"not\" within each other", FILTER_DEPTH_MAX);
	else
		p->depth++;
	return !has_failed(p);
}

static uint16_t
parse_parentheses(struct parser *p)
{
	const struct token open = take_token(p);
	uint16_t node;

	if (!goes_deeper(p, &open))
		return 0;
	node = parse_any(p);
	p->depth--;
	return take_kind(p, TOKEN_CLOSE) ? node : refuse_token(p, &p->token, "and, or, or )");
}

/* ---- qualifiers ---- */

/* src, dst, src or dst, src and dst. */
static bool
take_direction(struct parser *p, struct qualifiers *q)
{
	bool is_src = filter_token_is(&p->token, "src"), is_dst = filter_token_is(&p->token, "dst");
	struct token joint, other;

	if (p->token.kind != TOKEN_WORD || (!is_src && !is_dst) || q->direction != EITHER)
		return false;
	take_token(p);
	q->direction = is_src ? SRC : DST;
	joint = p->token;
	other = filter_next_token(&joint);
	if ((joint.kind == TOKEN_OR || joint.kind == TOKEN_AND) && other.kind == TOKEN_WORD &&
	    filter_token_is(&other, is_src ? "dst" : "src")) {
		struct token behind = filter_next_token(&other);

		/* "src port 1 or dst port 2" is two terms; here no value has come yet */
		if (behind.kind != TOKEN_END) {
			take_token(p);
			take_token(p);
			q->direction = joint.kind == TOKEN_OR ? EITHER : BOTH;
		}
	}
	return true;
}

/* A protocol before another word qualifies it: "tcp port"; alone it is a term. */
static bool
take_layer(struct parser *p, struct qualifiers *q)
{
	const struct token next = filter_next_token(&p->token);
	int32_t ip_proto, ethertype;

	if (p->token.kind != TOKEN_WORD || q->layer != ANY_LAYER)
		return false;
	if (filter_token_is(&p->token, "ether")) {
		q->layer = ETHER;
	} else {
		if (!find_protocol(&p->token, &ip_proto, &ethertype) ||
		    (next.kind != TOKEN_WORD && next.kind != TOKEN_LIST))
			return false;
		if (ethertype >= 0 && ethertype != ETHERTYPE_IP4 && ethertype != ETHERTYPE_IP6)
			return false;
		q->layer = ethertype == ETHERTYPE_IP4 ? IP4 : ethertype == ETHERTYPE_IP6 ? IP6 : OVER_IP;
		q->ip_proto = (uint8_t)ip_proto;
	}
	take_token(p);
	return true;
}

static bool
take_type(struct parser *p, struct qualifiers *q)
{
	for (size_t i = 0; p->token.kind == TOKEN_WORD && q->type == NO_TYPE && i < N_TYPES; i++)
		if (filter_token_is(&p->token, types[i].word)) {
			take_token(p);
			q->type = types[i].type;
			return true;
		}
	return false;
}

static bool
take_inner(struct parser *p, struct qualifiers *q)
{
	if (p->token.kind != TOKEN_WORD || q->inner || !filter_token_is(&p->token, "inner"))
		return false;
	take_token(p);
	return q->inner = true;
}

/* nfdump's "ip 10.0.0.1" and "ip in […]" are of both families. */
static void
free_family(const struct parser *p, struct qualifiers *q)
{
	struct qualifiers any = {0};
	struct filter_prefix prefix;

	if (q->layer == IP4 && q->type == NO_TYPE && (p->token.kind == TOKEN_LIST ||
	    filter_token_is(&p->token, "in") || filter_read_address(&p->token, &any, &prefix)))
		q->layer = ANY_LAYER;
}

/* What does not go together is refused where it stands. */
static bool
check_qualifiers(struct parser *p, const struct qualifiers *q, const struct token *at)
{
	bool is_address = q->type == NO_TYPE || q->type == HOST || q->type == NET || q->type == MAC;
	bool is_group = q->type == BROADCAST || q->type == MULTICAST;
	bool is_member = q->type == NETWORK || q->type == AS || q->type == COUNTRY;

	if (q->direction != EITHER && !is_address && !is_member && q->type != PORT)
		refuse_token(p, at, "src or dst before host, net, mac, port, network, as or country only");
	else if (q->inner && ((!is_address && !is_member) || q->type == MAC || q->layer == ETHER))
		refuse_token(p, at, "inner before host, net, network, as or country only");
	else if (q->layer == ETHER && !is_address && !is_group && q->type != PROTO)
		refuse_token(p, at, "ether before host, proto, broadcast or multicast only");
	else if (q->layer == ETHER && q->type == NET)
		refuse_token(p, at, "ether host: Ethernet has no networks");
	else if (q->layer > ETHER && (q->type == MAC || q->type >= VLAN) && !is_group)
		refuse_token(p, at, "a protocol before host, net, port or proto only");
	else if (q->layer == OVER_IP && (q->type == PROTO || is_group))
		refuse_token(p, at, "ip or ip6 before proto and multicast");
	return !has_failed(p);
}

/* ---- */

/* A value alone: with the qualifiers of the term before it, if it can have these. */
static struct qualifiers
inherited_qualifiers(const struct parser *p)
{
	const struct qualifiers none = {0};
	struct filter_prefix prefix;
	bool is_address = filter_read_address(&p->token, &none, &prefix);
	bool takes_address = p->last.type == NO_TYPE || p->last.type == HOST || p->last.type == NET || p->last.type == MAC;

	return p->has_last && (!is_address || takes_address) ? p->last : none;
}

static uint16_t
parse_qualified(struct parser *p)
{
	const struct token at = p->token;
	struct qualifiers q = {0};
	int32_t ip_proto, ethertype;
	bool has_any = false;

	while (take_direction(p, &q) || take_inner(p, &q) || take_layer(p, &q) || take_type(p, &q))
		has_any = true;
	if (q.type == EVERYTHING)
		return new_node(p, (struct filter_node){.op = FILTER_ALL_OF}, &at);
	if (!has_any && find_protocol(&at, &ip_proto, &ethertype)) {
		take_token(p);
		return protocol_node(p, ip_proto, ethertype, &at);
	}
	if (!has_any)
		q = inherited_qualifiers(p);
	free_family(p, &q);
	if (!check_qualifiers(p, &q, &at))
		return 0;
	if (q.type == BROADCAST || q.type == MULTICAST)
		return parse_group(p, &q, &at);
	if (!has_any && !p->has_last && q.type == NO_TYPE) {
		struct filter_prefix prefix;

		if (!filter_read_address(&p->token, &q, &prefix))
			return refuse_token(p, &p->token, EXPECTED_TERM);
	}
	p->last = q;
	p->has_last = true;
	if (filter_token_is(&p->token, "in") && p->token.kind == TOKEN_WORD)
		take_token(p);
	if (p->token.kind == TOKEN_LIST)
		return parse_list(p, &q);
	if (has_any && p->token.kind == TOKEN_OPEN)
		return parse_parentheses(p);
	return parse_value(p, &q);
}

static uint16_t
parse_term(struct parser *p)
{
	const struct token at = p->token;
	uint16_t node;

	if (at.kind == TOKEN_NOT) {
		take_token(p);
		if (!goes_deeper(p, &at))
			return 0;
		node = parse_term(p);
		p->depth--;
		return node ? new_node(p, (struct filter_node){.op = FILTER_NOT, .child = node}, &at) : 0;
	}
	if (at.kind == TOKEN_OPEN)
		return parse_parentheses(p);
	if (at.kind != TOKEN_WORD)
		return refuse_token(p, &at, EXPECTED_TERM);
	return parse_qualified(p);
}

static uint16_t
parse_any(struct parser *p)
{
	const struct token at = p->token;
	struct parts parts = {0};
	enum token_kind joint = TOKEN_END;

	filter_add_part(p, &parts, parse_term(p));
	while (!has_failed(p) && (p->token.kind == TOKEN_AND || p->token.kind == TOKEN_OR)) {
		if (joint != TOKEN_END && p->token.kind != joint)
			return refuse_token(p, &p->token, "parentheses: here \"and\" and \"or\" stand side by side");
		joint = take_token(p).kind;
		filter_add_part(p, &parts, parse_term(p));
	}
	return has_failed(p) ? 0 : join_parts(p, joint == TOKEN_OR ? FILTER_ANY_OF : FILTER_ALL_OF, &parts, &at);
}

/* ---- the whole ---- */

/* Counts the terms of places below a node; -1 if there is another one, or a "not". */
static int
count_places(const struct filter *f, const struct filter_node *node, bool *has_if)
{
	int n = 0;

	if (node->op >= FILTER_NAMED) {
		*has_if |= node->field == FILTER_IF;
		return node->op == FILTER_NAMED ? 1 : -1;
	}
	for (uint16_t i = node->child; i > 0 && node->op != FILTER_NOT; i = f->nodes[i].next) {
		int more = count_places(f, &f->nodes[i], has_if);

		if (more < 0)
			return more;
		n += more;
	}
	return node->op == FILTER_NOT ? -1 : n;
}

/* Whether what must hold names one agent, or interfaces. */
static bool
asks_for_ports(const struct filter *f, const struct filter_node *node)
{
	bool has_if = false;
	int n = count_places(f, node, &has_if);

	if (n > 0 && (has_if || (n == 1 && node->op == FILTER_NAMED && node->field == FILTER_AGENT)))
		return true;
	for (uint16_t i = node->child; node->op == FILTER_ALL_OF && i > 0; i = f->nodes[i].next)
		if (asks_for_ports(f, &f->nodes[i]))
			return true;
	return false;
}

/* All of it as one text. False if it does not fit. */
static bool
add_text(struct filter *f, const char *text)
{
	char all[2 * FILTER_TEXT_MAX + 32];
	int len = f->n_added == 0 ? snprintf(all, sizeof(all), "%s", text)
	    : f->n_added == 1     ? snprintf(all, sizeof(all), "(%s) and (%s)", f->text, text)
				  : snprintf(all, sizeof(all), "%s and (%s)", f->text, text);

	if (len > FILTER_TEXT_MAX)
		return false;
	memcpy(f->text, all, (size_t)len + 1);
	f->n_added++;
	return true;
}

static void
append_to_root(struct filter *f, uint16_t node)
{
	uint16_t *at = &f->nodes[0].child;

	while (*at > 0)
		at = &f->nodes[*at].next;
	*at = node;
}

int
filter_add(struct filter *filter, const char *text, char error[FILTER_ERROR_TEXT])
{
	const uint16_t n_nodes = filter->n_nodes, name_octets = filter->name_octets;
	const uint8_t n_names = filter->n_names;
	struct parser p = {.filter = filter, .error = error};
	uint16_t node = 0;

	*error = '\0';
	if (n_nodes == 0)
		filter->nodes[filter->n_nodes++] = (struct filter_node){.op = FILTER_ALL_OF};
	if (strlen(text) > FILTER_TEXT_MAX) {
		snprintf(error, FILTER_ERROR_TEXT, "expected at most %d octets in all", FILTER_TEXT_MAX);
	} else {
		p.token = filter_next_token(&(struct token){.at = text, .column = 1});
		node = parse_any(&p);
		if (!has_failed(&p) && p.token.kind != TOKEN_END)
			refuse_token(&p, &p.token, "and, or, or the end");
		if (!has_failed(&p) && !add_text(filter, text))
			snprintf(error, FILTER_ERROR_TEXT, "expected at most %d octets in all", FILTER_TEXT_MAX);
	}
	if (has_failed(&p)) {
		filter->n_nodes = n_nodes;
		filter->n_names = n_names;
		filter->name_octets = name_octets;
		return -EINVAL;
	}
	append_to_root(filter, node);
	/* What a program must know of a sample to answer it. */
	filter->fields = 0;
	for (size_t i = 0; i < filter->n_nodes; i++) {
		if (filter->nodes[i].op >= FILTER_NAMED)
			filter->fields |= FILTER_BIT(filter->nodes[i].field);
		filter->asks_for_groups |= filter->nodes[i].op == FILTER_IN_GROUP;
	}
	filter->asks_for_ports = asks_for_ports(filter, &filter->nodes[0]);
	return 0;
}

/* Whether a name stands for itself without quotes. */
static bool
is_plain(const char *name)
{
	const struct token token = filter_next_token(&(struct token){.at = name, .column = 1});

	return token.kind == TOKEN_WORD && token.at == name && name[token.octets] == '\0' &&
	    !filter_token_is(&token, "in");
}

bool
filter_write_name(const char *word, const char *name, char *text, size_t size)
{
	size_t n;

	if (is_plain(name))
		return (size_t)snprintf(text, size, "%s %s", word, name) < size;
	n = (size_t)snprintf(text, size, "%s \"", word);
	for (; *name && n + 3 < size; name++) {
		if (*name == '"' || *name == '\\')
			text[n++] = '\\';
		text[n++] = *name;
	}
	if (*name || n + 2 > size)
		return false;
	memcpy(text + n, "\"", 2);
	return true;
}
