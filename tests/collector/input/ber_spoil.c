#include "tests/collector/input/ber_spoil.h"

#include "common/buf.h"

enum { HEAD_MAX = 8, DEPTH_MAX = 8, CONSTRUCTED = 0x20 };

struct spoiler {
	unsigned how_rarely;
	uint64_t *random;
};

static unsigned
draw(const struct spoiler *s, unsigned n)
{
	*s->random = *s->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*s->random >> 33) % n;
}

static bool
spoils(const struct spoiler *s)
{
	return draw(s, s->how_rarely) == 0;
}

/* Short if it can be, else in as many octets as are needed and some more. */
static void
put_head(const struct spoiler *s, struct wbuf *w, uint8_t tag, size_t octets)
{
	size_t n = octets < 0x80 ? 0 : octets < 0x100 ? 1 : 2;

	if (spoils(s))
		n += draw(s, 4);
	wbuf_u8(w, tag);
	if (n == 0) {
		wbuf_u8(w, (uint8_t)octets);
		return;
	}
	wbuf_u8(w, (uint8_t)(0x80 | n));
	wbuf_be(w, octets, n);
}

static uint8_t
other_tag(const struct spoiler *s)
{
	static const uint8_t tags[] = {0x02, 0x03, 0x04, 0x05, 0x06, 0x24, 0x30, 0x40, 0x41, 0x42,
	    0x43, 0x44, 0x45, 0x46, 0x47, 0x80, 0x81, 0x82, 0xa2, 0xa6, 0xa7, 0x1f, 0x9f};

	return tags[draw(s, sizeof(tags))];
}

/* Another content of a value that is no container. */
static void
put_spoilt(const struct spoiler *s, struct wbuf *w, const uint8_t *octets, size_t n)
{
	switch (draw(s, 8)) {
	case 0: /* padded */
		wbuf_u8(w, 0);
		break;
	case 1:
		wbuf_u8(w, 0xff);
		break;
	case 2: /* an OID's leading zero group */
		wbuf_u8(w, 0x80);
		break;
	case 3: /* the first octet lost, as the 00 before a set bit */
		octets += n > 0;
		n -= n > 0;
		break;
	case 4: /* empty */
		n = 0;
		break;
	case 5: /* the last one lost */
		n -= n > 0;
		break;
	case 6: /* too many */
		wbuf_be(w, (uint64_t)draw(s, 256) << 32 | draw(s, 1 << 30), 1 + draw(s, 8));
		break;
	case 7: /* one wrong */
		wbuf_put(w, octets, n);
		if (n > 0 && !w->failed)
			w->data[w->len - 1 - draw(s, (unsigned)n)] = (uint8_t)draw(s, 256);
		return;
	}
	wbuf_put(w, octets, n);
}

static void put_all(const struct spoiler *s, struct wbuf *w, struct rbuf r, int depth);

/* Content first, further on; then its head is known and it moves up. */
static void
put_value(const struct spoiler *s, struct wbuf *w, uint8_t tag, const struct rbuf *content,
    int depth)
{
	size_t start = w->len;
	struct wbuf inner, head;

	if (w->failed || w->size - start < HEAD_MAX) {
		w->failed = true;
		return;
	}
	inner = wbuf_of(w->data + start + HEAD_MAX, w->size - start - HEAD_MAX);
	head = wbuf_of(w->data + start, HEAD_MAX);
	if (tag & CONSTRUCTED && depth < DEPTH_MAX)
		put_all(s, &inner, *content, depth + 1);
	else if (spoils(s))
		put_spoilt(s, &inner, content->data, content->size);
	else
		wbuf_put(&inner, content->data, content->size);
	if (spoils(s)) /* octets left over inside */
		wbuf_be(&inner, draw(s, 1 << 30), draw(s, 4));
	put_head(s, &head, spoils(s) ? other_tag(s) : tag, inner.len);
	w->failed = inner.failed;
	memmove(w->data + start + head.len, w->data + start + HEAD_MAX, inner.len);
	w->len = start + head.len + inner.len;
}

static bool
take_value(struct rbuf *r, uint8_t *tag, struct rbuf *content)
{
	size_t n;

	*tag = rbuf_u8(r);
	n = rbuf_u8(r);
	if (n & 0x80)
		n = (n & 0x7f) <= 4 ? rbuf_be(r, n & 0x7f) : SIZE_MAX;
	*content = rbuf_sub(r, n);
	return !r->failed;
}

static void
put_all(const struct spoiler *s, struct wbuf *w, struct rbuf r, int depth)
{
	while (rbuf_left(&r) > 0) {
		struct rbuf before = r, content;
		uint8_t tag;

		if (!take_value(&r, &tag, &content)) { /* no BER: as it stands */
			wbuf_put(w, before.data + before.pos, rbuf_left(&before));
			return;
		}
		for (unsigned n = spoils(s) ? draw(s, 3) : 1; n > 0; n--)
			put_value(s, w, tag, &content, depth);
	}
}

size_t
ber_spoil(const uint8_t *octets, size_t n, uint8_t *out, size_t room, unsigned how_rarely,
    uint64_t *random)
{
	const struct spoiler s = {how_rarely, random};
	struct wbuf w = wbuf_of(out, room);

	put_all(&s, &w, rbuf_of(octets, n), 0);
	return w.failed ? 0 : w.len;
}
