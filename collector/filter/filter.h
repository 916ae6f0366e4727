/*
 * The language of filters, one for easetop, the page and the API:
 *
 *     src net 10.20.0.0/16 and (dst port 443 or proto icmp) and not vlan 12
 *
 * Terms are written as in tcpdump (pcap-filter(7)) and nfdump(1); easetop(1) lists them. A text becomes a tree of
 * bounded size and depth without pointers, so a filter can be copied. It is judged with what is known of its
 * subject, which may be an agent, a port, a key of the sums or a sample: the answer is yes, no, or not known yet.
 *
 * pcap-filter reads "a or b and c" from left to right, nfdump binds "and" more tightly. Here "and" and "or"
 * need parentheses between them.
 */
#ifndef EASE_COLLECTOR_FILTER_FILTER_H
#define EASE_COLLECTOR_FILTER_FILTER_H

#include "collector/filter/address_databases.h"
#include "common/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FILTER_TEXT_MAX = 1000, /* octets of all expressions together */
	FILTER_NODES_MAX = 256,
	FILTER_DEPTH_MAX = 24,	/* of parentheses and "not" */
	FILTER_NAMES_MAX = 32,	/* terms with a name of an agent, an interface, a site or a group of addresses */
	FILTER_ERROR_TEXT = 200,
};

enum filter_field {
	FILTER_AGENT,
	FILTER_IF,
	FILTER_SITE, /* where the port is */
	FILTER_SRC_MAC,
	FILTER_DST_MAC,
	FILTER_SRC_IP,
	FILTER_DST_IP,
	FILTER_INNER_SRC_IP, /* in a tunnel */
	FILTER_INNER_DST_IP,
	FILTER_VLAN,	  /* id of the outermost tag */
	FILTER_ETHERTYPE, /* after all tags; up to 1500: a length */
	FILTER_IP_PROTO,
	FILTER_SRC_PORT,
	FILTER_DST_PORT,
	FILTER_OCTETS, /* of the frame, with FCS */
	FILTER_ICMP_TYPE, /* of ICMP and ICMPv6 */
	FILTER_ICMP_CODE,
	FILTER_VNI, /* of the outermost VXLAN or GENEVE */
	FILTER_SRC_AS, /* AS numbers that a sample states */
	FILTER_DST_AS,
	FILTER_N_FIELDS,
};

/* Sets of fields have one bit for each. */
#define FILTER_BIT(field) (1u << (field))
enum {
	FILTER_PLACES = FILTER_BIT(FILTER_AGENT) | FILTER_BIT(FILTER_IF) | FILTER_BIT(FILTER_SITE),
	FILTER_MACS = FILTER_BIT(FILTER_SRC_MAC) | FILTER_BIT(FILTER_DST_MAC),
	FILTER_IPS = FILTER_BIT(FILTER_SRC_IP) | FILTER_BIT(FILTER_DST_IP),
	FILTER_INNER_IPS = FILTER_BIT(FILTER_INNER_SRC_IP) | FILTER_BIT(FILTER_INNER_DST_IP),
	FILTER_PORTS = FILTER_BIT(FILTER_SRC_PORT) | FILTER_BIT(FILTER_DST_PORT),
	FILTER_ICMP = FILTER_BIT(FILTER_ICMP_TYPE) | FILTER_BIT(FILTER_ICMP_CODE),
};

/* Addresses that begin with the first `bits` bits of octets; of 6 (MAC), 4 or 16 octets. */
struct filter_prefix {
	uint8_t n_octets;
	uint8_t bits;
	uint8_t octets[FRAME_IP_LEN];
};

enum filter_op {
	FILTER_ALL_OF, /* of none: yes */
	FILTER_ANY_OF,
	FILTER_NOT,
	FILTER_NAMED,	/* field is named so */
	FILTER_IN_PREFIX,
	FILTER_IS_GROUP, /* a MAC address of several stations */
	FILTER_IN_RANGE, /* low <= field <= high */
	FILTER_IN_GROUP, /* an IP address of a network, AS or country; answers are not known until filter_bind_groups */
};

struct filter_node {
	uint8_t op;
	uint8_t field;	/* from FILTER_NAMED on */
	uint8_t name;	/* FILTER_NAMED, FILTER_IN_GROUP: index in names */
	uint16_t child; /* the first; 0: none */
	uint16_t next;	/* sibling; 0: the last */
	uint16_t column; /* of the term in its own text, from 1, in characters */
	union {
		struct filter_prefix prefix;
		struct {
			uint32_t low, high;
		} range;
		struct {
			uint8_t group; /* enum address_group */
			uint32_t number;
		} member;
	};
};

/* Who is of which group: address_names.h. */
struct filter_groups {
	uint32_t (*group_of)(void *arg, enum address_group group, size_t n_octets, const uint8_t *octets);
	uint32_t (*find)(void *arg, enum address_group group, const char *text); /* 0: there is no such group */
	void *arg;
	bool samples_state_as; /* nobody knows whose AS an address is: terms ask for what samples state */
};

struct filter {
	uint16_t n_nodes, n_added;
	uint8_t n_names;
	bool asks_for_ports; /* by an interface or one agent: then its uplinks count as well */
	uint32_t fields;     /* that it looks at */
	bool asks_for_groups;
	struct filter_groups groups; /* once they are bound */
	struct filter_node nodes[FILTER_NODES_MAX]; /* the first is the root: all of what was added */
	struct filter_name {
		uint8_t field;
		uint16_t at; /* in name_text */
	} names[FILTER_NAMES_MAX];
	uint16_t name_octets;
	char name_text[FILTER_TEXT_MAX + FILTER_NAMES_MAX];
	char text[FILTER_TEXT_MAX + 1]; /* all of it as one expression; "" if nothing was added */
};

/* Adds an expression, which must hold beside what was added before. A zeroed filter lets all pass. 0, or -EINVAL
 * with error, "column 12: expected …, not …", and the filter as it was. */
int filter_add(struct filter *filter, const char *text, char error[FILTER_ERROR_TEXT]);

/* Finds the groups that the filter asks for. 0, or -EINVAL with error: one of them does not exist. What groups has is
 * borrowed as long as the filter is judged. */
int filter_bind_groups(struct filter *filter, const struct filter_groups *groups, char error[FILTER_ERROR_TEXT]);

/* Writes "WORD NAME", the name quoted as the language needs it. False if it does not fit. */
bool filter_write_name(const char *word, const char *name, char *text, size_t size);

/* What is known of a subject. Of a field that is known and not there, no term holds. */
struct filter_subject {
	uint32_t known, there; /* sets of fields; there: among the known ones */
	uint32_t named;	       /* bit i: names[i] is the name of its place; of fields in known */
	uint8_t n_octets[FILTER_N_FIELDS]; /* of addresses */
	const uint8_t *address[FILTER_N_FIELDS];
	uint32_t number[FILTER_N_FIELDS];
};

enum filter_answer { FILTER_NO, FILTER_YES, FILTER_NOT_KNOWN };

enum filter_answer filter_judge(const struct filter *filter, const struct filter_subject *subject);

/* Setting what is known: that there is no such field, or its value. */
void filter_set_absent(struct filter_subject *subject, uint32_t fields);
void filter_set_number(struct filter_subject *subject, enum filter_field field, uint32_t number);
void filter_set_address(struct filter_subject *subject, enum filter_field field, const uint8_t *octets,
    size_t n_octets);

static inline const char *
filter_name(const struct filter *filter, size_t i)
{
	return filter->name_text + filter->names[i].at;
}

/* The first term that looks at one of these fields; NULL: there is none. */
const struct filter_node *filter_find(const struct filter *filter, uint32_t fields);

/* "vlan", "port": what the field is called in the language. */
const char *filter_field_word(enum filter_field field);

/* 10.0.0.0/8, 10.1.2.3, 2001:db8::/32, 00:11:22:33:44:55, 00:11:22. 0 or -EINVAL. */
int filter_parse_prefix(const char *text, struct filter_prefix *prefix);

/* Whether these octets are an address of the prefix. */
bool filter_in_prefix(const struct filter_prefix *prefix, size_t n_octets, const uint8_t *octets);

/* The first bits of octets, and zeros behind them up to FRAME_IP_LEN. */
void filter_cut(const uint8_t *octets, unsigned bits, uint8_t cut[FRAME_IP_LEN]);

#endif
