/*
 * Kinds of keys that windows are kept by, as data: what of a frame is the key, in the octets that
 * the store has (collector/store/schema.h, enum store_key_kind). A new kind is one function and
 * one row here.
 */
#ifndef EASE_COLLECTOR_WINDOW_KINDS_H
#define EASE_COLLECTOR_WINDOW_KINDS_H

#include "collector/store/batch.h"

enum { N_KINDS = 7, KINDS_OF_PAIRS = 2 };

/* Both halves of a key as the store has them. */
struct halves {
	uint8_t octets1, octets2;
	uint8_t half1[STORE_KEY_HALF], half2[STORE_KEY_HALF]; /* zeros behind */
};

/* Kinds of keys: how a sample's frame gives its halves (zeroed before); false: it has no key. The
 * first KINDS_OF_PAIRS are pairs of addresses, which reports also add up by one of the two. */
struct kind {
	enum store_key_kind kind;
	bool (*fill)(const struct frame_keys *k, struct halves *h);
};

extern const struct kind window_kinds[N_KINDS];

#endif
