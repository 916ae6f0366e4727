/*
 * Notifications that other MIB modules define (linkUp, linkDown, risingAlarm, fallingAlarm,
 * hcRisingAlarm, hcFallingAlarm, entConfigChange): a trap's OID and typed varbinds, serialized into a struct ease_notification of
 * kind NOTIFY_STANDARD so that they can go through the notification ring. easeAgentId and easeBoot
 * follow them, so that a collector knows the sender.
 *
 * The main loop builds them, and notify_send.c decodes them. Nothing here blocks or allocates.
 */
#ifndef EASE_AGENT_SNMP_NOTIFY_STANDARD_H
#define EASE_AGENT_SNMP_NOTIFY_STANDARD_H

#include "agent/snmp/mib_table.h"
#include "common/trap_wire.h"

/* No EASE notification has this kind. */
#define NOTIFY_STANDARD ((enum ease_notification_kind)0)

struct notify_varbind {
	struct mib_oid name;
	enum mib_syntax syntax; /* MIB_INTEGER, MIB_GAUGE32, MIB_COUNTER64, MIB_STRING or MIB_OBJECT_ID */
	int64_t integer;	/* MIB_INTEGER */
	uint64_t number;	/* MIB_GAUGE32, MIB_COUNTER64 */
	struct mib_oid oid;
	const char *text; /* borrowed, NUL-terminated */
};

/* -EMSGSIZE: more than TRAP_WIRE_MESSAGE_MAX octets. */
int notify_standard_build(struct ease_notification *n, const struct mib_oid *trap,
    const struct notify_varbind *varbinds, size_t n_varbinds);

/* Decode one: first the trap's OID, then varbinds until false. pos starts at 0. Texts point into n,
 * where they are terminated. */
bool notify_standard_trap(const struct ease_notification *n, size_t *pos, struct mib_oid *trap);
bool notify_standard_next(const struct ease_notification *n, size_t *pos,
    struct notify_varbind *varbind);

/* linkUp or linkDown (RFC 2863). oper_status is the state that is being left, as IF-MIB demands. */
void notify_link(struct ease_notification *n, bool up, uint32_t if_index, int admin_status,
    int oper_status);

struct notify_alarm {
	uint32_t index;
	const struct mib_oid *variable;
	int sample_type;
	int32_t value, threshold;
};
/* risingAlarm or fallingAlarm (RFC 2819). */
void notify_alarm(struct ease_notification *n, bool rising, const struct notify_alarm *alarm);

struct notify_hc_number {
	uint64_t magnitude;
	bool negative;
};
struct notify_hc_alarm {
	uint32_t index;
	const struct mib_oid *variable;
	int sample_type;
	struct notify_hc_number value, threshold;
	uint32_t event; /* eventIndex */
};
/* hcRisingAlarm or hcFallingAlarm (RFC 3434). */
void notify_hc_alarm(struct ease_notification *n, bool rising, const struct notify_hc_alarm *alarm);

/* entConfigChange (RFC 6933), which has no objects. */
void notify_parts_changed(struct ease_notification *n);

#endif
