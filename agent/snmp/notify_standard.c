#include "agent/snmp/notify_standard.h"

#include "common/buf.h"

#include <errno.h>
#include <string.h>

enum { MESSAGE_OVERHEAD = 200 }; /* more than an SNMPv2c message, agent id and boot take */

static void
notify_put_oid(struct wbuf *w, const struct mib_oid *oid)
{
	wbuf_u8(w, (uint8_t)oid->n);
	for (size_t i = 0; i < oid->n; i++)
		wbuf_be32(w, oid->arcs[i]);
}

static bool
get_oid(struct rbuf *r, struct mib_oid *oid)
{
	oid->n = rbuf_u8(r);
	if (oid->n > MIB_OID_ARCS)
		return false;
	for (size_t i = 0; i < oid->n; i++)
		oid->arcs[i] = rbuf_be32(r);
	return !r->failed;
}

static void
notify_put_varbind(struct wbuf *w, const struct notify_varbind *v)
{
	notify_put_oid(w, &v->name);
	wbuf_u8(w, (uint8_t)v->syntax);
	if (v->syntax == MIB_INTEGER) {
		wbuf_be64(w, (uint64_t)v->integer);
	} else if (v->syntax == MIB_GAUGE32 || v->syntax == MIB_COUNTER64) {
		wbuf_be64(w, v->number);
	} else if (v->syntax == MIB_OBJECT_ID) {
		notify_put_oid(w, &v->oid);
	} else {
		wbuf_be16(w, (uint16_t)strlen(v->text));
		wbuf_put(w, v->text, strlen(v->text) + 1);
	}
}

int
notify_standard_build(struct ease_notification *n, const struct mib_oid *trap,
    const struct notify_varbind *varbinds, size_t n_varbinds)
{
	struct wbuf w = wbuf_of(n->data, sizeof(n->data));

	trap_wire_begin(n, NOTIFY_STANDARD);
	notify_put_oid(&w, trap);
	for (size_t i = 0; i < n_varbinds; i++)
		notify_put_varbind(&w, &varbinds[i]);
	if (w.failed)
		return -EMSGSIZE;
	n->len = w.len;
	n->n_parts = (uint16_t)n_varbinds;
	n->message_octets = (uint32_t)w.len + MESSAGE_OVERHEAD;
	return 0;
}

static struct rbuf
reader_at(const struct ease_notification *n, size_t pos)
{
	struct rbuf r = rbuf_of(n->data, n->len);

	rbuf_take(&r, pos);
	return r;
}

bool
notify_standard_trap(const struct ease_notification *n, size_t *pos, struct mib_oid *trap)
{
	struct rbuf r = reader_at(n, *pos);
	bool good = get_oid(&r, trap);

	*pos = r.pos;
	return good;
}

bool
notify_standard_next(const struct ease_notification *n, size_t *pos, struct notify_varbind *v)
{
	struct rbuf r = reader_at(n, *pos);

	if (rbuf_left(&r) == 0 || !get_oid(&r, &v->name))
		return false;
	v->syntax = (enum mib_syntax)rbuf_u8(&r);
	if (v->syntax == MIB_INTEGER)
		v->integer = (int64_t)rbuf_be64(&r);
	else if (v->syntax == MIB_GAUGE32 || v->syntax == MIB_COUNTER64)
		v->number = rbuf_be64(&r);
	else if (v->syntax == MIB_OBJECT_ID)
		get_oid(&r, &v->oid);
	else
		v->text = (const char *)rbuf_take(&r, rbuf_be16(&r) + 1u);
	*pos = r.pos;
	return !r.failed;
}

/* ---- the notifications ---- */

static struct notify_varbind
integer_cell(struct mib_oid column, uint32_t index, int64_t value)
{
	column.arcs[column.n++] = index;
	return (struct notify_varbind){.name = column, .syntax = MIB_INTEGER, .integer = value};
}

#define IF_ENTRY    1, 3, 6, 1, 2, 1, 2, 2, 1
#define ALARM_ENTRY 1, 3, 6, 1, 2, 1, 16, 3, 1, 1
#define HC_ALARM    1, 3, 6, 1, 2, 1, 16, 29

static struct notify_varbind
hc_cell(uint32_t column, uint32_t index, enum mib_syntax syntax, uint64_t value)
{
	return (struct notify_varbind){.name = MIB_OID(HC_ALARM, 1, 1, 1, 1, column, index),
	    .syntax = syntax, .integer = (int64_t)value, .number = value};
}

/* HcValueStatus */
static uint64_t
sign_of(const struct notify_hc_number *number)
{
	enum { POSITIVE = 2, NEGATIVE = 3 };

	return number->negative ? NEGATIVE : POSITIVE;
}

void
notify_link(struct ease_notification *n, bool up, uint32_t if_index, int admin_status, int oper_status)
{
	const struct mib_oid trap = MIB_OID(1, 3, 6, 1, 6, 3, 1, 1, 5, up ? 4 : 3);
	const struct notify_varbind varbinds[] = {
	    integer_cell((struct mib_oid)MIB_OID(IF_ENTRY, 1), if_index, if_index),
	    integer_cell((struct mib_oid)MIB_OID(IF_ENTRY, 7), if_index, admin_status),
	    integer_cell((struct mib_oid)MIB_OID(IF_ENTRY, 8), if_index, oper_status),
	};

	notify_standard_build(n, &trap, varbinds, 3);
}

void
notify_alarm(struct ease_notification *n, bool rising, const struct notify_alarm *alarm)
{
	const struct mib_oid trap = MIB_OID(1, 3, 6, 1, 2, 1, 16, 0, rising ? 1 : 2);
	struct notify_varbind variable = integer_cell((struct mib_oid)MIB_OID(ALARM_ENTRY, 3),
	    alarm->index, 0);
	const struct notify_varbind varbinds[] = {
	    integer_cell((struct mib_oid)MIB_OID(ALARM_ENTRY, 1), alarm->index, alarm->index),
	    {.name = variable.name, .syntax = MIB_OBJECT_ID, .oid = *alarm->variable},
	    integer_cell((struct mib_oid)MIB_OID(ALARM_ENTRY, 4), alarm->index,
		alarm->sample_type),
	    integer_cell((struct mib_oid)MIB_OID(ALARM_ENTRY, 5), alarm->index, alarm->value),
	    integer_cell((struct mib_oid)MIB_OID(ALARM_ENTRY, rising ? 7 : 8), alarm->index,
		alarm->threshold),
	};

	notify_standard_build(n, &trap, varbinds, 5);
}

void
notify_hc_alarm(struct ease_notification *n, bool rising, const struct notify_hc_alarm *alarm)
{
	enum { VARIABLE = 3, SAMPLE_TYPE, VALUE, SIGN, RISING = 8, FALLING = 11, EVENT = 14 };
	const struct mib_oid trap = MIB_OID(HC_ALARM, 2, 0, rising ? 1 : 2);
	uint32_t low = rising ? RISING : FALLING, i = alarm->index;
	uint64_t threshold = alarm->threshold.magnitude;
	const struct notify_varbind varbinds[] = {
	    {.name = MIB_OID(HC_ALARM, 1, 1, 1, 1, VARIABLE, i), .syntax = MIB_OBJECT_ID,
		.oid = *alarm->variable},
	    hc_cell(SAMPLE_TYPE, i, MIB_INTEGER, (uint64_t)alarm->sample_type),
	    hc_cell(VALUE, i, MIB_COUNTER64, alarm->value.magnitude),
	    hc_cell(SIGN, i, MIB_INTEGER, sign_of(&alarm->value)),
	    hc_cell(low, i, MIB_GAUGE32, (uint32_t)threshold),
	    hc_cell(low + 1, i, MIB_GAUGE32, threshold >> 32),
	    hc_cell(low + 2, i, MIB_INTEGER, sign_of(&alarm->threshold)),
	    hc_cell(EVENT + !rising, i, MIB_INTEGER, alarm->event),
	};

	notify_standard_build(n, &trap, varbinds, sizeof(varbinds) / sizeof(varbinds[0]));
}

void
notify_parts_changed(struct ease_notification *n)
{
	const struct mib_oid trap = MIB_OID(1, 3, 6, 1, 2, 1, 47, 2, 0, 1);

	notify_standard_build(n, &trap, NULL, 0);
}
