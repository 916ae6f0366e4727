#include "collector/input/v2c.h"

#include <errno.h>

static int
take_integer(struct rbuf *r, int32_t *value)
{
	struct rbuf content;

	if (ber_expect(r, BER_INTEGER, &content) < 0)
		return -EBADMSG;
	return ber_integer(content, value);
}

int
v2c_open(struct v2c_message *m, struct rbuf *body, const void *octets, size_t n)
{
	struct rbuf all = rbuf_of(octets, n);

	if (ber_expect(&all, BER_SEQUENCE, body) < 0 || !rbuf_done(&all) ||
	    take_integer(body, &m->version) < 0)
		return -EBADMSG;
	m->community = rbuf_of(octets, 0);
	if (m->version == V2C_VERSION_2C &&
	    ber_expect(body, BER_OCTET_STRING, &m->community) < 0)
		return -EBADMSG;
	return 0;
}

int
v2c_open_pdu(struct v2c_message *m, struct rbuf *body)
{
	struct rbuf pdu;

	if (ber_next(body, &m->pdu, &pdu) < 0 || !rbuf_done(body))
		return -EBADMSG;
	if (take_integer(&pdu, &m->request_id) < 0 || take_integer(&pdu, &m->error_status) < 0 ||
	    take_integer(&pdu, &m->error_index) < 0 ||
	    ber_expect(&pdu, BER_SEQUENCE, &m->varbinds) < 0 || !rbuf_done(&pdu))
		return -EBADMSG;
	return 0;
}

static int
take_varbind(struct rbuf *list, struct v2c_varbind *varbind)
{
	struct rbuf pair, name;

	if (ber_expect(list, BER_SEQUENCE, &pair) < 0 || ber_expect(&pair, BER_OID, &name) < 0 ||
	    ber_oid(name, &varbind->name) < 0 ||
	    ber_next(&pair, &varbind->tag, &varbind->value) < 0 || !rbuf_done(&pair))
		return -EBADMSG;
	return ber_is_object_value(varbind->tag, varbind->value) ? 0 : -EBADMSG;
}

bool
v2c_next(struct v2c_message *m, struct v2c_varbind *varbind)
{
	if (m->varbinds.failed || rbuf_left(&m->varbinds) == 0)
		return false;
	if (take_varbind(&m->varbinds, varbind) < 0) {
		m->varbinds.failed = true;
		return false;
	}
	return true;
}
