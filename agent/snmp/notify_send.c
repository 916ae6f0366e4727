#include "agent/snmp/notify_send.h"

#include "agent/snmp/notify_standard.h"
#include "common/log.h"

#include <stdbool.h>
#include <string.h>

/* RFC 2741; Net-SNMP does not install its agentx/protocol.h. */
enum { AGENTX_NOTIFY_PDU = 12, AGENTX_NOT_OPEN = 257 };

/* A ping detects that the master does not answer, and the session is closed within the ping's interval
 * plus the session's timeout. Until then a Notify must not be repeated: the stream would deliver it
 * twice. So a Notify waits longer than that, for the case of a master that answers everything else. */
enum { NOTIFY_TIMEOUTS_WAITED = 3 };

static const oid trap_oid_name[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}; /* snmpTrapOID.0 */
static const oid agent_id_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID, 0};
static const oid boot_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};

static void
notify_add_trap(netsnmp_pdu *pdu, const oid *trap, size_t n)
{
	snmp_pdu_add_variable(pdu, trap_oid_name, OID_LENGTH(trap_oid_name), ASN_OBJECT_ID, trap, n * sizeof(*trap));
}

static void
notify_add_agent(netsnmp_pdu *pdu, const struct notify_source *source)
{
	u_long boot = source->boot;

	snmp_pdu_add_variable(pdu, agent_id_name, OID_LENGTH(agent_id_name), ASN_OCTET_STR,
	    source->agent_id, sizeof(source->agent_id));
	snmp_pdu_add_variable(pdu, boot_name, OID_LENGTH(boot_name), ASN_UNSIGNED, &boot, sizeof(boot));
}

static void
notify_add_part(netsnmp_pdu *pdu, const struct trap_part *part)
{
	uint32_t arcs[TRAP_WIRE_OID_MAX];
	oid name[TRAP_WIRE_OID_MAX];
	size_t n = trap_wire_part_oid(part, arcs);

	for (size_t i = 0; i < n; i++)
		name[i] = arcs[i];
	snmp_pdu_add_variable(pdu, name, n, ASN_OCTET_STR, part->octets, part->len);
}

static void
add_parts(netsnmp_pdu *pdu, const struct notify_source *source, const struct ease_notification *n)
{
	const oid trap[] = {EASE_ROOT, 0, n->kind};
	struct trap_part part;
	size_t pos = 0;

	notify_add_trap(pdu, trap, OID_LENGTH(trap));
	notify_add_agent(pdu, source);
	while (trap_wire_next(n, &pos, &part))
		notify_add_part(pdu, &part);
}

static size_t
to_oid(const struct mib_oid *from, oid *to)
{
	for (size_t i = 0; i < from->n; i++)
		to[i] = from->arcs[i];
	return from->n;
}

static void
add_varbind(netsnmp_pdu *pdu, const struct notify_varbind *v)
{
	oid name[MIB_OID_ARCS], value[MIB_OID_ARCS];
	size_t n = to_oid(&v->name, name);
	long integer = (long)v->integer;
	unsigned long gauge = (unsigned long)v->number;
	struct counter64 counter = {.high = (unsigned long)(v->number >> 32),
	    .low = (unsigned long)(v->number & UINT32_MAX)};

	if (v->syntax == MIB_INTEGER)
		snmp_pdu_add_variable(pdu, name, n, ASN_INTEGER, &integer, sizeof(integer));
	else if (v->syntax == MIB_GAUGE32)
		snmp_pdu_add_variable(pdu, name, n, ASN_GAUGE, &gauge, sizeof(gauge));
	else if (v->syntax == MIB_COUNTER64)
		snmp_pdu_add_variable(pdu, name, n, ASN_COUNTER64, &counter, sizeof(counter));
	else if (v->syntax == MIB_OBJECT_ID)
		snmp_pdu_add_variable(pdu, name, n, ASN_OBJECT_ID, value, to_oid(&v->oid, value) * sizeof(*value));
	else
		snmp_pdu_add_variable(pdu, name, n, ASN_OCTET_STR, v->text, strlen(v->text));
}

static void
add_standard(netsnmp_pdu *pdu, const struct notify_source *source, const struct ease_notification *n)
{
	struct notify_varbind varbind;
	struct mib_oid trap;
	oid name[MIB_OID_ARCS];
	size_t pos = 0;

	if (!notify_standard_trap(n, &pos, &trap))
		return;
	notify_add_trap(pdu, name, to_oid(&trap, name));
	while (notify_standard_next(n, &pos, &varbind))
		add_varbind(pdu, &varbind);
	notify_add_agent(pdu, source);
}

/* Does not include sysUpTime.0: the master puts its own in front (RFC 2741 section 6.2.10). */
static netsnmp_pdu *
build_pdu(const struct notify_item *item, const struct notify_source *source, const netsnmp_session *session)
{
	netsnmp_pdu *pdu = snmp_pdu_create(AGENTX_NOTIFY_PDU);

	if (!pdu)
		return NULL;
	pdu->version = session->version;
	pdu->sessid = session->sessid;
	pdu->flags |= UCD_MSG_FLAG_PDU_TIMEOUT;
	pdu->time = NOTIFY_TIMEOUTS_WAITED * session->timeout / 1000000;
	if (item->n.kind == NOTIFY_STANDARD)
		add_standard(pdu, source, &item->n);
	else
		add_parts(pdu, source, &item->n);
	return pdu;
}

static void
notify_note_answer(struct notify_item *item, long error)
{
	if (error == SNMP_ERR_NOERROR) {
		notify_ring_acknowledged(item);
	} else if (error == AGENTX_NOT_OPEN) {
		notify_ring_timed_out(item); /* the master has lost the session, which will be reopened */
	} else {
		log_warn_limited("snmp", "the master refused a notification, which is lost: AgentX error %ld", error);
		notify_ring_refused(item);
	}
}

/* Returns 1: the request is complete. */
static int
notify_on_answer(int operation, netsnmp_session *session, int request, netsnmp_pdu *pdu, void *ctx)
{
	struct notify_item *item = ctx;

	(void)session;
	(void)request;
	switch (operation) {
	case NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE:
		notify_note_answer(item, pdu->errstat);
		break;
	case NETSNMP_CALLBACK_OP_RESEND:
	case NETSNMP_CALLBACK_OP_CONNECT:
		break;
	case NETSNMP_CALLBACK_OP_SEND_FAILED:
		notify_ring_send_failed(item);
		break;
	default: /* timed out, or the session was closed */
		notify_ring_timed_out(item);
		break;
	}
	return 1;
}

static bool
send_item(struct notify_item *item, const struct notify_source *source, netsnmp_session *session)
{
	netsnmp_pdu *pdu = build_pdu(item, source, session);

	if (pdu && snmp_async_send(session, pdu, notify_on_answer, item) != 0)
		return true;
	if (item->in_flight) /* not reported through the callback */
		notify_ring_send_failed(item);
	if (pdu)
		snmp_free_pdu(pdu);
	return false;
}

void
notify_send_pump(struct notify_ring *ring, const struct notify_source *source, netsnmp_session *session)
{
	struct notify_item *item;

	while ((item = notify_ring_next(ring)) != NULL) {
		if (!send_item(item, source, session))
			return;
	}
}
