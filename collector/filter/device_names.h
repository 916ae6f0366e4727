/*
 * Names of agents and their ports, and the sites where they stand, from a file of the user (easecapd.conf, option
 * device_names). The collector keeps the rows of the file in its store (store/naming.h), so that whoever reads the
 * store or a cluster sees the same names; what a row means is decided here, where it is read.
 *
 *	agent 10.20.1.1          name core-1  site berlin
 *	agent 10.30.0.0/16       site "New York"
 *	agent 0123456789abcdef   name core-2
 *	agent *                  site elsewhere
 *	port 10.20.1.1 7         name uplink
 *	port 10.20.0.0/16 lab*   site lab
 *	port * Ethernet*         name e*
 *	uplink 10.20.1.1 49-52
 *	source 0123456789abcdef 192.0.2.0/24
 *
 * An agent is named by its id (16 hexadecimal digits), its address, a prefix of addresses, or *; a port by its
 * ifIndex, by the name that the device sends, or by a pattern of these with one *, whose text the * of the name
 * repeats. Names of one word need no quotes. What is behind a # is ignored.
 *
 * Name and site are decided apart, each by the most specific row that gives it: an id before an address, this before
 * longer and then shorter prefixes, * last; of the same agent an ifIndex before a name, this before longer and then
 * shorter patterns, the first in the file of equally long ones. A port without a site of its own is where its agent
 * is.
 *
 * Rows "uplink" and "source" are no names, and not in the store: they are for the collector, which reads what they say
 * (window/uplinks.h, window/agent_identity.h).
 */
#ifndef EASE_COLLECTOR_FILTER_DEVICE_NAMES_H
#define EASE_COLLECTOR_FILTER_DEVICE_NAMES_H

#include "common/frame.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEVICE_NAMES_MAX = 20000,	  /* rows */
	DEVICE_NAMES_PATTERNS_MAX = 256,  /* of them with a * in the port: each is tried on each port */
	DEVICE_NAMES_OTHERS_MAX = 4096,	  /* uplinks and sources: each is tried on each port, or agent */
	DEVICE_NAME_MAX = 56,		  /* octets of a name or site; a replaced agent's has # and digits more */
	DEVICE_NAMES_LINE_MAX = 512,	  /* octets of a line */
	DEVICE_NAMES_FILE_MAX = 12 << 20, /* octets of a file: that many rows as long as they may be */
	DEVICE_NAMES_ERROR = 400,
};

struct device_names;

/* Reads a file. 0, -ENOMEM, or with the reason in error -EINVAL for a mistake ("FILE:LINE: expected …, not …") or the
 * errno of opening and reading. */
int device_names_open(const char *path, struct device_names **names, char error[DEVICE_NAMES_ERROR]);

/* The same from a text, which errors call name. */
int device_names_parse(const char *name, const char *text, size_t octets, struct device_names **names,
    char error[DEVICE_NAMES_ERROR]);

/* Row by row, as the store has them: create, add each with its number in the file, finish, and then ask. Add returns
 * -EINVAL with "LINE: expected …", finish with "LINE: … in line N already". */
struct device_names *device_names_create(void);
int device_names_add(struct device_names *names, unsigned line, const char *text, char error[DEVICE_NAMES_ERROR]);
int device_names_finish(struct device_names *names, char error[DEVICE_NAMES_ERROR]);
void device_names_destroy(struct device_names *names); /* accepts NULL */

/* The i-th row, in the order of the file, to be added elsewhere: its text without comment and blanks at its ends. */
const char *device_names_row(const struct device_names *names, size_t i);
size_t device_names_n_rows(const struct device_names *names);

/* The i-th row "uplink" or "source": what stands behind that word, with "any" for *. NULL: there are no more. */
struct device_names_other {
	const char *text;
	bool is_uplink;
	unsigned line;
};
struct device_names_other device_names_other(const struct device_names *names, size_t i);

/* What the rows say of one agent. Texts live as long as the names. */
enum { DEVICE_NAMES_SELECTORS = 8 * FRAME_IP_LEN + 3 };
struct device_names_agent {
	const char *name, *site; /* NULL: no row gives it */
	bool has_port_sites;	 /* rows give ports of it sites of their own */
	/* The rows of its ports, by how specific their agents are. */
	size_t n_ranges;
	struct device_names_range {
		uint32_t from, to;
	} ranges[DEVICE_NAMES_SELECTORS];
};

/* address: as text, of IPv4 or IPv6; other texts match * alone. */
void device_names_of_agent(const struct device_names *names, const uint8_t id[EASE_AGENT_ID_LEN], const char *address,
    struct device_names_agent *agent);

/* sent: the name that the device sends. name: "" if no row gives one; *site: NULL if none gives one to the port. */
void device_names_of_port(const struct device_names *names, const struct device_names_agent *agent, uint64_t if_index,
    const char *sent, char name[EASE_NAME_MAX + 1], const char **site);

/* Whether a row gives this site. */
bool device_names_has_site(const struct device_names *names, const char *site);

#endif
