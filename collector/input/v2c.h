/*
 * Parses an SNMPv2c message with a Trap or Inform PDU strictly and without any I/O (RFC 1901, RFC
 * 3416 section 3): first its head, then its variable bindings one by one. At each level the
 * content must have exactly the length that is announced. It also writes the Response to an
 * inform.
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
	struct rbuf varbinds; /* those not yet read */
};

struct v2c_varbind {
	struct ber_oid name;
	uint8_t tag; /* enum ber_tag */
	struct rbuf value; /* valid for its tag */
};

/* v2c_open reads version and, of SNMPv2c, community; messages of other versions continue in another
 * form. v2c_open_pdu reads the rest of the head. Both borrow octets. 0 or -EBADMSG. */
int v2c_open(struct v2c_message *m, struct rbuf *body, const void *octets, size_t n);
int v2c_open_pdu(struct v2c_message *m, struct rbuf *body);

/* Reads the next variable binding. False at the end, or at a mistake: then m->varbinds.failed is
 * set. */
bool v2c_next(struct v2c_message *m, struct v2c_varbind *varbind);

/* Writes the Response to an inform whose variable bindings are not yet read (RFC 3416 section
 * 4.2.7): community, request-id and bindings are those of the inform, and there is no error. It
 * is at most a few octets longer than the inform, so its sender accepts it. If w has no room,
 * w->failed is set, and v2c_put_too_big writes the Response to send instead. */
void v2c_put_response(struct wbuf *w, const struct v2c_message *m);
void v2c_put_too_big(struct wbuf *w, const struct v2c_message *m);

#endif
