#include "collector/input/decode.h"
#include "collector/input/event.h"
#include "common/trap_wire.h"
#include "common/utf8.h"

#include <string.h>

#define ARCS(a)	    (sizeof(a) / sizeof((a)[0]))
#define PART_BIT(p) (1u << (p))

static const uint32_t sys_up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
static const uint32_t snmp_trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
static const uint32_t ease_notifications[] = {EASE_ROOT, 0};
static const uint32_t ease_agent_id[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID, 0};
static const uint32_t ease_boot[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};

/* The columns that this program knows. A name below one of them must be complete. */
static const uint32_t sample_column[] = {EASE_SAMPLE_ENTRY, EASE_COL_SAMPLE_DATAGRAM};
static const uint32_t snapshot_column[] = {EASE_PORT_INFO_ENTRY, EASE_COL_SNAPSHOT};
static const uint32_t state_column[] = {EASE_PORT_INFO_ENTRY, EASE_COL_STATE};
static const uint32_t address_column[] = {EASE_PORT_INFO_ENTRY, EASE_COL_ADDRESS};
static const uint32_t error_info_column[] = {EASE_PORT_INFO_ENTRY, EASE_COL_ERROR_INFO};

/* The parts that each kind of notification may have, and those of which it must have one. */
static const struct {
	uint32_t allowed, needed;
} notification_parts[] = {
    [EASE_NOTIFY_SAMPLES] = {PART_BIT(EASE_PART_SAMPLE) | PART_BIT(EASE_PART_SNAPSHOT),
	PART_BIT(EASE_PART_SAMPLE)},
    [EASE_NOTIFY_COUNTERS] = {PART_BIT(EASE_PART_SNAPSHOT) | PART_BIT(EASE_PART_RESOURCES),
	PART_BIT(EASE_PART_SNAPSHOT) | PART_BIT(EASE_PART_RESOURCES)},
    [EASE_NOTIFY_PORT_STATE] = {PART_BIT(EASE_PART_STATE), PART_BIT(EASE_PART_STATE)},
    [EASE_NOTIFY_NEW_ADDRESS] = {PART_BIT(EASE_PART_ADDRESS), PART_BIT(EASE_PART_ADDRESS)},
    [EASE_NOTIFY_ERROR_SOURCE] = {PART_BIT(EASE_PART_ERROR_SOURCE),
	PART_BIT(EASE_PART_ERROR_SOURCE)},
};

static const char *const verdict_texts[DECODE_N_VERDICTS] = {
    [DECODE_OK] = "good",
    [DECODE_BAD_PARSE] = "not an SNMP notification",
    [DECODE_BAD_CODING] = "not encoded as RFC 3417 requires",
    [DECODE_V3] = "it is SNMPv3, and the configuration has no SNMPv3 user",
    [DECODE_INFORM] = "an inform, which is not accepted here",
    [DECODE_EVENT] = "an event, which is not accepted here",
    [DECODE_BAD_VERSION] = "neither SNMPv2c nor SNMPv3",
    [DECODE_BAD_COMMUNITY] = "its community is not in the option communities; add it to accept it",
    [DECODE_BAD_PDU] = "neither a trap nor an inform",
    [DECODE_FOREIGN] = "the collector stores no such notification",
    [DECODE_BAD_VALUE] = "a value breaks EASE-SAMPLING-MIB",
    [DECODE_BAD_PARTS] = "parts are missing, or belong to another kind of notification",
    [DECODE_TOO_MANY] = "it has more parts than the collector takes in one notification",
};

const char *
decode_verdict_text(enum decode_verdict verdict)
{
	return verdict_texts[verdict];
}

static bool
decode_is_oid(const struct ber_oid *oid, const uint32_t *arcs, size_t n)
{
	return oid->n == n && memcmp(oid->arcs, arcs, n * sizeof(*arcs)) == 0;
}

static bool
is_below(const struct ber_oid *oid, const uint32_t *arcs, size_t n)
{
	return oid->n > n && memcmp(oid->arcs, arcs, n * sizeof(*arcs)) == 0;
}

static bool
in_known_column(const struct ber_oid *oid)
{
	return is_below(oid, sample_column, ARCS(sample_column)) ||
	    is_below(oid, snapshot_column, ARCS(snapshot_column)) ||
	    is_below(oid, state_column, ARCS(state_column)) ||
	    is_below(oid, address_column, ARCS(address_column)) ||
	    is_below(oid, error_info_column, ARCS(error_info_column));
}

static bool
community_is_known(const struct rbuf *community, const char *const *communities, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(communities[i]) == community->size &&
		    memcmp(communities[i], community->data, community->size) == 0)
			return true;
	return false;
}

/* Reads the two bindings that every notification begins with (RFC 3416 section 4.2.6). */
static enum decode_verdict
take_trap_oid(struct v2c_message *m, struct decode_result *result)
{
	struct v2c_varbind up_time, trap_oid;
	struct ber_oid oid;
	uint32_t n;

	if (!v2c_next(m, &up_time) || !decode_is_oid(&up_time.name, sys_up_time, ARCS(sys_up_time)) ||
	    up_time.tag != BER_TIMETICKS || !v2c_next(m, &trap_oid) ||
	    !decode_is_oid(&trap_oid.name, snmp_trap_oid, ARCS(snmp_trap_oid)) ||
	    trap_oid.tag != BER_OID || ber_oid(trap_oid.value, &oid) < 0 ||
	    ber_unsigned32(up_time.value, &result->uptime_cs) < 0)
		return m->varbinds.failed ? DECODE_BAD_CODING : DECODE_BAD_PARSE;
	n = oid.arcs[oid.n - 1];
	if (oid.n == ARCS(ease_notifications) + 1 &&
	    is_below(&oid, ease_notifications, ARCS(ease_notifications)) && n > 0 &&
	    n < ARCS(notification_parts)) {
		result->kind = (enum ease_notification_kind)n;
		return DECODE_OK;
	}
	result->event = event_kind_of(&oid);
	if (result->event)
		return DECODE_EVENT;
	result->foreign = oid;
	return DECODE_FOREIGN;
}

/* Reads a number that is not negative, of any type that senders use for one. */
static int
take_u32(const struct v2c_varbind *v, uint32_t *value)
{
	int32_t i;

	if (v->tag == BER_UNSIGNED32 || v->tag == BER_COUNTER32)
		return ber_unsigned32(v->value, value);
	if (v->tag != BER_INTEGER || ber_integer(v->value, &i) < 0 || i < 0)
		return -1;
	*value = (uint32_t)i;
	return 0;
}

/* Reads the agent's identity, the next two bindings of all our notifications, into *who. */
static enum decode_verdict
take_identity(struct v2c_message *m, struct ease_record *who)
{
	struct v2c_varbind id, boot;

	if (!v2c_next(m, &id) || !v2c_next(m, &boot))
		return m->varbinds.failed ? DECODE_BAD_CODING : DECODE_BAD_PARTS;
	if (!decode_is_oid(&id.name, ease_agent_id, ARCS(ease_agent_id)) ||
	    !decode_is_oid(&boot.name, ease_boot, ARCS(ease_boot)))
		return DECODE_BAD_PARTS;
	if (id.tag != BER_OCTET_STRING || id.value.size != EASE_AGENT_ID_LEN || take_u32(&boot, &who->boot) < 0)
		return DECODE_BAD_VALUE;
	memcpy(who->agent_id, id.value.data, EASE_AGENT_ID_LEN);
	return DECODE_OK;
}

/* Names come from devices and their managers: what is kept of one steers nothing wherever it is shown. */
static void
clean_name(char name[EASE_NAME_MAX + 1])
{
	char given[EASE_NAME_MAX + 1];

	memcpy(given, name, sizeof(given));
	utf8_printable(given, name, sizeof(given));
}

static int
take_state(const struct trap_part *part, struct ease_state *state)
{
	int err;

	state->if_index = part->if_index;
	err = trap_wire_get_state(part->octets, part->len, state);
	if (err == 0) {
		clean_name(state->name);
		clean_name(state->alias);
	}
	return err;
}

int
decode_part(const struct trap_part *part, struct ease_record *r)
{
	r->kind = part->part;
	switch (part->part) {
	case EASE_PART_SAMPLE:
		r->sample.if_index = part->if_index;
		r->sample.sequence = part->sequence;
		return trap_wire_get_sample(part->octets, part->len, &r->sample);
	case EASE_PART_SNAPSHOT:
		r->snapshot.if_index = part->if_index;
		return trap_wire_get_snapshot(part->octets, part->len, &r->snapshot);
	case EASE_PART_STATE:
		return take_state(part, &r->state);
	case EASE_PART_ADDRESS:
		r->address.if_index = part->if_index;
		return trap_wire_get_address(part->octets, part->len, &r->address);
	case EASE_PART_RESOURCES:
		r->resources.if_index = part->if_index;
		return trap_wire_get_resources(part->octets, part->len, &r->resources);
	case EASE_PART_ERROR_SOURCE:
		r->error_source.if_index = part->if_index;
		return trap_wire_get_error_source(part->octets, part->len, &r->error_source);
	case EASE_PART_DISCARD: /* no part of a notification */
	case EASE_PART_ODD:
	case EASE_PART_CHANGE: /* only in a notification that is an event */
		break;
	}
	return -1;
}

static enum decode_verdict
take_part(const struct v2c_varbind *v, const struct ease_record *who, struct decode_result *result, uint32_t *seen)
{
	struct ease_record *r = &result->records[result->n];
	struct trap_part part;

	if (trap_wire_parse_oid(v->name.arcs, v->name.n, &part) < 0) {
		if (in_known_column(&v->name))
			return DECODE_BAD_VALUE;
		result->n_ignored++;
		return DECODE_OK;
	}
	part.part = trap_wire_part_of(part.part, v->value.data, v->value.size);
	if (!(notification_parts[result->kind].allowed & PART_BIT(part.part)))
		return DECODE_BAD_PARTS;
	if (result->n == DECODE_RECORDS_MAX)
		return DECODE_TOO_MANY;
	part.octets = v->value.data;
	part.len = v->value.size;
	r->boot = who->boot;
	r->loose_numbers = false;
	r->sender = who->sender;
	r->source = who->source;
	r->received_us = who->received_us;
	memcpy(r->agent_id, who->agent_id, sizeof(r->agent_id));
	if (v->tag != BER_OCTET_STRING || decode_part(&part, r) < 0)
		return DECODE_BAD_VALUE;
	*seen |= PART_BIT(part.part);
	result->n++;
	return DECODE_OK;
}

static enum decode_verdict
take_parts(struct v2c_message *m, const struct decode_origin *origin, struct decode_result *result)
{
	struct ease_record who = {.sender = origin->sender, .source = origin->source,
	    .received_us = origin->received_us};
	enum decode_verdict verdict = take_identity(m, &who);
	struct v2c_varbind v;
	uint32_t seen = 0;

	while (verdict == DECODE_OK && v2c_next(m, &v))
		verdict = take_part(&v, &who, result, &seen);
	if (verdict != DECODE_OK)
		return verdict;
	if (m->varbinds.failed)
		return DECODE_BAD_CODING;
	return seen & notification_parts[result->kind].needed ? DECODE_OK : DECODE_BAD_PARTS;
}

enum decode_verdict
decode_open(const void *octets, size_t n, const char *const *communities, size_t n_communities, struct v2c_message *m)
{
	struct rbuf body;

	if (v2c_open(m, &body, octets, n) < 0)
		return DECODE_BAD_PARSE;
	if (m->version != V2C_VERSION_2C)
		return m->version == V2C_VERSION_3 ? DECODE_V3 : DECODE_BAD_VERSION;
	if (!community_is_known(&m->community, communities, n_communities))
		return DECODE_BAD_COMMUNITY;
	if (v2c_open_pdu(m, &body) < 0)
		return DECODE_BAD_CODING;
	if (m->pdu == BER_SNMP_INFORM)
		return DECODE_INFORM;
	return m->pdu == BER_SNMP_TRAP2 ? DECODE_OK : DECODE_BAD_PDU;
}

enum decode_verdict
decode_varbinds(struct v2c_message *m, const struct decode_origin *origin, struct decode_result *result)
{
	enum decode_verdict verdict;

	result->n = result->n_ignored = 0;
	verdict = take_trap_oid(m, result);
	return verdict == DECODE_OK ? take_parts(m, origin, result) : verdict;
}

enum decode_verdict
decode_notification(const void *octets, size_t n, const char *const *communities,
    size_t n_communities, const struct decode_origin *origin, struct decode_result *result)
{
	struct v2c_message m;
	enum decode_verdict verdict = decode_open(octets, n, communities, n_communities, &m);

	return verdict == DECODE_OK ? decode_varbinds(&m, origin, result) : verdict;
}
