/*
 * The option alarms: what is to be told at once. A rule names a kind of key, a rate, and whether each port
 * is looked at by itself:
 *
 *   talker above 10000 pps of each port
 *   destination above 200 Mb/s of all ports burst 10s
 *   connections above 500/s of each port
 *   pair above 20% of each port
 *   destination above 50 Mb/s of each port in 192.0.2.0/24, 2001:db8::/32 except 192.0.2.53 burst 5s
 *
 * A key raises the alarm when in some stretch of L seconds it sent more than rate x L + rate x burst; the
 * burst is a second unless the rule says otherwise.
 */
#ifndef EASE_COLLECTOR_ALARM_RULE_H
#define EASE_COLLECTOR_ALARM_RULE_H

#include "common/endpoint.h"
#include "common/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum alarm_kind {
	ALARM_TALKER,
	ALARM_DESTINATION,
	ALARM_PAIR,
	ALARM_SERVICE,	   /* server and its port */
	ALARM_CONNECTIONS, /* SYNs without ACK, of a server and its port */
	ALARM_PROTOCOL,	   /* of IP; the ethertype of other frames */
	ALARM_PORT,	   /* all that the port receives */
	ALARM_KINDS,
};

enum alarm_unit { ALARM_PACKETS, ALARM_BITS, ALARM_SHARE };

enum { ALARM_RULE_TEXT = 256, ALARM_RULES_MAX = 16, ALARM_PREFIXES_MAX = 8 };

/* Addresses that a rule is about, or not about. */
struct alarm_prefixes {
	struct prefix items[ALARM_PREFIXES_MAX];
	size_t n;
};

struct alarm_rule {
	enum alarm_kind kind;
	enum alarm_unit unit;
	double limit;	   /* packets a second, bits a second, or a part of the port's speed (0 to 1) */
	bool of_all_ports; /* else of each */
	double burst_s;
	/* Of a pair one of both addresses must be within, and neither may be excepted. Nothing within: every address is. */
	struct alarm_prefixes within, excepted;
	char text[ALARM_RULE_TEXT]; /* as it was written */
};

/* Reads a rule. 0, or -EINVAL with *reason in static storage. */
int alarm_rule_parse(const char *text, struct alarm_rule *rule, const char **reason);

/* For option rows: NULL if good, else the reason. */
const char *alarm_rule_check(const char *text);

/* What a rule counts of a frame: the octets of its key, zeroed behind them, and whether the frame counts at
 * all. */
enum { ALARM_KEY_OCTETS = 48 }; /* a multiple of 16, for hash_octets() */
bool alarm_rule_key(const struct alarm_rule *rule, const struct frame_keys *frame, uint8_t key[ALARM_KEY_OCTETS]);

/* Writes such a key as text: 10.1.2.3 to 10.9.9.9, 10.9.9.9 tcp/443, … */
enum { ALARM_KEY_TEXT = 128 };
void alarm_rule_key_text(const struct alarm_rule *rule, const uint8_t key[ALARM_KEY_OCTETS], char text[ALARM_KEY_TEXT]);

/* The same in parts; "" and 0: the rule has none. */
enum { ALARM_ADDRESS_TEXT = 48 };
struct alarm_key_parts {
	char source[ALARM_ADDRESS_TEXT], destination[ALARM_ADDRESS_TEXT]; /* of IP, or of Ethernet for a frame without */
	uint16_t server_port;
	uint8_t ip_proto;
};
void alarm_rule_key_parts(const struct alarm_rule *rule, const uint8_t key[ALARM_KEY_OCTETS], struct alarm_key_parts *parts);

/* "talker", "destination", … */
const char *alarm_kind_word(enum alarm_kind kind);

/* The units a second of a rule at a port of that speed (bit/s; 0: not known), and how many units a frame of so
 * many octets is, at most 1. A rate of 0 cannot be tested. */
double alarm_rule_rate(const struct alarm_rule *rule, uint64_t speed_bps);
double alarm_rule_units(const struct alarm_rule *rule, uint32_t frame_octets);

#endif
