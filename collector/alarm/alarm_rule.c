#include "collector/alarm/alarm_rule.h"

#include "collector/store/key_layout.h"
#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest frame that is one unit of a rule by octets. A longer one counts as one, which raises no false
 * alarm. *assumed* */
#define UNIT_OCTETS 1522.0

#define BURST_DEFAULT_S 1.0
#define BURST_LEAST_S	0.1
#define BURST_MOST_S	60.0
#define RATE_MOST	1e15

/* ---- keys ---- */

enum { PROTOCOL_OCTETS = 2 }; /* also an ethertype's */

/* Of which fields a key is made. Behind its first octet, the IP version, each has a place of its own. The addresses are
 * those of Ethernet, and the protocol is the ethertype, of a frame without IP: its version is 0. */
static const struct {
	const char *word;
	uint8_t fields[KEY_HALF_FIELDS]; /* enum key_field */
	bool of_syns;
} kinds[ALARM_KINDS] = {
    [ALARM_TALKER] = {.word = "talker", .fields = {KEY_SRC_IP}},
    [ALARM_DESTINATION] = {.word = "destination", .fields = {KEY_DST_IP}},
    [ALARM_PAIR] = {.word = "pair", .fields = {KEY_SRC_IP, KEY_DST_IP}},
    [ALARM_SERVICE] = {.word = "service", .fields = {KEY_DST_IP, KEY_SERVER_PORT, KEY_IP_PROTO}},
    [ALARM_CONNECTIONS] = {.word = "connections", .fields = {KEY_DST_IP, KEY_SERVER_PORT, KEY_IP_PROTO}, .of_syns = true},
    [ALARM_PROTOCOL] = {.word = "protocol", .fields = {KEY_IP_PROTO}},
    [ALARM_PORT] = {.word = "port"},
};
static const uint8_t places[KEY_N_FIELDS] = {
    [KEY_SRC_IP] = 1, [KEY_DST_IP] = 1 + FRAME_IP_LEN, [KEY_SERVER_PORT] = 1 + 2 * FRAME_IP_LEN,
    [KEY_IP_PROTO] = 3 + 2 * FRAME_IP_LEN,
};
_Static_assert((int)FRAME_IP_TEXT <= (int)ALARM_ADDRESS_TEXT && (int)FRAME_MAC_TEXT <= (int)ALARM_ADDRESS_TEXT, "an address has room");
_Static_assert(3 + 2 * FRAME_IP_LEN + PROTOCOL_OCTETS <= ALARM_KEY_OCTETS, "a key has room for its fields");

/* False: the frame does not have it. */
static bool
alarm_rule_put_field(enum key_field field, const struct frame_keys *f, uint8_t *at)
{
	uint16_t protocol = f->has_ip_proto ? f->ip_proto : f->ethertype;

	if (field < KEY_N_ADDRESSES) {
		if (f->ip_version)
			memcpy(at, field == KEY_SRC_IP ? f->src_ip : f->dst_ip, FRAME_IP_LEN);
		else
			memcpy(at, field == KEY_SRC_IP ? f->src_mac : f->dst_mac, FRAME_MAC_LEN);
		return f->ip_version || f->has_macs;
	}
	if (field == KEY_SERVER_PORT) {
		memcpy(at, &f->dst_port, sizeof(f->dst_port));
		return f->ip_version && f->has_ports && f->dst_port <= f->src_port; /* the higher port is the client's (RFC 6335) */
	}
	memcpy(at, &protocol, PROTOCOL_OCTETS);
	return f->has_ip_proto || f->has_ethertype;
}

static bool
has_address_of(const struct alarm_prefixes *prefixes, const uint8_t fields[KEY_HALF_FIELDS], const struct frame_keys *f)
{
	sa_family_t family = f->ip_version == 4 ? AF_INET : AF_INET6;

	for (size_t i = 0; f->ip_version && i < KEY_HALF_FIELDS; i++)
		for (size_t j = 0; (fields[i] == KEY_SRC_IP || fields[i] == KEY_DST_IP) && j < prefixes->n; j++)
			if (prefix_holds_octets(&prefixes->items[j], family, fields[i] == KEY_SRC_IP ? f->src_ip : f->dst_ip))
				return true;
	return false;
}

bool
alarm_rule_key(const struct alarm_rule *rule, const struct frame_keys *f, uint8_t key[ALARM_KEY_OCTETS])
{
	const uint8_t *fields = kinds[rule->kind].fields;

	if (kinds[rule->kind].of_syns && !f->is_syn)
		return false;
	if (rule->within.n > 0 && !has_address_of(&rule->within, fields, f))
		return false;
	if (rule->excepted.n > 0 && has_address_of(&rule->excepted, fields, f))
		return false;
	memset(key, 0, ALARM_KEY_OCTETS);
	if (fields[0] != KEY_NO_FIELD)
		key[0] = f->ip_version;
	for (size_t i = 0; i < KEY_HALF_FIELDS && fields[i] != KEY_NO_FIELD; i++)
		if (!alarm_rule_put_field(fields[i], f, key + places[fields[i]]))
			return false;
	return true;
}

static void
format_address(const uint8_t key[ALARM_KEY_OCTETS], const uint8_t *at, char text[ALARM_ADDRESS_TEXT])
{
	if (key[0])
		frame_format_ip(key[0], at, text);
	else
		frame_format_mac(at, text);
}

void
alarm_rule_key_text(const struct alarm_rule *rule, const uint8_t key[ALARM_KEY_OCTETS], char text[ALARM_KEY_TEXT])
{
	const uint8_t *fields = kinds[rule->kind].fields;
	const char *between = "";
	uint16_t port = 0, protocol;

	memcpy(&protocol, key + places[KEY_IP_PROTO], PROTOCOL_OCTETS);
	*text = '\0';
	for (size_t i = 0; i < KEY_HALF_FIELDS && fields[i] != KEY_NO_FIELD; i++) {
		const uint8_t *at = key + places[fields[i]];
		char address[ALARM_ADDRESS_TEXT];

		if (fields[i] < KEY_N_ADDRESSES) {
			format_address(key, at, address);
			text_add(text, ALARM_KEY_TEXT, "%s%s", between, address);
		} else if (fields[i] == KEY_SERVER_PORT) {
			memcpy(&port, at, sizeof(port));
			text_add(text, ALARM_KEY_TEXT, " %s/%u", protocol == 6 ? "tcp" : protocol == 17 ? "udp" : "ip",
			    (unsigned)port);
		} else if (i == 0) {
			text_add(text, ALARM_KEY_TEXT, key[0] ? "IP protocol %u" : "ethertype 0x%04x", (unsigned)protocol);
		}
		between = " to ";
	}
}

void
alarm_rule_key_parts(const struct alarm_rule *rule, const uint8_t key[ALARM_KEY_OCTETS], struct alarm_key_parts *parts)
{
	const uint8_t *fields = kinds[rule->kind].fields;
	uint16_t protocol;

	memset(parts, 0, sizeof(*parts));
	for (size_t i = 0; i < KEY_HALF_FIELDS && fields[i] != KEY_NO_FIELD; i++) {
		const uint8_t *at = key + places[fields[i]];

		if (fields[i] == KEY_SERVER_PORT)
			memcpy(&parts->server_port, at, sizeof(parts->server_port));
		if (fields[i] == KEY_IP_PROTO && key[0]) {
			memcpy(&protocol, at, PROTOCOL_OCTETS);
			parts->ip_proto = (uint8_t)protocol;
		}
		if (fields[i] < KEY_N_ADDRESSES)
			format_address(key, at, fields[i] == KEY_SRC_IP ? parts->source : parts->destination);
	}
}

const char *
alarm_kind_word(enum alarm_kind kind)
{
	return kinds[kind].word;
}

/* ---- rates ---- */

double
alarm_rule_rate(const struct alarm_rule *rule, uint64_t speed_bps)
{
	switch (rule->unit) {
	case ALARM_PACKETS:
		return rule->limit;
	case ALARM_BITS:
		return rule->limit / 8 / UNIT_OCTETS;
	case ALARM_SHARE:
		return rule->limit * (double)speed_bps / 8 / UNIT_OCTETS;
	}
	return 0;
}

double
alarm_rule_units(const struct alarm_rule *rule, uint32_t frame_octets)
{
	return rule->unit == ALARM_PACKETS ? 1 : fmin(1, frame_octets / UNIT_OCTETS);
}

/* ---- the words of a rule ---- */

struct words {
	const char *at;
};

/* A number and its unit behind it, with or without a space: 10 kpps, 50 Mb/s, 5%. As reports write them, and as
 * others do. */
static const char *
take_rate(struct words *w, struct alarm_rule *rule)
{
	static const struct {
		const char *word;
		enum alarm_unit unit;
		double factor;
	} units[] = {
	    {"pps", ALARM_PACKETS, 1}, {"kpps", ALARM_PACKETS, 1e3}, {"k pps", ALARM_PACKETS, 1e3}, {"Mpps", ALARM_PACKETS, 1e6},
	    {"frame/s", ALARM_PACKETS, 1}, {"k frame/s", ALARM_PACKETS, 1e3}, {"M frame/s", ALARM_PACKETS, 1e6},
	    {"frames/s", ALARM_PACKETS, 1}, {"packets/s", ALARM_PACKETS, 1}, {"k packets/s", ALARM_PACKETS, 1e3},
	    {"M packets/s", ALARM_PACKETS, 1e6}, {"/s", ALARM_PACKETS, 1},
	    {"b/s", ALARM_BITS, 1}, {"kb/s", ALARM_BITS, 1e3}, {"Mb/s", ALARM_BITS, 1e6}, {"Gb/s", ALARM_BITS, 1e9},
	    {"bit/s", ALARM_BITS, 1}, {"kbit/s", ALARM_BITS, 1e3}, {"Mbit/s", ALARM_BITS, 1e6}, {"Gbit/s", ALARM_BITS, 1e9},
	    {"%", ALARM_SHARE, 0.01},
	};
	char *end;

	w->at += strspn(w->at, " \t");
	rule->limit = strtod(w->at, &end);
	if (end == w->at || !(rule->limit > 0 && rule->limit <= RATE_MOST))
		return "behind \"above\" a rate must follow, such as 10000 pps, 50 Mb/s or 5%";
	w->at = end;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!text_take_word(&w->at, units[i].word))
			continue;
		rule->unit = units[i].unit;
		rule->limit *= units[i].factor;
		if (rule->unit == ALARM_SHARE && rule->limit > 1)
			return "a port cannot have more than 100% of its speed";
		return NULL;
	}
	return "the rate's unit must be pps, b/s, kb/s, Mb/s, Gb/s or % (of the port's speed)";
}

static const char *
take_burst(struct words *w, struct alarm_rule *rule)
{
	char *end;

	if (!text_take_word(&w->at, "burst"))
		return NULL;
	rule->burst_s = strtod(w->at, &end);
	if (end == w->at || !(rule->burst_s >= BURST_LEAST_S && rule->burst_s <= BURST_MOST_S))
		return "behind \"burst\" a time from 0.1s to 60s must follow";
	w->at = end;
	return text_take_word(&w->at, "s") ? NULL : "behind \"burst\" a time in seconds must follow, such as 10s";
}

/* "in P, P" or "except P": prefixes with commas between them. */
static const char *
take_prefixes(struct words *w, const char *word, struct alarm_prefixes *to)
{
	const char *reason;
	bool more = true;

	if (!text_take_word(&w->at, word))
		return NULL;
	while (more) {
		char text[ENDPOINT_TEXT];
		size_t n;

		w->at += strspn(w->at, " \t");
		n = strcspn(w->at, ", \t");
		if (n == 0 || n >= sizeof(text))
			return "behind \"in\" and \"except\" must follow ADDRESS or ADDRESS/BITS, with commas between several";
		if (to->n == ALARM_PREFIXES_MAX)
			return "at most 8 prefixes may follow \"in\", and 8 \"except\"";
		snprintf(text, sizeof(text), "%.*s", (int)n, w->at);
		if (prefix_parse(text, &to->items[to->n++], &reason) < 0)
			return reason;
		w->at += n + strspn(w->at + n, " \t");
		more = *w->at == ',';
		w->at += more;
	}
	return NULL;
}

static const char *
parse_rule(struct words *w, struct alarm_rule *rule)
{
	const char *reason;
	int kind = 0;

	while (kind < ALARM_KINDS && !text_take_word(&w->at, kinds[kind].word))
		kind++;
	if (kind == ALARM_KINDS)
		return "it must begin with talker, destination, pair, service, connections, protocol or port";
	rule->kind = (enum alarm_kind)kind;
	if (!text_take_word(&w->at, "above"))
		return "behind what it is about must follow \"above\" and a rate";
	reason = take_rate(w, rule);
	if (reason)
		return reason;
	if (!text_take_word(&w->at, "of"))
		return "behind the rate must follow \"of each port\" or \"of all ports\"";
	rule->of_all_ports = text_take_word(&w->at, "all");
	if (rule->of_all_ports ? !text_take_word(&w->at, "ports") : !(text_take_word(&w->at, "each") && text_take_word(&w->at, "port")))
		return "behind the rate must follow \"of each port\" or \"of all ports\"";
	if (rule->of_all_ports && (rule->unit == ALARM_SHARE || rule->kind == ALARM_PORT))
		return "a port, or a part of its speed, can only be asked \"of each port\"";
	reason = take_prefixes(w, "in", &rule->within);
	if (!reason)
		reason = take_prefixes(w, "except", &rule->excepted);
	if (!reason)
		reason = take_burst(w, rule);
	if (reason)
		return reason;
	if (rule->within.n + rule->excepted.n > 0 && (rule->kind == ALARM_PROTOCOL || rule->kind == ALARM_PORT))
		return "a protocol and a port have no address that could be in a prefix";
	return w->at[strspn(w->at, " \t")] ? "only \"in\", \"except\" and \"burst\", in this order, may follow the ports" : NULL;
}

int
alarm_rule_parse(const char *text, struct alarm_rule *rule, const char **reason)
{
	struct words w = {text};

	*rule = (struct alarm_rule){.burst_s = BURST_DEFAULT_S};
	*reason = strlen(text) < sizeof(rule->text) ? parse_rule(&w, rule) : "a rule has at most 255 characters";
	if (*reason)
		return -EINVAL;
	snprintf(rule->text, sizeof(rule->text), "%s", text);
	return 0;
}

const char *
alarm_rule_check(const char *text)
{
	struct alarm_rule rule;
	const char *reason;

	return alarm_rule_parse(text, &rule, &reason) < 0 ? reason : NULL;
}
