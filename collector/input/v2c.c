#include "collector/input/v2c.h"

#include <errno.h>

static int
v2c_take_integer(struct rbuf *r, int32_t *value)
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

	if (ber_expect(&all, BER_SEQUENCE, body) < 0 || !rbuf_done(&all) || v2c_take_integer(body, &m->version) < 0)
		return -EBADMSG;
	m->community = rbuf_of(octets, 0);
	if (m->version == V2C_VERSION_2C && ber_expect(body, BER_OCTET_STRING, &m->community) < 0)
		return -EBADMSG;
	return 0;
}

int
v2c_open_pdu(struct v2c_message *m, struct rbuf *body)
{
	struct rbuf pdu;

	if (ber_next(body, &m->pdu, &pdu) < 0 || !rbuf_done(body))
		return -EBADMSG;
	if (v2c_take_integer(&pdu, &m->request_id) < 0 || v2c_take_integer(&pdu, &m->error_status) < 0 ||
	    v2c_take_integer(&pdu, &m->error_index) < 0 ||
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

/* Lengths are written in the long form with two octets, which RFC 3417 section 8 allows, because
 * their size is then known before the content is. */
enum { TLV_HEAD = 4 };

static void
v2c_put_head(struct wbuf *w, uint8_t tag, size_t octets)
{
	wbuf_u8(w, tag);
	wbuf_u8(w, 0x82);
	wbuf_be16(w, (uint16_t)octets);
}

/* Writes as few octets as the number needs, as BER requires. */
static void
v2c_put_integer(struct wbuf *w, int32_t value)
{
	size_t n = 4;

	while (n > 1 && value >> (8 * n - 9) == (value < 0 ? -1 : 0))
		n--;
	wbuf_u8(w, BER_INTEGER);
	wbuf_u8(w, (uint8_t)n);
	wbuf_be(w, (uint32_t)value, n);
}

static void
put_response(struct wbuf *w, const struct v2c_message *m, int32_t status, const struct rbuf *varbinds)
{
	uint8_t octets[3 * (2 + 4)];
	struct wbuf numbers = wbuf_of(octets, sizeof(octets));
	size_t pdu, message;

	v2c_put_integer(&numbers, m->request_id);
	v2c_put_integer(&numbers, status);
	v2c_put_integer(&numbers, 0);
	pdu = numbers.len + TLV_HEAD + varbinds->size;
	message = 3 + TLV_HEAD + m->community.size + TLV_HEAD + pdu;
	v2c_put_head(w, BER_SEQUENCE, message);
	v2c_put_integer(w, V2C_VERSION_2C);
	v2c_put_head(w, BER_OCTET_STRING, m->community.size);
	wbuf_put(w, m->community.data, m->community.size);
	v2c_put_head(w, BER_SNMP_RESPONSE, pdu);
	wbuf_put(w, octets, numbers.len);
	v2c_put_head(w, BER_SEQUENCE, varbinds->size);
	wbuf_put(w, varbinds->data, varbinds->size);
}

void
v2c_put_response(struct wbuf *w, const struct v2c_message *m)
{
	put_response(w, m, 0, &m->varbinds);
}

void
v2c_put_too_big(struct wbuf *w, const struct v2c_message *m)
{
	const struct rbuf none = {0};

	put_response(w, m, V2C_TOO_BIG, &none);
}
