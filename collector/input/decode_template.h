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
	DECODE_TEMPLATES_MAX = 256,	/* by length: messages of as many samples mostly have one */
	TEMPLATE_OCTETS_MAX = 1472, /* IPv4 in an Ethernet frame; longer messages are rare */
	TEMPLATE_FIELDS_MAX = 40,	/* three, and two a part */
};

enum template_field_kind {
	TEMPLATE_REQUEST_ID,
	TEMPLATE_UPTIME,
	TEMPLATE_AGENT_ID,
	TEMPLATE_SAMPLE_NAME, /* ifIndex and sequence */
	TEMPLATE_PORT_NAME,   /* ifIndex */
	TEMPLATE_VALUE,	   /* of the part named before */
};

struct decode_template {
	uint16_t octets_n; /* 0: none yet */
	uint16_t n_fields;
	enum ease_notification_kind kind;
	uint32_t boot;
	struct {
		uint16_t at, n;
		uint8_t kind; /* enum template_field_kind */
		uint8_t part; /* of a value: enum ease_part */
	} fields[TEMPLATE_FIELDS_MAX];
	uint8_t octets[TEMPLATE_OCTETS_MAX];
};

struct decode_templates {
	struct decode_template slots[DECODE_TEMPLATES_MAX]; /* zeroed before use */
};

/* As decode_notification, with the same communities at every call until decode_templates_forget. */
enum decode_verdict decode_templates_decode(struct decode_templates *shapes, const void *octets, size_t n,
    const char *const *communities, size_t n_communities, const struct decode_origin *origin,
    struct decode_result *result);

/* When communities change: what was learned is with the former ones. */
void decode_templates_forget(struct decode_templates *shapes);

/* Whether the slot for messages of this length holds a shape that this message has. */
bool decode_templates_match(const struct decode_templates *shapes, const void *octets, size_t n);

#endif
