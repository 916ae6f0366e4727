#include "tests/collector/input/trap_builder.h"
#include "common/buf.h"

#include <stdlib.h>
#include <string.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

enum {
	TAG_INTEGER = 0x02,
	TAG_OCTETS = 0x04,
	TAG_OID = 0x06,
	TAG_SEQUENCE = 0x30,
	TAG_UNSIGNED32 = 0x42,
	TAG_TIMETICKS = 0x43,
};

static size_t
arc_octets(uint32_t arc, uint8_t *octets)
{
	size_t n = 1;

	while (n < 5 && arc >> 7 * n)
		n++;
	for (size_t i = 0; i < n; i++)
		octets[i] = (uint8_t)((arc >> 7 * (n - 1 - i) & 0x7f) | (i + 1 < n ? 0x80 : 0));
	return n;
}

size_t
trap_oid_octets(const uint32_t *oid, size_t n_arcs, uint8_t *octets)
{
	size_t n = arc_octets(oid[0] * 40 + oid[1], octets);

	for (size_t i = 2; i < n_arcs; i++)
		n += arc_octets(oid[i], octets + n);
	return n;
}

static void
put_header(struct wbuf *w, uint8_t tag, size_t len)
{
	wbuf_u8(w, tag);
	wbuf_u8(w, 0x82);
	wbuf_be16(w, (uint16_t)len);
}

static void
put_value(struct wbuf *w, uint8_t tag, const void *value, size_t len)
{
	put_header(w, tag, len);
	wbuf_put(w, value, len);
}

static size_t
varbind_octets(const struct trap_varbind *v, uint8_t *octets, size_t room)
{
	struct wbuf w = wbuf_of(octets, room);
	uint8_t oid[5 * TRAP_OID_ARCS_MAX];
	size_t oid_len = trap_oid_octets(v->oid, v->n_arcs, oid);

	put_header(&w, TAG_SEQUENCE, 4 + oid_len + 4 + v->len);
	put_value(&w, TAG_OID, oid, oid_len);
	put_value(&w, v->tag, v->value, v->len);
	if (w.failed)
		abort();
	return w.len;
}

size_t
trap_build(const struct trap_message *m, uint8_t *octets, size_t room)
{
	static uint8_t list[1 << 16];
	const uint32_t id = 0x12345678 + m->request_id;
	const uint8_t version = (uint8_t)m->version, zero = 0;
	const uint8_t request_id[] = {(uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8),
	    (uint8_t)id};
	struct wbuf w = wbuf_of(octets, room);
	size_t n = 0, pdu_len, community_len = strlen(m->community);

	for (size_t i = 0; i < m->n; i++)
		n += varbind_octets(&m->varbinds[i], list + n, sizeof(list) - n);
	pdu_len = 4 + sizeof(request_id) + 5 + 5 + 4 + n;
	put_header(&w, TAG_SEQUENCE, 5 + 4 + community_len + 4 + pdu_len);
	put_value(&w, TAG_INTEGER, &version, 1);
	put_value(&w, TAG_OCTETS, m->community, community_len);
	put_header(&w, m->pdu, pdu_len);
	put_value(&w, TAG_INTEGER, request_id, sizeof(request_id));
	put_value(&w, TAG_INTEGER, &zero, 1);
	put_value(&w, TAG_INTEGER, &zero, 1);
	put_value(&w, TAG_SEQUENCE, list, n);
	if (w.failed)
		abort();
	return w.len;
}

struct trap_varbind *
trap_add(struct trap_message *m, const uint32_t *oid, size_t n_arcs, uint8_t tag,
    const void *value, size_t len)
{
	struct trap_varbind *v = &m->varbinds[m->n++];

	if (m->n > TRAP_VARBINDS_MAX || len > TRAP_VALUE_MAX || n_arcs > TRAP_OID_ARCS_MAX)
		abort();
	memcpy(v->oid, oid, n_arcs * sizeof(*oid));
	v->n_arcs = n_arcs;
	v->tag = tag;
	memcpy(v->value, value, len);
	v->len = len;
	return v;
}

void
trap_start(struct trap_message *m, const char *community, enum ease_notification_kind kind,
    const uint8_t agent_id[8], uint32_t boot)
{
	static const uint32_t up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
	static const uint32_t trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
	static const uint32_t id_oid[] = {EASE_ROOT, 1, 1, 1, 0};
	static const uint32_t boot_oid[] = {EASE_ROOT, 1, 1, 2, 0};
	const uint32_t notification[] = {EASE_ROOT, 0, (uint32_t)kind};
	const uint8_t ticks[] = {0x00, 0xff, 0xff, 0xff, 0xff};
	const uint8_t boot_value[] = {0, (uint8_t)(boot >> 24), (uint8_t)(boot >> 16),
	    (uint8_t)(boot >> 8), (uint8_t)boot};
	size_t skip = 0, value_len;
	uint8_t value[5 * TRAP_OID_ARCS_MAX];

	m->version = 1;
	m->community = community;
	m->pdu = 0xa7;
	m->n = 0;
	while (skip < 4 && boot_value[skip] == 0 && !(boot_value[skip + 1] & 0x80))
		skip++;
	trap_add(m, up_time, ARCS(up_time), TAG_TIMETICKS, ticks, sizeof(ticks));
	value_len = trap_oid_octets(notification, ARCS(notification), value);
	trap_add(m, trap_oid, ARCS(trap_oid), TAG_OID, value, value_len);
	trap_add(m, id_oid, ARCS(id_oid), TAG_OCTETS, agent_id, 8);
	trap_add(m, boot_oid, ARCS(boot_oid), TAG_UNSIGNED32, boot_value + skip, 5 - skip);
}

static void
add_part(struct trap_message *m, enum ease_part kind, uint32_t if_index, uint32_t sequence,
    const struct wbuf *w)
{
	const struct trap_part part = {.part = kind, .if_index = if_index, .sequence = sequence};
	uint32_t oid[TRAP_WIRE_OID_MAX];
	size_t n = trap_wire_part_oid(&part, oid);

	if (w->failed)
		abort();
	trap_add(m, oid, n, TAG_OCTETS, w->data, w->len);
}

void
trap_add_sample(struct trap_message *m, const struct ease_sample *s)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_sample(&w, s);
	add_part(m, EASE_PART_SAMPLE, s->if_index, s->sequence, &w);
}

void
trap_add_snapshot(struct trap_message *m, const struct ease_snapshot *s)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_snapshot(&w, s);
	add_part(m, EASE_PART_SNAPSHOT, s->if_index, 0, &w);
}

void
trap_add_state(struct trap_message *m, const struct ease_state *s)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_state(&w, s);
	add_part(m, EASE_PART_STATE, s->if_index, 0, &w);
}

void
trap_add_address(struct trap_message *m, const struct ease_address *a)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_address(&w, a);
	add_part(m, EASE_PART_ADDRESS, a->if_index, 0, &w);
}

void
trap_add_resources(struct trap_message *m, const struct ease_resources *r)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_resources(&w, r);
	add_part(m, EASE_PART_RESOURCES, r->if_index, 0, &w);
}

void
trap_add_error_source(struct trap_message *m, const struct ease_error_source *s)
{
	uint8_t octets[TRAP_VALUE_MAX];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_error_source(&w, s);
	add_part(m, EASE_PART_ERROR_SOURCE, s->if_index, 0, &w);
}
