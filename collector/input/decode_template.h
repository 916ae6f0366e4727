/*
 * Decodes a sender's notifications faster by templates. They differ only in a few fields: request
 * id, uptime, sample numbers, values of the parts. A template is the octets of an earlier message
 * with the places of these fields. The first message of its kind is decoded strictly
 * (decode_notification) and becomes the template for its length; a later message of that length is
 * compared with it octet by octet outside the fields, and the fields are checked as strictly as
 * before. Any message that differs goes to the strict decoder, so verdicts and records are always
 * those of the strict decoder.
 *
 * Fixed memory, no allocation. One thread uses it.
 */
#ifndef EASE_COLLECTOR_INPUT_DECODE_TEMPLATE_H
#define EASE_COLLECTOR_INPUT_DECODE_TEMPLATE_H

#include "collector/input/decode.h"

#include <stdbool.h>

enum {
	DECODE_TEMPLATES_MAX = 256,	/* slots, by the message's length */
	TEMPLATE_OCTETS_MAX = 1472, /* UDP over IPv4 in an Ethernet frame */
	TEMPLATE_FIELDS_MAX = 40,	/* three, and two for each part */
};

enum template_field_kind {
	TEMPLATE_REQUEST_ID,
	TEMPLATE_UPTIME,
	TEMPLATE_AGENT_ID,
	TEMPLATE_SAMPLE_NAME, /* ifIndex and sequence */
	TEMPLATE_PORT_NAME,   /* ifIndex */
	TEMPLATE_VALUE,	   /* of the part whose name was the last field */
};

struct decode_template {
	uint16_t octets_n; /* 0: the slot is empty */
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

/* As decode_notification. The communities must stay the same until decode_templates_forget. */
enum decode_verdict decode_templates_decode(struct decode_templates *templates,
    const void *octets, size_t n, const char *const *communities, size_t n_communities,
    const struct decode_origin *origin, struct decode_result *result);

/* To be called when the communities change, as the templates hold the old ones. */
void decode_templates_forget(struct decode_templates *templates);

/* True if there is a template that matches this message. */
bool decode_templates_match(const struct decode_templates *templates, const void *octets, size_t n);

#endif
