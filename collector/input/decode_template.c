#include "collector/input/decode_template.h"
#include "collector/input/ber.h"
#include "common/trap_wire.h"

#include <string.h>

static struct decode_template *
template_slot_of(struct decode_templates *templates, size_t n)
{
	return &templates->slots[n % DECODE_TEMPLATES_MAX];
}

/* Learning: the message is known to be good, so only the places of its fields are needed. */

static void
template_add_field(struct decode_template *s, const uint8_t *octets, const struct rbuf *content, size_t skip,
    enum template_field_kind kind, enum ease_part part)
{
	if (s->n_fields < TEMPLATE_FIELDS_MAX) {
		s->fields[s->n_fields].at = (uint16_t)(content->data + skip - octets);
		s->fields[s->n_fields].n = (uint16_t)(content->size - skip);
		s->fields[s->n_fields].kind = (uint8_t)kind;
		s->fields[s->n_fields].part = (uint8_t)part;
	}
	s->n_fields++;
}

/* Octets of a name without its last arcs. */
static size_t
octets_before_last(const struct rbuf *name, size_t arcs)
{
	size_t at = name->size;

	while (at > 0 && arcs > 0)
		for (at--, arcs--; at > 0 && name->data[at - 1] & 0x80;)
			at--;
	return at;
}

static bool
template_add_part(struct decode_template *s, const uint8_t *octets, const struct rbuf *name, const struct rbuf *value)
{
	struct trap_part part;
	struct ber_oid oid;
	bool is_sample;

	if (ber_oid(*name, &oid) < 0 || trap_wire_parse_oid(oid.arcs, oid.n, &part) < 0)
		return false;
	part.part = trap_wire_part_of(part.part, value->data, value->size);
	is_sample = part.part == EASE_PART_SAMPLE;
	if (!is_sample && part.part != EASE_PART_SNAPSHOT && part.part != EASE_PART_RESOURCES)
		return false;
	template_add_field(s, octets, name, octets_before_last(name, is_sample ? 2 : 1),
	    is_sample ? TEMPLATE_SAMPLE_NAME : TEMPLATE_PORT_NAME, part.part);
	template_add_field(s, octets, value, 0, TEMPLATE_VALUE, part.part);
	return true;
}

/* The variable bindings are uptime, trap OID, agent, boot and the parts. */
static bool
find_fields(struct decode_template *s, const uint8_t *octets, struct rbuf *list)
{
	struct rbuf pair, name, value;
	uint8_t tag;

	for (int i = 0; rbuf_left(list) > 0; i++) {
		if (ber_next(list, &tag, &pair) < 0 || ber_next(&pair, &tag, &name) < 0 ||
		    ber_next(&pair, &tag, &value) < 0)
			return false;
		if (i == 0)
			template_add_field(s, octets, &value, 0, TEMPLATE_UPTIME, 0);
		else if (i == 2)
			template_add_field(s, octets, &value, 0, TEMPLATE_AGENT_ID, 0);
		else if (i > 3 && !template_add_part(s, octets, &name, &value))
			return false;
	}
	return s->n_fields <= TEMPLATE_FIELDS_MAX;
}

static bool
find_list(struct decode_template *s, const uint8_t *octets, size_t n, struct rbuf *list)
{
	struct rbuf all = rbuf_of(octets, n), body, pdu, skipped, request_id;
	uint8_t tag;

	if (ber_next(&all, &tag, &body) < 0 || ber_next(&body, &tag, &skipped) < 0 ||
	    ber_next(&body, &tag, &skipped) < 0 || ber_next(&body, &tag, &pdu) < 0 ||
	    ber_next(&pdu, &tag, &request_id) < 0 || ber_next(&pdu, &tag, &skipped) < 0 ||
	    ber_next(&pdu, &tag, &skipped) < 0 || ber_next(&pdu, &tag, list) < 0)
		return false;
	template_add_field(s, octets, &request_id, 0, TEMPLATE_REQUEST_ID, 0);
	return true;
}

static void
learn_layout(struct decode_template *s, const uint8_t *octets, size_t n, const struct decode_result *result)
{
	struct rbuf list;

	s->octets_n = s->n_fields = 0;
	if (n > TEMPLATE_OCTETS_MAX || result->n_ignored > 0 ||
	    (result->kind != EASE_NOTIFY_SAMPLES && result->kind != EASE_NOTIFY_COUNTERS) ||
	    !find_list(s, octets, n, &list) || !find_fields(s, octets, &list))
		return;
	memcpy(s->octets, octets, n);
	s->kind = result->kind;
	s->boot = result->records[0].boot;
	s->octets_n = (uint16_t)n;
}

/* Using */

/* True if the message equals the template outside its fields, which are in rising order. */
static bool
matches_layout(const struct decode_template *s, const uint8_t *octets, size_t n)
{
	size_t at = 0;

	if (s->octets_n != n)
		return false;
	for (size_t i = 0; i < s->n_fields; i++) {
		if (memcmp(s->octets + at, octets + at, s->fields[i].at - at) != 0)
			return false;
		at = (size_t)s->fields[i].at + s->fields[i].n;
	}
	return memcmp(s->octets + at, octets + at, n - at) == 0;
}

/* Reads the last arcs of a name: exactly these, and none is 0 (RFC 2578 section 7.7: indices). */
static bool
take_arcs(struct rbuf tail, uint32_t *first, uint32_t *second)
{
	if (ber_arc(&tail, first) < 0 || *first == 0)
		return false;
	if (second && (ber_arc(&tail, second) < 0 || *second == 0))
		return false;
	return rbuf_done(&tail);
}

static void
start_record(const struct decode_template *s, const uint8_t *agent_id,
    const struct decode_origin *origin, struct ease_record *r)
{
	r->boot = s->boot;
	r->loose_numbers = false;
	r->sender = origin->sender;
	r->source = NULL;
	r->received_us = origin->received_us;
	memcpy(r->agent_id, agent_id, EASE_AGENT_ID_LEN);
}

static bool
read_fields(const struct decode_template *s, const uint8_t *octets,
    const struct decode_origin *origin, struct decode_result *result)
{
	const uint8_t *agent_id = NULL;
	struct trap_part part = {0};
	uint32_t uptime;
	int32_t request_id;

	result->n = 0;
	for (size_t i = 0; i < s->n_fields; i++) {
		const struct rbuf field = rbuf_of(octets + s->fields[i].at, s->fields[i].n);
		bool good = true;

		switch ((enum template_field_kind)s->fields[i].kind) {
		case TEMPLATE_REQUEST_ID:
			good = ber_integer(field, &request_id) == 0;
			break;
		case TEMPLATE_UPTIME:
			good = ber_unsigned32(field, &uptime) == 0;
			break;
		case TEMPLATE_AGENT_ID:
			agent_id = field.data;
			break;
		case TEMPLATE_SAMPLE_NAME:
			good = take_arcs(field, &part.if_index, &part.sequence);
			break;
		case TEMPLATE_PORT_NAME:
			good = take_arcs(field, &part.if_index, NULL);
			break;
		case TEMPLATE_VALUE:
			part.part = (enum ease_part)s->fields[i].part;
			part.octets = field.data;
			part.len = field.size;
			start_record(s, agent_id, origin, &result->records[result->n]);
			good = decode_part(&part, &result->records[result->n++]) == 0;
			break;
		}
		if (!good)
			return false;
	}
	result->kind = s->kind;
	result->n_ignored = 0;
	return true;
}

void
decode_templates_forget(struct decode_templates *templates)
{
	for (size_t i = 0; i < DECODE_TEMPLATES_MAX; i++)
		templates->slots[i].octets_n = 0;
}

bool
decode_templates_match(const struct decode_templates *templates, const void *octets, size_t n)
{
	return n > 0 && matches_layout(&templates->slots[n % DECODE_TEMPLATES_MAX], octets, n);
}

enum decode_verdict
decode_templates_decode(struct decode_templates *templates, const void *octets, size_t n,
    const char *const *communities, size_t n_communities, const struct decode_origin *origin,
    struct decode_result *result)
{
	struct decode_template *s = template_slot_of(templates, n);
	enum decode_verdict verdict;

	if (n > 0 && matches_layout(s, octets, n) && read_fields(s, octets, origin, result))
		return DECODE_OK;
	verdict = decode_notification(octets, n, communities, n_communities, origin, result);
	if (verdict == DECODE_OK)
		learn_layout(s, octets, n, result);
	return verdict;
}
