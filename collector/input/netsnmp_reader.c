#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/input/netsnmp_reader.h"

#include "common/log.h"

#include <errno.h>
#include <string.h>

static int
netsnmp_on_log(int major, int minor, void *message, void *ctx)
{
	const struct snmp_log_message *m = message;
	size_t len = strcspn(m->msg, "\n");

	(void)major;
	(void)minor;
	(void)ctx;
	if (len > 0)
		log_debug("net-snmp", "%.*s", (int)len, m->msg);
	return 0;
}

void
netsnmp_reader_open(void)
{
	snmp_enable_calllog();
	snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, netsnmp_on_log, NULL);
}

void
netsnmp_reader_close(void)
{
	snmp_unregister_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, netsnmp_on_log, NULL, 0);
}

void
netsnmp_put_varbinds(struct wbuf *w, const struct snmp_pdu *pdu)
{
	size_t left = w->size - w->len;
	u_char *at = w->data + w->len;

	for (netsnmp_variable_list *v = pdu->variables; v && at; v = v->next_variable)
		at = snmp_build_var_op(at, v->name, &v->name_length, v->type, v->val_len, v->val.string, &left);
	if (at)
		w->len = w->size - left;
	else
		w->failed = true;
}

static bool
is_int32(long value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

/* A number that the library truncated to 32 bits may still exceed INTEGER, and would be truncated
 * again when it is written. */
static bool
numbers_fit(const netsnmp_pdu *pdu)
{
	for (const netsnmp_variable_list *v = pdu->variables; v; v = v->next_variable)
		if (v->type == ASN_INTEGER && !is_int32(*v->val.integer))
			return false;
	return is_int32(pdu->reqid) && is_int32(pdu->errstat) && is_int32(pdu->errindex);
}

static int
take_pdu(struct v2c_message *m, const netsnmp_pdu *pdu, struct wbuf *w)
{
	size_t start = w->len;

	if ((pdu->command != SNMP_MSG_TRAP2 && pdu->command != SNMP_MSG_INFORM) || !numbers_fit(pdu))
		return -EBADMSG;
	netsnmp_put_varbinds(w, pdu);
	m->pdu = (uint8_t)pdu->command;
	m->request_id = (int32_t)pdu->reqid;
	m->error_status = (int32_t)pdu->errstat;
	m->error_index = (int32_t)pdu->errindex;
	m->varbinds = rbuf_of(w->data + start, w->len - start);
	return w->failed ? -EMSGSIZE : 0;
}

int
netsnmp_reader_read(struct v2c_message *m, const struct rbuf *body, struct wbuf *w)
{
	netsnmp_pdu *pdu = snmp_pdu_create(0);
	size_t left = rbuf_left(body);
	int r = -EBADMSG;

	if (!pdu)
		return -ENOMEM;
	/* The library only reads the octets, although its parameter is not const. */
	if (snmp_pdu_parse(pdu, (u_char *)(uintptr_t)(body->data + body->pos), &left) == 0)
		r = take_pdu(m, pdu, w);
	snmp_free_pdu(pdu);
	return r;
}
