#include "collector/input/v3_header.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_3 = 3, MESSAGE_MIN = 484 /* RFC 3412 section 6.3 */ };

const char *const v3_auth_protocols[] = {"SHA-256", "SHA-384", "SHA-512", "SHA-224", "SHA", "MD5",
    NULL};
const char *const v3_priv_protocols[] = {"AES", "AES-192", "AES-256", "DES", NULL};

size_t
v3_engine_id_parse(const char *text, uint8_t id[V3_ENGINE_ID_MAX])
{
	size_t n = strlen(text);

	if (n < 2 + 2 * 5 || n > 2 + 2 * V3_ENGINE_ID_MAX || n % 2 || strncmp(text, "0x", 2) != 0)
		return 0;
	for (size_t i = 2; i < n; i += 2) {
		const char pair[] = {text[i], text[i + 1], '\0'};

		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
			return 0;
		id[i / 2 - 1] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n / 2 - 1;
}

const char *
v3_engine_id_check(const char *text)
{
	uint8_t id[V3_ENGINE_ID_MAX];

	return v3_engine_id_parse(text, id)
	    ? NULL
	    : "an engine ID must be 0x and 10 to 64 hexadecimal digits";
}

static bool
v3_header_take_integer(struct rbuf *r, int32_t least, int32_t *value)
{
	struct rbuf content;

	return ber_expect(r, BER_INTEGER, &content) == 0 && ber_integer(content, value) == 0 && *value >= least;
}

static bool
take_global(struct rbuf *r, struct v3_header *h)
{
	struct rbuf flags;

	if (!v3_header_take_integer(r, 0, &h->message_id) || !v3_header_take_integer(r, MESSAGE_MIN, &h->max_octets) ||
	    ber_expect(r, BER_OCTET_STRING, &flags) < 0 || flags.size != 1 ||
	    !v3_header_take_integer(r, 1, &h->model))
		return false;
	h->flags = flags.data[0];
	return rbuf_done(r);
}

static bool
take_usm(struct rbuf params, struct v3_header *h)
{
	struct rbuf r;

	return ber_expect(&params, BER_SEQUENCE, &r) == 0 && rbuf_done(&params) &&
	    ber_expect(&r, BER_OCTET_STRING, &h->engine_id) == 0 &&
	    h->engine_id.size <= V3_ENGINE_ID_MAX && v3_header_take_integer(&r, 0, &h->boots) &&
	    v3_header_take_integer(&r, 0, &h->time_s) && ber_expect(&r, BER_OCTET_STRING, &h->user) == 0 &&
	    h->user.size <= V3_USER_MAX && ber_expect(&r, BER_OCTET_STRING, &h->digest) == 0 &&
	    ber_expect(&r, BER_OCTET_STRING, &h->salt) == 0 && rbuf_done(&r);
}

int
v3_header_read(struct v3_header *h, const void *octets, size_t n)
{
	struct rbuf all = rbuf_of(octets, n), message, global, params, data;
	int32_t version;
	uint8_t tag;

	if (ber_expect(&all, BER_SEQUENCE, &message) < 0 || !rbuf_done(&all) ||
	    !v3_header_take_integer(&message, VERSION_3, &version) || version != VERSION_3 ||
	    ber_expect(&message, BER_SEQUENCE, &global) < 0 || !take_global(&global, h) ||
	    ber_expect(&message, BER_OCTET_STRING, &params) < 0 ||
	    ber_next(&message, &tag, &data) < 0 || !rbuf_done(&message))
		return -EBADMSG;
	if (h->model != V3_MODEL_USM)
		return 0;
	/* RFC 3412 section 7.2: privacy without authentication is invalid */
	if (h->flags & V3_FLAG_PRIV && !(h->flags & V3_FLAG_AUTH))
		return -EBADMSG;
	return take_usm(params, h) ? 0 : -EBADMSG;
}
