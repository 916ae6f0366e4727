/*
 * Encodes and decodes the values in EASE-SAMPLING-MIB's notifications: samples, snapshots, states
 * and the like (called parts), without any I/O. The agent packs parts into a struct
 * ease_notification, which it queues and its SNMP thread turns into variable bindings; the
 * collector decodes the same values from variable bindings. mibs/EASE-SAMPLING-MIB.txt describes
 * the layouts, so that third parties can decode them.
 *
 * Decoders are strict: they return -EBADMSG for a value with octets missing or left over, an
 * unknown layout number, or a field out of its range; then nothing of it may be used.
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
	TRAP_WIRE_LAYOUT_RESOURCES = 2,	    /* the second layout of easeSnapshot */
	TRAP_WIRE_LAYOUT_FORWARDING = 2,    /* the second layout of easeState: what a device tells of forwarding */
	TRAP_WIRE_SAMPLE_FIXED_OCTETS = 52, /* a sample without its header */
	TRAP_WIRE_SNAPSHOT_OCTETS = 165,
	TRAP_WIRE_MESSAGE_MIN = 720,	    /* one full sample and its snapshot must fit */
	TRAP_WIRE_MESSAGE_DEFAULT = 1400,   /* no fragment on Ethernet, even in IPv6 and SNMPv3 */
	TRAP_WIRE_MESSAGE_MAX = 8192,	    /* jumbo frames */
	TRAP_WIRE_OID_MAX = EASE_ROOT_LEN + 7, /* longest name: a sample's */
};

/* Each encoder writes one value to w, or sets w->failed; each decoder reads exactly one value.
 * if_index and sequence are in the name of the variable binding, so decoders do not set them. */
struct rbuf;
struct wbuf;
void trap_wire_put_sample(struct wbuf *w, const struct ease_sample *sample);
void trap_wire_put_snapshot(struct wbuf *w, const struct ease_snapshot *snapshot);
void trap_wire_put_state(struct wbuf *w, const struct ease_state *state);
void trap_wire_put_address(struct wbuf *w, const struct ease_address *address);
void trap_wire_put_resources(struct wbuf *w, const struct ease_resources *resources);
void trap_wire_put_error_source(struct wbuf *w, const struct ease_error_source *source);
void trap_wire_put_change(struct wbuf *w, const struct ease_change *change);
int trap_wire_get_sample(const void *octets, size_t len, struct ease_sample *sample);
int trap_wire_get_snapshot(const void *octets, size_t len, struct ease_snapshot *snapshot);
int trap_wire_get_state(const void *octets, size_t len, struct ease_state *state);
int trap_wire_get_address(const void *octets, size_t len, struct ease_address *address);
int trap_wire_get_resources(const void *octets, size_t len, struct ease_resources *resources);
int trap_wire_get_error_source(const void *octets, size_t len, struct ease_error_source *source);
int trap_wire_get_change(const void *octets, size_t len, struct ease_change *change);

/* A notification that is being built or is queued: its parts one after another, encoded. Agent id
 * and boot are not in it; the SNMP thread puts them first. */
struct ease_notification {
	enum ease_notification_kind kind;
	uint16_t n_parts;
	uint16_t n_samples;
	uint32_t message_octets; /* upper bound of the SNMPv2c message: its head, uptime, trap OID,
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
int trap_wire_add_snapshot(struct ease_notification *n, const struct ease_snapshot *s,
    size_t limit);
int trap_wire_add_state(struct ease_notification *n, const struct ease_state *s, size_t limit);
int trap_wire_add_address(struct ease_notification *n, const struct ease_address *a, size_t limit);
int trap_wire_add_resources(struct ease_notification *n, const struct ease_resources *r,
    size_t limit);
int trap_wire_add_error_source(struct ease_notification *n, const struct ease_error_source *s,
    size_t limit);
int trap_wire_add_change(struct ease_notification *n, const struct ease_change *c, size_t limit);

/* The most octets that another part of that kind adds to the message. kept: octets of a sample's
 * header; ignored for other parts. */
size_t trap_wire_part_octets(enum ease_part part, uint16_t kept);

/* Steps through the parts; *pos begins as 0. False at the end. */
bool trap_wire_next(const struct ease_notification *n, size_t *pos, struct trap_part *part);

/* Writes the name of a part's variable binding to oid, which has room for TRAP_WIRE_OID_MAX arcs.
 * Returns the number of arcs. */
size_t trap_wire_part_oid(const struct trap_part *part, uint32_t *oid);

/* Finds the part that a variable binding's name stands for. 0, or -ENOENT for any other name. Sets
 * part, if_index and sequence only. */
int trap_wire_parse_oid(const uint32_t *oid, size_t n, struct trap_part *part);

/* The name of a snapshot has two layouts. Returns the part that the value's first octet, the number
 * of its layout, says; for all other names the part that was named. */
enum ease_part trap_wire_part_of(enum ease_part named, const void *octets, size_t len);

#endif
