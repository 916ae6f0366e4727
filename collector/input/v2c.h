/*
 * An SNMPv2c message around a Trap or Inform PDU (RFC 1901, RFC 3416 section 3), taken apart
 * strictly and without any I/O: envelope first, then the variable bindings one by one. Each level
 * must hold exactly what its length says. And the Response to an inform.
 */
#ifndef EASE_COLLECTOR_INPUT_V2C_H
#define EASE_COLLECTOR_INPUT_V2C_H

#include "collector/input/ber.h"

enum {
	V2C_VERSION_1 = 0, /* SNMPv1's number */
	V2C_VERSION_2C = 1,
	V2C_VERSION_3 = 3,
	V2C_TOO_BIG = 1, /* error-status tooBig */
};

struct v2c_message {
	int32_t version;
	struct rbuf community;
	uint8_t pdu; /* its tag */
	int32_t request_id, error_status, error_index;
	struct rbuf varbinds; /* not yet stepped over */
};

struct v2c_varbind {
	struct ber_oid name;
	uint8_t tag; /* enum ber_tag */
	struct rbuf value; /* good for its tag */
};

/* Each step: 0 or -EBADMSG. v2c_open reads as far as version and community, which are set if it
 * is 0 (the rest of a message of another version has another form); v2c_open_pdu the rest. Both
 * borrow octets. */
int v2c_open(struct v2c_message *m, struct rbuf *body, const void *octets, size_t n);
int v2c_open_pdu(struct v2c_message *m, struct rbuf *body);

/* True and a varbind; false at the end or at a mistake, which m->varbinds.failed tells apart. */
bool v2c_next(struct v2c_message *m, struct v2c_varbind *varbind);

/* The Response to an inform whose variable bindings are not yet stepped over (RFC 3416 section
 * 4.2.7): community, request-id and bindings as they came, no error. It is as long as the inform or
 * a few octets longer, so the sender takes it; if w has no room, w->failed, and v2c_put_too_big is
 * what goes. */
void v2c_put_response(struct wbuf *w, const struct v2c_message *m);
void v2c_put_too_big(struct wbuf *w, const struct v2c_message *m);

#endif
