#include "common/trap_wire.h"

#include "common/buf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	VLAN_ID_MAX = 4095,
	SAMPLE_OID_LEN = EASE_ROOT_LEN + 7,
	PORT_INFO_OID_LEN = EASE_ROOT_LEN + 6,
	/* In a notification: part u8, ifIndex u32, sequence u32, length u16, then the value. */
	PART_HEADER_OCTETS = 11,
	PART_LENGTH_AT = 9,
};

/*
 * The most octets that a message has in BER (X.690; RFC 3416 section 3). Lengths are those of
 * Net-SNMP's longest form: four octets of tag and length for each constructed value.
 */
enum {
	BER_SEQUENCE = 4,	 /* 30 82 xx xx */
	BER_SHORT = 2,		 /* tag and length of contents under 128 octets */
	BER_U32 = BER_SHORT + 5, /* a leading zero octet keeps it positive */
	BER_ARC = 5,		 /* of 32 bits, seven in an octet */
	BER_ROOT = 12,		 /* EASE_ROOT: 1.3 in one octet, three arcs of two octets */
	COMMUNITY_MAX = 32,
	/* message, version, community, PDU, request id, error status and index, list of varbinds */
	BER_ENVELOPE = BER_SEQUENCE + 3 + BER_SHORT + COMMUNITY_MAX + BER_SEQUENCE + BER_U32 + 3 +
	    3 + BER_SEQUENCE,
	BER_UPTIME = BER_SEQUENCE + BER_SHORT + 8 + BER_U32,
	BER_TRAP_OID = BER_SEQUENCE + BER_SHORT + 10 + BER_SHORT + BER_ROOT + 2,
	BER_AGENT_ID = BER_SEQUENCE + BER_SHORT + BER_ROOT + 4 + BER_SHORT + EASE_AGENT_ID_LEN,
	BER_BOOT = BER_SEQUENCE + BER_SHORT + BER_ROOT + 4 + BER_U32,
	BER_MESSAGE = BER_ENVELOPE + BER_UPTIME + BER_TRAP_OID + BER_AGENT_ID + BER_BOOT,
	BER_SAMPLE_NAME = BER_SHORT + BER_ROOT + 5 + 2 * BER_ARC,
	BER_PORT_INFO_NAME = BER_SHORT + BER_ROOT + 5 + BER_ARC,

	STATE_FIXED_OCTETS = 29, /* without name and alias; layout 1 has two less */
	ADDRESS_OCTETS = 17,
	RESOURCES_OCTETS = 86,
	ERROR_SOURCE_OCTETS = 32,
	CHANGE_FIXED_OCTETS = 12, /* without its three texts */
};

static const uint32_t sample_entry[] = {EASE_SAMPLE_ENTRY, EASE_COL_SAMPLE_DATAGRAM};
static const uint32_t port_info_entry[] = {EASE_PORT_INFO_ENTRY};
#define ARCS(name) (sizeof(name) / sizeof((name)[0]))

static const struct {
	enum ease_part part;
	uint32_t column;
} port_info_columns[] = {
    {EASE_PART_SNAPSHOT, EASE_COL_SNAPSHOT},
    {EASE_PART_STATE, EASE_COL_STATE},
    {EASE_PART_ADDRESS, EASE_COL_ADDRESS},
    {EASE_PART_RESOURCES, EASE_COL_SNAPSHOT}, /* after EASE_PART_SNAPSHOT, the default */
    {EASE_PART_ERROR_SOURCE, EASE_COL_ERROR_INFO},
    {EASE_PART_CHANGE, EASE_COL_CHANGE},
};

/* An output has 31 bits there: bit 31 stands for many. */
#define WIRE_MANY 0x80000000u

static uint32_t
output_to_wire(uint64_t output_if)
{
	if (output_if >= EASE_IF_MANY)
		return WIRE_MANY | (uint32_t)output_if;
	return output_if < WIRE_MANY ? (uint32_t)output_if : EASE_IF_UNKNOWN;
}

static uint64_t
output_of_wire(uint32_t wire)
{
	return wire & WIRE_MANY ? EASE_IF_MANY + (wire & ~WIRE_MANY) : wire;
}

void
trap_wire_put_sample(struct wbuf *w, const struct ease_sample *s)
{
	if (s->kept_octets > EASE_HEADER_MAX_OCTETS)
		w->failed = true;
	wbuf_u8(w, TRAP_WIRE_LAYOUT);
	wbuf_u8(w, s->direction);
	wbuf_be64(w, s->time_us);
	wbuf_be32(w, s->input_if);
	wbuf_be32(w, output_to_wire(s->output_if));
	wbuf_be32(w, s->skip);
	wbuf_be32(w, s->mean_skip);
	wbuf_be64(w, s->pool_pkts);
	wbuf_be64(w, s->drops);
	wbuf_be32(w, s->delay_us);
	wbuf_be32(w, s->frame_octets);
	wbuf_be16(w, s->kept_octets);
	wbuf_put(w, s->header, s->kept_octets);
}

static bool
sample_in_range(const struct ease_sample *s)
{
	return (s->direction == EASE_IN || s->direction == EASE_OUT) && s->mean_skip >= 1 &&
	    s->mean_skip <= EASE_MEAN_SKIP_MAX && s->skip < 2 * EASE_MEAN_SKIP_MAX &&
	    s->kept_octets <= EASE_HEADER_MAX_OCTETS && s->kept_octets <= s->frame_octets;
}

int
trap_wire_get_sample(const void *octets, size_t len, struct ease_sample *sample)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT;
	struct ease_sample s = *sample;

	s.direction = rbuf_u8(&r);
	s.time_us = rbuf_be64(&r);
	s.input_if = rbuf_be32(&r);
	s.output_if = output_of_wire(rbuf_be32(&r));
	s.skip = rbuf_be32(&r);
	s.mean_skip = rbuf_be32(&r);
	s.pool_pkts = rbuf_be64(&r);
	s.drops = rbuf_be64(&r);
	s.delay_us = rbuf_be32(&r);
	s.frame_octets = rbuf_be32(&r);
	s.kept_octets = rbuf_be16(&r);
	s.vlan = 0; /* these five it does not carry */
	s.is_outer_vlan = s.is_packet = false;
	s.src_as = s.dst_as = 0;
	s.has_queue = s.has_depth = s.has_delay = false;
	s.header = rbuf_take(&r, s.kept_octets);
	if (!known || !rbuf_done(&r) || !sample_in_range(&s))
		return -EBADMSG;
	*sample = s;
	return 0;
}

static void
put_side(struct wbuf *w, const struct ease_side *side)
{
	wbuf_be64(w, side->octets);
	wbuf_be64(w, side->ucast_pkts);
	wbuf_be64(w, side->mcast_pkts);
	wbuf_be64(w, side->bcast_pkts);
	wbuf_be64(w, side->discards);
	wbuf_be64(w, side->errors);
}

static struct ease_side
get_side(struct rbuf *r)
{
	struct ease_side side;

	side.octets = rbuf_be64(r);
	side.ucast_pkts = rbuf_be64(r);
	side.mcast_pkts = rbuf_be64(r);
	side.bcast_pkts = rbuf_be64(r);
	side.discards = rbuf_be64(r);
	side.errors = rbuf_be64(r);
	return side;
}

void
trap_wire_put_snapshot(struct wbuf *w, const struct ease_snapshot *s)
{
	wbuf_u8(w, TRAP_WIRE_LAYOUT);
	wbuf_be64(w, s->time_us);
	put_side(w, &s->in);
	put_side(w, &s->out);
	wbuf_be64(w, s->discontinuity_us);
	wbuf_be64(w, s->samples);
	wbuf_be32(w, s->last_sequence);
	wbuf_be64(w, s->pool_in_pkts);
	wbuf_be64(w, s->pool_out_pkts);
	wbuf_be64(w, s->drops);
	wbuf_be64(w, s->stalls);
	wbuf_be64(w, s->stalled_pkts);
}

int
trap_wire_get_snapshot(const void *octets, size_t len, struct ease_snapshot *snapshot)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT;
	struct ease_snapshot s = *snapshot;

	s.time_us = rbuf_be64(&r);
	s.in = get_side(&r);
	s.out = get_side(&r);
	s.discontinuity_us = rbuf_be64(&r);
	s.samples = rbuf_be64(&r);
	s.last_sequence = rbuf_be32(&r);
	s.pool_in_pkts = rbuf_be64(&r);
	s.pool_out_pkts = rbuf_be64(&r);
	s.drops = rbuf_be64(&r);
	s.stalls = rbuf_be64(&r);
	s.stalled_pkts = rbuf_be64(&r);
	if (!known || !rbuf_done(&r))
		return -EBADMSG;
	*snapshot = s;
	return 0;
}

static void
put_name(struct wbuf *w, const char *name)
{
	size_t len = strnlen(name, EASE_NAME_MAX);

	wbuf_u8(w, (uint8_t)len);
	wbuf_put(w, name, len);
}

static bool
get_name(struct rbuf *r, char name[EASE_NAME_MAX + 1])
{
	size_t len = rbuf_u8(r);
	const uint8_t *octets = rbuf_take(r, len);

	if (!octets || len > EASE_NAME_MAX || memchr(octets, 0, len))
		return false;
	memcpy(name, octets, len);
	name[len] = '\0';
	return true;
}

void
trap_wire_put_state(struct wbuf *w, const struct ease_state *s)
{
	wbuf_u8(w, s->forwarding ? TRAP_WIRE_LAYOUT_FORWARDING : TRAP_WIRE_LAYOUT);
	wbuf_be64(w, s->time_us);
	wbuf_be64(w, s->speed_bps);
	wbuf_u8(w, s->duplex);
	wbuf_u8(w, s->admin_status);
	wbuf_u8(w, s->oper_status);
	wbuf_u8(w, s->edge);
	wbuf_be32(w, s->lag_parent);
	if (s->forwarding) {
		wbuf_u8(w, s->forwarding);
		wbuf_u8(w, s->sampled_by);
	}
	put_name(w, s->name);
	put_name(w, s->alias);
}

/* False if the values are out of range. */
static bool
get_forwarding(struct rbuf *r, struct ease_state *s)
{
	s->forwarding = rbuf_u8(r);
	s->sampled_by = rbuf_u8(r);
	return s->forwarding >= EASE_FORWARDING_SOFTWARE && s->forwarding <= EASE_FORWARDING_MIXED &&
	    s->sampled_by <= EASE_SAMPLED_BY_CHIP;
}

int
trap_wire_get_state(const void *octets, size_t len, struct ease_state *state)
{
	struct rbuf r = rbuf_of(octets, len);
	struct ease_state s = *state;
	uint8_t layout = rbuf_u8(&r), edge;
	bool good = layout == TRAP_WIRE_LAYOUT || layout == TRAP_WIRE_LAYOUT_FORWARDING;

	s.time_us = rbuf_be64(&r);
	s.speed_bps = rbuf_be64(&r);
	s.duplex = rbuf_u8(&r);
	s.admin_status = rbuf_u8(&r);
	s.oper_status = rbuf_u8(&r);
	edge = rbuf_u8(&r);
	s.edge = edge != 0;
	s.lag_parent = rbuf_be32(&r);
	good = good && s.duplex >= EASE_DUPLEX_UNKNOWN && s.duplex <= EASE_DUPLEX_FULL &&
	    s.admin_status <= EASE_IF_TESTING && s.oper_status <= EASE_IF_LOWER_LAYER_DOWN &&
	    edge <= 1;
	s.forwarding = EASE_FORWARDING_NOT_KNOWN;
	s.sampled_by = EASE_SAMPLED_NOT_KNOWN;
	if (layout == TRAP_WIRE_LAYOUT_FORWARDING)
		good = get_forwarding(&r, &s) && good;
	if (!good || !get_name(&r, s.name) || !get_name(&r, s.alias) || !rbuf_done(&r))
		return -EBADMSG;
	*state = s;
	return 0;
}

void
trap_wire_put_address(struct wbuf *w, const struct ease_address *a)
{
	wbuf_u8(w, TRAP_WIRE_LAYOUT);
	wbuf_be64(w, a->time_us);
	wbuf_be16(w, a->vlan);
	wbuf_put(w, a->mac, sizeof(a->mac));
}

int
trap_wire_get_address(const void *octets, size_t len, struct ease_address *address)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT;
	struct ease_address a = *address;
	const uint8_t *mac;

	a.time_us = rbuf_be64(&r);
	a.vlan = rbuf_be16(&r);
	mac = rbuf_take(&r, sizeof(a.mac));
	if (!known || !rbuf_done(&r) || a.vlan > VLAN_ID_MAX)
		return -EBADMSG;
	memcpy(a.mac, mac, sizeof(a.mac));
	*address = a;
	return 0;
}

static void
put_low_power(struct wbuf *w, const struct ease_low_power *side)
{
	wbuf_be64(w, side->events);
	wbuf_be64(w, side->asleep_us);
}

static struct ease_low_power
get_low_power(struct rbuf *r)
{
	struct ease_low_power side;

	side.events = rbuf_be64(r);
	side.asleep_us = rbuf_be64(r);
	return side;
}

void
trap_wire_put_resources(struct wbuf *w, const struct ease_resources *s)
{
	wbuf_u8(w, TRAP_WIRE_LAYOUT_RESOURCES);
	wbuf_be64(w, s->time_us);
	wbuf_u8(w, s->known);
	put_low_power(w, &s->in);
	put_low_power(w, &s->out);
	wbuf_be32(w, s->charged_buffers);
	wbuf_be64(w, s->pressed_episodes);
	wbuf_be64(w, s->pressed_us);
	wbuf_be64(w, s->ingress_drops);
	wbuf_be64(w, s->pauses_in);
	wbuf_be64(w, s->pauses_out);
}

int
trap_wire_get_resources(const void *octets, size_t len, struct ease_resources *resources)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT_RESOURCES;
	struct ease_resources s = *resources;

	s.time_us = rbuf_be64(&r);
	s.known = rbuf_u8(&r);
	s.in = get_low_power(&r);
	s.out = get_low_power(&r);
	s.charged_buffers = rbuf_be32(&r);
	s.pressed_episodes = rbuf_be64(&r);
	s.pressed_us = rbuf_be64(&r);
	s.ingress_drops = rbuf_be64(&r);
	s.pauses_in = rbuf_be64(&r);
	s.pauses_out = rbuf_be64(&r);
	if (!known || !rbuf_done(&r) || s.known & ~(EASE_HAS_LOW_POWER | EASE_HAS_BUFFERS | EASE_HAS_PAUSE))
		return -EBADMSG;
	*resources = s;
	return 0;
}

void
trap_wire_put_error_source(struct wbuf *w, const struct ease_error_source *s)
{
	wbuf_u8(w, TRAP_WIRE_LAYOUT);
	wbuf_be64(w, s->time_us);
	wbuf_be64(w, s->first_us);
	wbuf_put(w, s->mac, sizeof(s->mac));
	wbuf_u8(w, (uint8_t)s->kind);
	wbuf_be64(w, s->count);
}

int
trap_wire_get_error_source(const void *octets, size_t len, struct ease_error_source *source)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT;
	struct ease_error_source s = *source;
	const uint8_t *mac;

	s.time_us = rbuf_be64(&r);
	s.first_us = rbuf_be64(&r);
	mac = rbuf_take(&r, sizeof(s.mac));
	s.kind = rbuf_u8(&r);
	s.count = rbuf_be64(&r);
	if (!known || !rbuf_done(&r) || s.kind < EASE_ERROR_FCS || s.kind > EASE_ERROR_TOO_LONG)
		return -EBADMSG;
	memcpy(s.mac, mac, sizeof(s.mac));
	*source = s;
	return 0;
}

void
trap_wire_put_change(struct wbuf *w, const struct ease_change *c)
{
	wbuf_u8(w, TRAP_WIRE_LAYOUT);
	wbuf_be64(w, c->time_us);
	put_name(w, c->object);
	put_name(w, c->before);
	put_name(w, c->after);
}

int
trap_wire_get_change(const void *octets, size_t len, struct ease_change *change)
{
	struct rbuf r = rbuf_of(octets, len);
	bool known = rbuf_u8(&r) == TRAP_WIRE_LAYOUT;
	struct ease_change c = *change;

	c.time_us = rbuf_be64(&r);
	if (!known || !get_name(&r, c.object) || !get_name(&r, c.before) || !get_name(&r, c.after) ||
	    !rbuf_done(&r))
		return -EBADMSG;
	*change = c;
	return 0;
}

static size_t
ber_octet_string(size_t len)
{
	return len + (len < 128 ? 2 : len < 256 ? 3 : 4);
}

static size_t
message_octets(enum ease_part part, size_t value_octets)
{
	return BER_SEQUENCE + (part == EASE_PART_SAMPLE ? BER_SAMPLE_NAME : BER_PORT_INFO_NAME) +
	    ber_octet_string(value_octets);
}

size_t
trap_wire_part_octets(enum ease_part part, uint16_t kept)
{
	switch (part) {
	case EASE_PART_SAMPLE:
		return message_octets(part, TRAP_WIRE_SAMPLE_FIXED_OCTETS + (size_t)kept);
	case EASE_PART_SNAPSHOT:
		return message_octets(part, TRAP_WIRE_SNAPSHOT_OCTETS);
	case EASE_PART_STATE:
		return message_octets(part, STATE_FIXED_OCTETS + 2 * EASE_NAME_MAX);
	case EASE_PART_ADDRESS:
		return message_octets(part, ADDRESS_OCTETS);
	case EASE_PART_RESOURCES:
		return message_octets(part, RESOURCES_OCTETS);
	case EASE_PART_ERROR_SOURCE:
		return message_octets(part, ERROR_SOURCE_OCTETS);
	case EASE_PART_CHANGE:
		return message_octets(part, CHANGE_FIXED_OCTETS + 3 * EASE_NAME_MAX);
	case EASE_PART_DISCARD:
	case EASE_PART_ODD:
		break;
	}
	return 0;
}

void
trap_wire_begin(struct ease_notification *n, enum ease_notification_kind kind)
{
	n->kind = kind;
	n->n_parts = 0;
	n->n_samples = 0;
	n->message_octets = BER_MESSAGE;
	n->len = 0;
}

/* Returns a writer after the parts so far, with the new part's header written except its length. */
static struct wbuf
begin_part(struct ease_notification *n, enum ease_part part, uint32_t if_index, uint32_t sequence)
{
	struct wbuf w = wbuf_of(n->data + n->len, sizeof(n->data) - n->len);

	assert(n->len <= sizeof(n->data));
	wbuf_u8(&w, (uint8_t)part);
	wbuf_be32(&w, if_index);
	wbuf_be32(&w, sequence);
	wbuf_be16(&w, 0);
	return w;
}

/* Adds the part that was written, if the message keeps within the limit. */
static int
end_part(struct ease_notification *n, const struct wbuf *w, enum ease_part part, size_t limit)
{
	size_t value_octets = w->len - PART_HEADER_OCTETS, octets;
	struct wbuf length = wbuf_of(w->data + PART_LENGTH_AT, 2);

	assert(w->failed || w->len >= PART_HEADER_OCTETS);
	if (w->failed)
		return -EMSGSIZE;
	octets = n->message_octets + message_octets(part, value_octets);
	if (octets > limit)
		return -EMSGSIZE;
	wbuf_be16(&length, (uint16_t)value_octets);
	n->message_octets = (uint32_t)octets;
	n->n_parts++;
	n->n_samples += part == EASE_PART_SAMPLE;
	n->len += w->len;
	return 0;
}

int
trap_wire_add_sample(struct ease_notification *n, const struct ease_sample *s, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_SAMPLE, s->if_index, s->sequence);

	trap_wire_put_sample(&w, s);
	return end_part(n, &w, EASE_PART_SAMPLE, limit);
}

int
trap_wire_add_snapshot(struct ease_notification *n, const struct ease_snapshot *s, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_SNAPSHOT, s->if_index, 0);

	trap_wire_put_snapshot(&w, s);
	return end_part(n, &w, EASE_PART_SNAPSHOT, limit);
}

int
trap_wire_add_state(struct ease_notification *n, const struct ease_state *s, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_STATE, s->if_index, 0);

	trap_wire_put_state(&w, s);
	return end_part(n, &w, EASE_PART_STATE, limit);
}

int
trap_wire_add_address(struct ease_notification *n, const struct ease_address *a, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_ADDRESS, a->if_index, 0);

	trap_wire_put_address(&w, a);
	return end_part(n, &w, EASE_PART_ADDRESS, limit);
}

int
trap_wire_add_resources(struct ease_notification *n, const struct ease_resources *r, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_RESOURCES, r->if_index, 0);

	trap_wire_put_resources(&w, r);
	return end_part(n, &w, EASE_PART_RESOURCES, limit);
}

int
trap_wire_add_error_source(struct ease_notification *n, const struct ease_error_source *s, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_ERROR_SOURCE, s->if_index, 0);

	trap_wire_put_error_source(&w, s);
	return end_part(n, &w, EASE_PART_ERROR_SOURCE, limit);
}

int
trap_wire_add_change(struct ease_notification *n, const struct ease_change *c, size_t limit)
{
	struct wbuf w = begin_part(n, EASE_PART_CHANGE, c->if_index, 0);

	trap_wire_put_change(&w, c);
	return end_part(n, &w, EASE_PART_CHANGE, limit);
}

bool
trap_wire_next(const struct ease_notification *n, size_t *pos, struct trap_part *part)
{
	struct rbuf r = rbuf_of(n->data + *pos, n->len - *pos);

	if (*pos >= n->len)
		return false;
	part->part = (enum ease_part)rbuf_u8(&r);
	part->if_index = rbuf_be32(&r);
	part->sequence = rbuf_be32(&r);
	part->len = rbuf_be16(&r);
	part->octets = rbuf_take(&r, part->len);
	*pos += r.pos;
	return !r.failed;
}

static uint32_t
port_info_column(enum ease_part part)
{
	for (size_t i = 0; i < ARCS(port_info_columns); i++)
		if (port_info_columns[i].part == part)
			return port_info_columns[i].column;
	return 0;
}

size_t
trap_wire_part_oid(const struct trap_part *part, uint32_t *oid)
{
	if (part->part == EASE_PART_SAMPLE) {
		memcpy(oid, sample_entry, sizeof(sample_entry));
		oid[SAMPLE_OID_LEN - 2] = part->if_index;
		oid[SAMPLE_OID_LEN - 1] = part->sequence;
		return SAMPLE_OID_LEN;
	}
	memcpy(oid, port_info_entry, sizeof(port_info_entry));
	oid[PORT_INFO_OID_LEN - 2] = port_info_column(part->part);
	oid[PORT_INFO_OID_LEN - 1] = part->if_index;
	return PORT_INFO_OID_LEN;
}

static int
parse_port_info_oid(const uint32_t *oid, struct trap_part *part)
{
	for (size_t i = 0; i < ARCS(port_info_columns); i++) {
		if (port_info_columns[i].column != oid[PORT_INFO_OID_LEN - 2])
			continue;
		part->part = port_info_columns[i].part;
		part->if_index = oid[PORT_INFO_OID_LEN - 1];
		part->sequence = 0;
		return part->if_index ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int
trap_wire_parse_oid(const uint32_t *oid, size_t n, struct trap_part *part)
{
	if (n == PORT_INFO_OID_LEN && memcmp(oid, port_info_entry, sizeof(port_info_entry)) == 0)
		return parse_port_info_oid(oid, part);
	if (n != SAMPLE_OID_LEN || memcmp(oid, sample_entry, sizeof(sample_entry)) != 0)
		return -ENOENT;
	part->part = EASE_PART_SAMPLE;
	part->if_index = oid[SAMPLE_OID_LEN - 2];
	part->sequence = oid[SAMPLE_OID_LEN - 1];
	return part->if_index && part->sequence ? 0 : -ENOENT;
}

enum ease_part
trap_wire_part_of(enum ease_part named, const void *octets, size_t len)
{
	bool resources = named == EASE_PART_SNAPSHOT && len > 0 &&
	    *(const uint8_t *)octets == TRAP_WIRE_LAYOUT_RESOURCES;

	return resources ? EASE_PART_RESOURCES : named;
}
