/*
 * Faster decoding of what was decoded before: a sender's notifications differ in a few places
 * only (request id, time, numbers of samples, the parts' values). The shape of a message is its
 * octets with those places marked. The first message of a shape is decoded strictly
 * (decode_notification); a later one of the same length is compared with the shape octet by octet
 * outside these places, and what stands in them is checked as strictly as before. Whatever is not
 * as expected goes to the strict decoder, so the verdict and the records are always its own.
 *
 * Fixed memory, no allocation; one thread.
 */
#ifndef EASE_COLLECTOR_INPUT_DECODE_TEMPLATE_H
#define EASE_COLLECTOR_INPUT_DECODE_TEMPLATE_H

#include "collector/input/decode.h"

#include <stdbool.h>

enum {
	SHAPES_MAX = 256,	/* by length: messages of as many samples mostly have one */
	SHAPE_OCTETS_MAX = 1472, /* IPv4 in an Ethernet frame; longer messages are rare */
	SHAPE_PLACES_MAX = 40,	/* three, and two a part */
};

enum shape_place_kind {
	SHAPE_REQUEST_ID,
	SHAPE_UPTIME,
	SHAPE_AGENT_ID,
	SHAPE_SAMPLE_NAME, /* ifIndex and sequence */
	SHAPE_PORT_NAME,   /* ifIndex */
	SHAPE_VALUE,	   /* of the part named before */
};

struct shape {
	uint16_t octets_n; /* 0: none yet */
	uint16_t n_places;
	enum ease_notification_kind kind;
	uint32_t boot;
	struct {
		uint16_t at, n;
		uint8_t kind; /* enum shape_place_kind */
		uint8_t part; /* of a value: enum ease_part */
	} places[SHAPE_PLACES_MAX];
	uint8_t octets[SHAPE_OCTETS_MAX];
};

struct shapes {
	struct shape slots[SHAPES_MAX]; /* zeroed before use */
};

/* As decode_notification, with the same communities at every call until shapes_forget. */
enum decode_verdict shapes_decode(struct shapes *shapes, const void *octets, size_t n,
    const char *const *communities, size_t n_communities, const struct decode_origin *origin,
    struct decode_result *result);

/* When communities change: what was learned is with the former ones. */
void shapes_forget(struct shapes *shapes);

/* Whether the slot for messages of this length holds a shape that this message has. */
bool shapes_know(const struct shapes *shapes, const void *octets, size_t n);

#endif
