#include "collector/input/event.h"

#include "common/made_id.h"
#include "common/trap_wire.h"
#include "common/utf8.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EASE_KIND_END = 1000, /* the numbers of our own notifications are below */
	ENTRY_MAX = 12,
};

static const uint32_t link_down[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 3};
static const uint32_t link_up[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 4};
static const uint32_t rising_alarm[] = {1, 3, 6, 1, 2, 1, 16, 0, 1};
static const uint32_t falling_alarm[] = {1, 3, 6, 1, 2, 1, 16, 0, 2};
static const uint32_t hc_rising_alarm[] = {1, 3, 6, 1, 2, 1, 16, 29, 2, 0, 1};
static const uint32_t hc_falling_alarm[] = {1, 3, 6, 1, 2, 1, 16, 29, 2, 0, 2};
static const uint32_t parts_changed[] = {1, 3, 6, 1, 2, 1, 47, 2, 0, 1};
static const uint32_t ease_notifications[] = {EASE_ROOT, 0};

static const struct {
	const uint32_t *arcs;
	size_t n;
	uint32_t kind;
} known_events[] = {
    {link_down, ARCS(link_down), EASE_EVENT_LINK_DOWN},
    {link_up, ARCS(link_up), EASE_EVENT_LINK_UP},
    {rising_alarm, ARCS(rising_alarm), EASE_EVENT_RISING_ALARM},
    {falling_alarm, ARCS(falling_alarm), EASE_EVENT_FALLING_ALARM},
    {hc_rising_alarm, ARCS(hc_rising_alarm), EASE_EVENT_RISING_ALARM}, /* RFC 3434 */
    {hc_falling_alarm, ARCS(hc_falling_alarm), EASE_EVENT_FALLING_ALARM},
    {parts_changed, ARCS(parts_changed), EASE_EVENT_PARTS_CHANGED},
};

/* What agents send at their start and stop, and other common ones. */
static const struct {
	uint32_t arcs[ENTRY_MAX];
	size_t n;
	const char *name;
} usual_foreign[] = {
    {{1, 3, 6, 1, 6, 3, 1, 1, 5, 1}, 10, "coldStart"},
    {{1, 3, 6, 1, 6, 3, 1, 1, 5, 2}, 10, "warmStart"},
    {{1, 3, 6, 1, 6, 3, 1, 1, 5, 5}, 10, "authenticationFailure"},
    {{1, 3, 6, 1, 4, 1, 8072, 4, 0, 1}, 10, "nsNotifyStart"},
    {{1, 3, 6, 1, 4, 1, 8072, 4, 0, 2}, 10, "nsNotifyShutdown"},
    {{1, 3, 6, 1, 4, 1, 8072, 4, 0, 3}, 10, "nsNotifyRestart"},
};

static const uint32_t agent_id_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID, 0};
static const uint32_t boot_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};
static const uint32_t alarm_entry[] = {1, 3, 6, 1, 2, 1, 16, 3, 1, 1};
static const uint32_t hc_alarm_entry[] = {1, 3, 6, 1, 2, 1, 16, 29, 1, 1, 1, 1};
enum { ALARM_VARIABLE = 3 }; /* the column, in both */

/* Entries of tables whose only index is ifIndex. */
static const struct {
	uint32_t arcs[ENTRY_MAX];
	size_t n;
} by_if_index[] = {
    {{1, 3, 6, 1, 2, 1, 2, 2, 1}, 9},	     /* ifEntry */
    {{1, 3, 6, 1, 2, 1, 31, 1, 1, 1}, 10},   /* ifXEntry */
    {{1, 3, 6, 1, 2, 1, 10, 7, 2, 1}, 10},   /* dot3StatsEntry */
};
static const uint32_t ease_port_info[] = {EASE_PORT_INFO_ENTRY};
static const uint32_t ease_port_table[] = {EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1};

static bool
event_is_oid(const struct ber_oid *oid, const uint32_t *arcs, size_t n)
{
	return oid->n == n && memcmp(oid->arcs, arcs, n * sizeof(*arcs)) == 0;
}

/* True if the name is ENTRY.column.index. */
static bool
is_cell(const struct ber_oid *oid, const uint32_t *entry, size_t n)
{
	return oid->n == n + 2 && memcmp(oid->arcs, entry, n * sizeof(*entry)) == 0;
}

uint32_t
event_kind_of(const struct ber_oid *trap_oid)
{
	uint32_t last = trap_oid->arcs[trap_oid->n - 1];

	for (size_t i = 0; i < ARCS(known_events); i++)
		if (event_is_oid(trap_oid, known_events[i].arcs, known_events[i].n))
			return known_events[i].kind;
	if (trap_oid->n == ARCS(ease_notifications) + 1 &&
	    memcmp(trap_oid->arcs, ease_notifications, sizeof(ease_notifications)) == 0)
		return last < EASE_KIND_END ? last : 0;
	return 0;
}

void
event_name_foreign(const struct ber_oid *trap_oid, char text[EVENT_NAME_MAX])
{
	size_t used;

	ber_oid_format(trap_oid, text, EVENT_NAME_MAX);
	used = strlen(text);
	for (size_t i = 0; i < ARCS(usual_foreign); i++)
		if (event_is_oid(trap_oid, usual_foreign[i].arcs, usual_foreign[i].n))
			snprintf(text + used, EVENT_NAME_MAX - used, " (%s)", usual_foreign[i].name);
}

/* The ifIndex in the name of an object in one of these tables, or 0. */
static uint32_t
event_if_index_of(const struct ber_oid *name)
{
	for (size_t i = 0; i < ARCS(by_if_index); i++)
		if (is_cell(name, by_if_index[i].arcs, by_if_index[i].n))
			return name->arcs[name->n - 1];
	if (is_cell(name, ease_port_info, ARCS(ease_port_info)) ||
	    is_cell(name, ease_port_table, ARCS(ease_port_table)))
		return name->arcs[name->n - 1];
	return 0;
}

static bool
is_alarm_variable(const struct ber_oid *name)
{
	return name->n >= 2 && name->arcs[name->n - 2] == ALARM_VARIABLE &&
	    (is_cell(name, alarm_entry, ARCS(alarm_entry)) ||
	        is_cell(name, hc_alarm_entry, ARCS(hc_alarm_entry)));
}

/* An alarm names the object that it watches by a value; all others have ifIndex in their bindings'
 * names. */
static void
take_if_index(const struct v2c_varbind *v, struct ease_event *event)
{
	struct ber_oid watched;

	if (event->if_index != 0)
		return;
	if (is_alarm_variable(&v->name)) {
		if (v->tag == BER_OID && ber_oid(v->value, &watched) == 0)
			event->if_index = event_if_index_of(&watched);
		return;
	}
	event->if_index = event_if_index_of(&v->name);
}

/* What a manager has changed. */
static void
event_take_change(const struct v2c_varbind *v, struct ease_event *event)
{
	struct ease_change change = {0};
	char text[EASE_EVENT_TEXT];
	struct trap_part part;

	if (v->tag != BER_OCTET_STRING || trap_wire_parse_oid(v->name.arcs, v->name.n, &part) < 0 ||
	    part.part != EASE_PART_CHANGE ||
	    trap_wire_get_change(v->value.data, v->value.size, &change) < 0)
		return;
	snprintf(text, sizeof(text), "%.48s from %.32s to %.32s", change.object, change.before, change.after);
	utf8_printable(text, event->text, sizeof(event->text));
}

int
event_decode(struct v2c_message *m, struct ease_event *event)
{
	bool has_id = false, has_boot = false;
	struct v2c_varbind v;

	event->if_index = 0;
	event->text[0] = '\0';
	while (v2c_next(m, &v)) {
		if (event_is_oid(&v.name, agent_id_name, ARCS(agent_id_name)) &&
		    v.tag == BER_OCTET_STRING && v.value.size == EASE_AGENT_ID_LEN) {
			memcpy(event->agent_id, v.value.data, EASE_AGENT_ID_LEN);
			has_id = true;
		} else if (event_is_oid(&v.name, boot_name, ARCS(boot_name)) &&
		    v.tag == BER_UNSIGNED32) {
			has_boot = ber_unsigned32(v.value, &event->boot) == 0;
		} else {
			take_if_index(&v, event);
			event_take_change(&v, event);
		}
	}
	event->has_agent_id = has_id && has_boot;
	return m->varbinds.failed ? -EBADMSG : 0;
}

void
event_source_of_engine(const uint8_t *engine_id, size_t n, uint8_t id[EASE_AGENT_ID_LEN])
{
	made_id_hash(MADE_ID_ENGINE, engine_id, n, id);
}

void
event_source_of_address(const struct sockaddr *address, uint8_t id[EASE_AGENT_ID_LEN])
{
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

		made_id_hash(MADE_ID_IPV6, &v6->sin6_addr, sizeof(v6->sin6_addr), id);
		return;
	}
	memset(id, 0, EASE_AGENT_ID_LEN);
	id[1] = MADE_ID_IPV4;
	memcpy(id + 4, &((const struct sockaddr_in *)address)->sin_addr, 4);
}
