#include "collector/alarm/alarm_rule.h"

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

enum { IP_AT = 1, SECOND_AT = IP_AT + FRAME_IP_LEN, PORT_AT = SECOND_AT + FRAME_IP_LEN };

/* What is in a key behind its first octet, the IP version: 0 for addresses of Ethernet. */
enum key_part { KEY_SOURCE = 1, KEY_DESTINATION = 2, KEY_SERVER_PORT = 4, KEY_PROTOCOL = 8, ONLY_SYNS = 16 };

static const struct {
	const char *word;
	unsigned parts;
} kinds[ALARM_KINDS] = {
    [ALARM_TALKER] = {"talker", KEY_SOURCE},
    [ALARM_DESTINATION] = {"destination", KEY_DESTINATION},
    [ALARM_PAIR] = {"pair", KEY_SOURCE | KEY_DESTINATION},
    [ALARM_SERVICE] = {"service", KEY_DESTINATION | KEY_SERVER_PORT | KEY_PROTOCOL},
    [ALARM_CONNECTIONS] = {"connections", KEY_DESTINATION | KEY_SERVER_PORT | KEY_PROTOCOL | ONLY_SYNS},
    [ALARM_PROTOCOL] = {"protocol", KEY_PROTOCOL},
    [ALARM_PORT] = {"port", 0},
};

static void
put_address(const struct frame_keys *f, const uint8_t *ip, const uint8_t *mac, uint8_t *at)
{
	if (f->ip_version)
		memcpy(at, ip, FRAME_IP_LEN);
	else
		memcpy(at, mac, FRAME_MAC_LEN);
}

bool
alarm_rule_key(const struct alarm_rule *rule, const struct frame_keys *f, uint8_t key[ALARM_KEY_OCTETS])
{
	unsigned parts = kinds[rule->kind].parts;
	uint16_t protocol = f->has_ip_proto ? f->ip_proto : f->ethertype;

	if ((parts & (KEY_SOURCE | KEY_DESTINATION)) && !f->ip_version && !f->has_macs)
		return false;
	if ((parts & ONLY_SYNS) && !f->is_syn)
		return false;
	if ((parts & KEY_SERVER_PORT) && (!f->ip_version || !f->has_ports || f->dst_port > f->src_port))
		return false; /* the higher port is the client's (RFC 6335) */
	if ((parts & KEY_PROTOCOL) && !f->has_ip_proto && !f->has_ethertype)
		return false;
	memset(key, 0, ALARM_KEY_OCTETS);
	if (parts != 0)
		key[0] = f->ip_version;
	if (parts & KEY_SOURCE)
		put_address(f, f->src_ip, f->src_mac, key + IP_AT);
	if (parts & KEY_DESTINATION)
		put_address(f, f->dst_ip, f->dst_mac, key + SECOND_AT);
	if (parts & KEY_SERVER_PORT)
		memcpy(key + PORT_AT, &f->dst_port, sizeof(f->dst_port));
	if (parts & KEY_PROTOCOL)
		memcpy(key + PORT_AT + sizeof(f->dst_port), &protocol, sizeof(protocol));
	return true;
}
_Static_assert(PORT_AT + 4 <= ALARM_KEY_OCTETS, "a key has room for its parts");

static void
format_address(uint8_t version, const uint8_t *octets, char *text)
{
	if (version)
		frame_format_ip(version, octets, text);
	else
		frame_format_mac(octets, text);
}

void
alarm_rule_key_text(const struct alarm_rule *rule, const uint8_t key[ALARM_KEY_OCTETS], char text[ALARM_KEY_TEXT])
{
	unsigned parts = kinds[rule->kind].parts;
	char source[FRAME_IP_TEXT] = "", destination[FRAME_IP_TEXT] = "", service[32] = "";
	uint16_t port, protocol;

	memcpy(&port, key + PORT_AT, sizeof(port));
	memcpy(&protocol, key + PORT_AT + sizeof(port), sizeof(protocol));
	if (parts & KEY_SOURCE)
		format_address(key[0], key + IP_AT, source);
	if (parts & KEY_DESTINATION)
		format_address(key[0], key + SECOND_AT, destination);
	if (parts & KEY_SERVER_PORT)
		snprintf(service, sizeof(service), " %s/%u", protocol == 6 ? "tcp" : protocol == 17 ? "udp" : "ip",
		    (unsigned)port);
	else if (parts & KEY_PROTOCOL)
		snprintf(service, sizeof(service), key[0] ? "IP protocol %u" : "ethertype 0x%04x", (unsigned)protocol);
	snprintf(text, ALARM_KEY_TEXT, "%s%s%s%s", source, *source && *destination ? " to " : "", destination, service);
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

static bool
take(struct words *w, const char *word)
{
	size_t n = strlen(word);

	w->at += strspn(w->at, " \t");
	if (strncmp(w->at, word, n) != 0 || (w->at[n] != '\0' && !strchr(" \t", w->at[n])))
		return false;
	w->at += n;
	return true;
}

/* A number and its unit behind it, with or without a space: 10k frame/s, 50 Mb/s, 5%. As reports write them, and as
 * others do. */
static const char *
take_rate(struct words *w, struct alarm_rule *rule)
{
	static const struct {
		const char *word;
		enum alarm_unit unit;
		double factor;
	} units[] = {
	    {"frame/s", ALARM_PACKETS, 1}, {"k frame/s", ALARM_PACKETS, 1e3}, {"M frame/s", ALARM_PACKETS, 1e6},
	    {"frames/s", ALARM_PACKETS, 1}, {"packets/s", ALARM_PACKETS, 1}, {"k packets/s", ALARM_PACKETS, 1e3},
	    {"M packets/s", ALARM_PACKETS, 1e6}, {"pps", ALARM_PACKETS, 1}, {"/s", ALARM_PACKETS, 1},
	    {"b/s", ALARM_BITS, 1}, {"kb/s", ALARM_BITS, 1e3}, {"Mb/s", ALARM_BITS, 1e6}, {"Gb/s", ALARM_BITS, 1e9},
	    {"bit/s", ALARM_BITS, 1}, {"kbit/s", ALARM_BITS, 1e3}, {"Mbit/s", ALARM_BITS, 1e6}, {"Gbit/s", ALARM_BITS, 1e9},
	    {"%", ALARM_SHARE, 0.01},
	};
	char *end;

	w->at += strspn(w->at, " \t");
	rule->limit = strtod(w->at, &end);
	if (end == w->at || !(rule->limit > 0 && rule->limit <= RATE_MOST))
		return "behind \"above\" a rate must follow, such as 10000 frame/s, 50 Mb/s or 5%";
	w->at = end;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!take(w, units[i].word))
			continue;
		rule->unit = units[i].unit;
		rule->limit *= units[i].factor;
		if (rule->unit == ALARM_SHARE && rule->limit > 1)
			return "a port cannot have more than 100% of its speed";
		return NULL;
	}
	return "the rate's unit must be frame/s, b/s, kb/s, Mb/s, Gb/s or % (of the port's speed)";
}

static const char *
take_burst(struct words *w, struct alarm_rule *rule)
{
	char *end;

	if (!take(w, "burst"))
		return NULL;
	rule->burst_s = strtod(w->at, &end);
	if (end == w->at || !(rule->burst_s >= BURST_LEAST_S && rule->burst_s <= BURST_MOST_S))
		return "behind \"burst\" a time from 0.1s to 60s must follow";
	w->at = end;
	return take(w, "s") ? NULL : "behind \"burst\" a time in seconds must follow, such as 10s";
}

static const char *
parse(struct words *w, struct alarm_rule *rule)
{
	const char *reason;
	int kind = 0;

	while (kind < ALARM_KINDS && !take(w, kinds[kind].word))
		kind++;
	if (kind == ALARM_KINDS)
		return "it must begin with talker, destination, pair, service, connections, protocol or port";
	rule->kind = (enum alarm_kind)kind;
	if (!take(w, "above"))
		return "behind what it is about must follow \"above\" and a rate";
	reason = take_rate(w, rule);
	if (reason)
		return reason;
	if (!take(w, "of"))
		return "behind the rate must follow \"of each port\" or \"of all ports\"";
	rule->of_all_ports = take(w, "all");
	if (rule->of_all_ports ? !take(w, "ports") : !(take(w, "each") && take(w, "port")))
		return "behind the rate must follow \"of each port\" or \"of all ports\"";
	if (rule->of_all_ports && (rule->unit == ALARM_SHARE || rule->kind == ALARM_PORT))
		return "a port, or a part of its speed, can only be asked \"of each port\"";
	reason = take_burst(w, rule);
	if (reason)
		return reason;
	return w->at[strspn(w->at, " \t")] ? "only \"burst\" and a time may follow the ports" : NULL;
}

int
alarm_rule_parse(const char *text, struct alarm_rule *rule, const char **reason)
{
	struct words w = {text};

	*rule = (struct alarm_rule){.burst_s = BURST_DEFAULT_S};
	*reason = strlen(text) < sizeof(rule->text) ? parse(&w, rule) : "a rule has at most 95 characters";
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
