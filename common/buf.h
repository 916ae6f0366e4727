/*
 * A reader and a writer with bounds checks, over memory that the caller owns.
 *
 * All input from outside (captures, SNMP values, configuration, netlink) is read through struct
 * rbuf, and every wire format is written through struct wbuf. After the first access beyond the
 * end `failed` stays true, reads return 0 and writes do nothing; so a decoder can read a whole
 * record and check once. Neither allocates nor frees.
 */
#ifndef EASE_COMMON_BUF_H
#define EASE_COMMON_BUF_H

#include "common/assert_hot.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rbuf {
	const uint8_t *data; /* borrowed */
	size_t size;
	size_t pos; /* next octet to read, <= size */
	bool failed;
};

struct wbuf {
	uint8_t *data; /* borrowed */
	size_t size;
	size_t len; /* octets written, <= size */
	bool failed;
};

static inline struct rbuf
rbuf_of(const void *data, size_t size)
{
	return (struct rbuf){.data = data, .size = size};
}

static inline struct wbuf
wbuf_of(void *data, size_t size)
{
	return (struct wbuf){.data = data, .size = size};
}

static inline size_t
rbuf_left(const struct rbuf *r)
{
	assert_hot(r->pos <= r->size);
	return r->size - r->pos;
}

/* True if nothing failed and nothing is left over: what a strict decoder checks at its end. */
static inline bool
rbuf_done(const struct rbuf *r)
{
	return !r->failed && r->pos == r->size;
}

/* Steps over the next n octets and returns them, borrowed; NULL (and failed) if there are fewer. */
static inline const uint8_t *
rbuf_take(struct rbuf *r, size_t n)
{
	if (r->failed || n > rbuf_left(r)) {
		r->failed = true;
		return NULL;
	}
	r->pos += n;
	return r->data + r->pos - n;
}

/* A reader over the next n octets only, so that a record cannot be read beyond its end. */
static inline struct rbuf
rbuf_sub(struct rbuf *r, size_t n)
{
	const uint8_t *p = rbuf_take(r, n);
	struct rbuf sub = rbuf_of(p, p ? n : 0);

	sub.failed = p == NULL;
	return sub;
}

static inline uint64_t
rbuf_be(struct rbuf *r, size_t n)
{
	const uint8_t *p = rbuf_take(r, n);
	uint64_t v = 0;

	for (size_t i = 0; p && i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline uint8_t
rbuf_u8(struct rbuf *r)
{
	return (uint8_t)rbuf_be(r, 1);
}

static inline uint16_t
rbuf_be16(struct rbuf *r)
{
	return (uint16_t)rbuf_be(r, 2);
}

static inline uint32_t
rbuf_be32(struct rbuf *r)
{
	const uint8_t *p = rbuf_take(r, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, 4);
	return be32toh(v);
}

static inline uint64_t
rbuf_be64(struct rbuf *r)
{
	const uint8_t *p = rbuf_take(r, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return be64toh(v);
}

static inline void
wbuf_put(struct wbuf *w, const void *data, size_t n)
{
	assert_hot(w->len <= w->size);
	if (w->failed || n > w->size - w->len) {
		w->failed = true;
		return;
	}
	if (n > 0)
		memcpy(w->data + w->len, data, n);
	w->len += n;
}

static inline void
wbuf_be(struct wbuf *w, uint64_t v, size_t n)
{
	uint8_t b[8];

	assert(n <= sizeof(b));
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> 8 * (n - 1 - i));
	wbuf_put(w, b, n);
}

static inline void
wbuf_u8(struct wbuf *w, uint8_t v)
{
	wbuf_put(w, &v, 1);
}

static inline void
wbuf_be16(struct wbuf *w, uint16_t v)
{
	wbuf_be(w, v, 2);
}

static inline void
wbuf_be32(struct wbuf *w, uint32_t v)
{
	wbuf_be(w, v, 4);
}

static inline void
wbuf_be64(struct wbuf *w, uint64_t v)
{
	wbuf_be(w, v, 8);
}

#endif
