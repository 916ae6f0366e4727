/*
 * IPFIX messages with sampled frames as makes send them, for speaker.h: a template's fields, those of options, and in
 * which messages they come. Written from RFC 7011, 5476 and 7133 and IANA's registry, without collector/input/ipfix.c:
 * reader and writer must not share a mistake.
 */
#ifndef EASE_TESTS_IPFIX_FORM_H
#define EASE_TESTS_IPFIX_FORM_H

#include "tests/collector/dialects/speaker.h"

enum { IPFIX_FORM_FIELDS = 24, IPFIX_FORM_VARIABLE = 65535, IPFIX_FORM_DOMAIN = 0x01010200, IPFIX_FORM_PORT = 4739 };

struct ipfix_form {
	struct ipfix_field {
		uint16_t id, octets; /* id 0: the end */
		uint32_t enterprise;
	} fields[IPFIX_FORM_FIELDS], options[IPFIX_FORM_FIELDS];
	uint16_t n_scope; /* of the options */
	uint32_t every;	  /* templates and options come before each message of that number, 64 if 0; */
	uint32_t first;	  /* and not before this one */
	bool is_sent;	  /* sampled where the frame leaves */
	uint32_t padding; /* octets of zero behind the records of a set */
	uint32_t begins_anew; /* the message with which its numbers do; 0: none */
};

/* Writes a record of the template. */
void ipfix_put_record(struct wbuf *w, const struct ipfix_form *form, const struct flow *f);

/* Writes a message: with templates and options, of which *n_records becomes the number; or of these records. */
void ipfix_put_templates(struct wbuf *w, const struct ipfix_form *form, uint32_t export_s, uint32_t sequence, uint32_t rate,
    uint32_t *n_records);
void ipfix_put_message(struct wbuf *w, const struct ipfix_form *form, uint32_t export_s, uint32_t sequence,
    const uint8_t *records, size_t n);

#endif
