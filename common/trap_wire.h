/*
 * Samples and what goes with them <-> the values of EASE-SAMPLING-MIB's notifications, without
 * any I/O. The agent packs parts into a struct ease_notification (what its ring holds and its
 * SNMP thread turns into varbinds); the collector unpacks the same values from varbinds. The
 * layouts are written down in mibs/EASE-SAMPLING-MIB.txt so that third parties can decode them.
 *
 * Decoders are strict: a value with octets missing, octets left over, an unknown layout number or
 * a field out of its range is -EBADMSG and nothing of it may be used.
 */
#ifndef EASE_COMMON_TRAP_WIRE_H
#define EASE_COMMON_TRAP_WIRE_H

#include "common/ease_oid.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TRAP_WIRE_LAYOUT = 1,		    /* of every value below but resources */
	TRAP_WIRE_LAYOUT_RESOURCES = 2,	    /* an easeSnapshot of the second kind */
	TRAP_WIRE_SAMPLE_FIXED_OCTETS = 52, /* a datagram without its frame octets */
	TRAP_WIRE_SNAPSHOT_OCTETS = 165,
	TRAP_WIRE_MESSAGE_MIN = 720,	    /* one full sample and its snapshot must fit */
	TRAP_WIRE_MESSAGE_DEFAULT = 1400,   /* no fragment on Ethernet, in IPv6 and v3 too */
	TRAP_WIRE_MESSAGE_MAX = 8192,	    /* jumbo frames */
	TRAP_WIRE_OID_MAX = EASE_ROOT_LEN + 7, /* longest name: a sample's */
};

/* Each encoder writes one value to w (sticky failure); each decoder reads exactly one value.
 * if_index and sequence are not in the value but in its name: decoders leave them alone. */
struct rbuf;
struct wbuf;
void trap_wire_put_sample(struct wbuf *w, const struct ease_sample *sample);
void trap_wire_put_snapshot(struct wbuf *w, const struct ease_snapshot *snapshot);
void trap_wire_put_state(struct wbuf *w, const struct ease_state *state);
void trap_wire_put_address(struct wbuf *w, const struct ease_address *address);
void trap_wire_put_resources(struct wbuf *w, const struct ease_resources *resources);
void trap_wire_put_error_source(struct wbuf *w, const struct ease_error_source *source);
int trap_wire_get_sample(const void *octets, size_t len, struct ease_sample *sample);
int trap_wire_get_snapshot(const void *octets, size_t len, struct ease_snapshot *snapshot);
int trap_wire_get_state(const void *octets, size_t len, struct ease_state *state);
int trap_wire_get_address(const void *octets, size_t len, struct ease_address *address);
int trap_wire_get_resources(const void *octets, size_t len, struct ease_resources *resources);
int trap_wire_get_error_source(const void *octets, size_t len, struct ease_error_source *source);

/* One notification under construction or in a queue: parts in their order, flattened. Agent id
 * and boot are not in it; the SNMP side puts them first. */
struct ease_notification {
	enum ease_notification_kind kind;
	uint16_t n_parts;
	uint16_t n_samples;
	uint32_t message_octets; /* upper bound of the SNMP message: v2c envelope, uptime, trap OID,
				    agent id, boot, and the parts so far */
	size_t len;
	uint8_t data[TRAP_WIRE_MESSAGE_MAX];
};

struct trap_part {
	enum ease_part part;
	uint32_t if_index;
	uint32_t sequence;     /* of a sample; else 0 */
	const uint8_t *octets; /* the value, borrowed from the notification */
	size_t len;
};

void trap_wire_begin(struct ease_notification *n, enum ease_notification_kind kind);

/* Adds a part if the message then stays within limit octets; else -EMSGSIZE and n is unchanged. */
int trap_wire_add_sample(struct ease_notification *n, const struct ease_sample *s, size_t limit);
int trap_wire_add_snapshot(struct ease_notification *n, const struct ease_snapshot *s, size_t limit);
int trap_wire_add_state(struct ease_notification *n, const struct ease_state *s, size_t limit);
int trap_wire_add_address(struct ease_notification *n, const struct ease_address *a, size_t limit);
int trap_wire_add_resources(struct ease_notification *n, const struct ease_resources *r,
    size_t limit);
int trap_wire_add_error_source(struct ease_notification *n, const struct ease_error_source *s,
    size_t limit);

/* Octets that one more part of that kind adds to the message at most (kept: frame octets of a
 * sample, ignored for the others). */
size_t trap_wire_part_octets(enum ease_part part, uint16_t kept);

/* Steps through the parts: *pos starts at 0; false at the end. */
bool trap_wire_next(const struct ease_notification *n, size_t *pos, struct trap_part *part);

/* Name of a part's varbind; oid has room for TRAP_WIRE_OID_MAX arcs; the number of arcs. */
size_t trap_wire_part_oid(const struct trap_part *part, uint32_t *oid);

/* The inverse: which part a varbind name is; 0, or -ENOENT for any other name. Sets part,
 * if_index and sequence only. */
int trap_wire_parse_oid(const uint32_t *oid, size_t n, struct trap_part *part);

/* One name has two layouts: the part that a name parsed as, once its value's first octet is known.
 */
enum ease_part trap_wire_part_of(enum ease_part named, const void *octets, size_t len);

#endif
