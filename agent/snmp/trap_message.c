#include "agent/snmp/trap_message.h"

#include "agent/snmp/notify_standard.h"

#include <string.h>

enum {
	VERSION_2C = 1,
	/* The most parts a notification can have: a part's header takes 11 octets, and the shortest value
	 * 17. The varbinds of a standard notification are longer. */
	PARTS_MAX = TRAP_WIRE_MESSAGE_MAX / 28,
};

static const uint32_t uptime_name[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
static const uint32_t trap_oid_name[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
static const uint32_t agent_id_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID, 0};
static const uint32_t boot_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};
#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

/* Completes a variable binding whose value is written already. */
static void
end_varbind(struct ber_writer *w, size_t end, const uint32_t *name, size_t n)
{
	ber_put_oid(w, name, n);
	ber_wrap(w, BER_TAG_SEQUENCE, end);
}

static void
trap_put_integer(struct ber_writer *w, const uint32_t *name, size_t n, uint8_t tag, int64_t value)
{
	size_t end = ber_octets(w);

	ber_put_integer(w, tag, value);
	end_varbind(w, end, name, n);
}

static void
put_counter64(struct ber_writer *w, const struct notify_varbind *v)
{
	size_t end = ber_octets(w);

	ber_put_unsigned(w, BER_TAG_COUNTER64, v->number);
	end_varbind(w, end, v->name.arcs, v->name.n);
}

static void
put_octets(struct ber_writer *w, const uint32_t *name, size_t n, const void *octets, size_t len)
{
	size_t end = ber_octets(w);

	ber_put_octets(w, BER_TAG_OCTETS, octets, len);
	end_varbind(w, end, name, n);
}

static void
trap_put_oid(struct ber_writer *w, const uint32_t *name, size_t n, const uint32_t *arcs, size_t n_arcs)
{
	size_t end = ber_octets(w);

	ber_put_oid(w, arcs, n_arcs);
	end_varbind(w, end, name, n);
}

static void
trap_put_agent(struct ber_writer *w, const struct notify_source *source)
{
	trap_put_integer(w, boot_name, ARCS(boot_name), BER_TAG_UNSIGNED32, source->boot);
	put_octets(w, agent_id_name, ARCS(agent_id_name), source->agent_id, sizeof(source->agent_id));
}

static void
trap_put_head(struct ber_writer *w, const struct trap_message *m, const uint32_t *trap, size_t n)
{
	trap_put_oid(w, trap_oid_name, ARCS(trap_oid_name), trap, n);
	trap_put_integer(w, uptime_name, ARCS(uptime_name), BER_TAG_TIMETICKS, m->uptime_cs);
}

/* ---- EASE notifications ---- */

static void
trap_put_part(struct ber_writer *w, const struct trap_part *part)
{
	uint32_t name[TRAP_WIRE_OID_MAX];
	size_t n = trap_wire_part_oid(part, name);

	put_octets(w, name, n, part->octets, part->len);
}

static void
put_parts(struct ber_writer *w, const struct trap_message *m)
{
	const uint32_t trap[] = {EASE_ROOT, 0, (uint32_t)m->notification->kind};
	struct trap_part parts[PARTS_MAX];
	size_t n = 0, pos = 0;

	while (n < PARTS_MAX && trap_wire_next(m->notification, &pos, &parts[n]))
		n++;
	while (n > 0)
		trap_put_part(w, &parts[--n]);
	trap_put_agent(w, m->source);
	trap_put_head(w, m, trap, ARCS(trap));
}

/* ---- standard notifications ---- */

static void
trap_put_varbind(struct ber_writer *w, const struct notify_varbind *v)
{
	if (v->syntax == MIB_INTEGER)
		trap_put_integer(w, v->name.arcs, v->name.n, BER_TAG_INTEGER, v->integer);
	else if (v->syntax == MIB_GAUGE32)
		trap_put_integer(w, v->name.arcs, v->name.n, BER_TAG_UNSIGNED32, (int64_t)v->number);
	else if (v->syntax == MIB_COUNTER64)
		put_counter64(w, v);
	else if (v->syntax == MIB_OBJECT_ID)
		trap_put_oid(w, v->name.arcs, v->name.n, v->oid.arcs, v->oid.n);
	else
		put_octets(w, v->name.arcs, v->name.n, v->text, strlen(v->text));
}

static void
put_standard(struct ber_writer *w, const struct trap_message *m)
{
	size_t starts[PARTS_MAX], n = 0, pos = 0;
	struct notify_varbind varbind;
	struct mib_oid trap;

	if (!notify_standard_trap(m->notification, &pos, &trap)) {
		w->failed = true;
		return;
	}
	do
		starts[n++] = pos;
	while (n < PARTS_MAX && notify_standard_next(m->notification, &pos, &varbind));
	trap_put_agent(w, m->source);
	for (n--; n > 0; n--) { /* the last start is the end of the list */
		notify_standard_next(m->notification, &starts[n - 1], &varbind);
		trap_put_varbind(w, &varbind);
	}
	trap_put_head(w, m, trap.arcs, trap.n);
}

void
trap_message_put_pdu(struct ber_writer *w, const struct trap_message *m)
{
	size_t end = ber_octets(w);

	if (m->notification->kind == NOTIFY_STANDARD)
		put_standard(w, m);
	else
		put_parts(w, m);
	ber_wrap(w, BER_TAG_SEQUENCE, end);
	ber_put_integer(w, BER_TAG_INTEGER, 0); /* error-index, error-status */
	ber_put_integer(w, BER_TAG_INTEGER, 0);
	ber_put_integer(w, BER_TAG_INTEGER, m->request_id);
	ber_wrap(w, BER_TAG_TRAP, end);
}

void
trap_message_put_v2c(struct ber_writer *w, const struct trap_message *m, const char *community)
{
	size_t end = ber_octets(w);

	trap_message_put_pdu(w, m);
	ber_put_octets(w, BER_TAG_OCTETS, community, strlen(community));
	ber_put_integer(w, BER_TAG_INTEGER, VERSION_2C);
	ber_wrap(w, BER_TAG_SEQUENCE, end);
}
