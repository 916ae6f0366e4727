/* Decodes any datagram: the result is records or a verdict, nothing beyond the datagram is read,
 * all records are in range, and decode templates give the same to the last octet. */
#include "collector/input/decode_template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_record(const struct ease_record *r, const uint8_t *data, size_t size)
{
	const struct ease_sample *s = &r->sample;

	if (r->kind != EASE_PART_SAMPLE)
		return;
	if (s->if_index == 0 || s->sequence == 0 || s->mean_skip == 0 ||
	    (s->direction != EASE_IN && s->direction != EASE_OUT))
		abort();
	if (s->header < data || s->header + s->kept_octets > data + size)
		abort();
}

static void
clear(struct decode_result *r)
{
	memset(r->records, 0, (r->n < DECODE_RECORDS_MAX ? r->n + 1 : r->n) * sizeof(*r->records));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const communities[] = {"public"};
	static const struct decode_origin origin = {.sender = "192.0.2.1", .received_us = 1};
	static struct decode_result strict, by_template;
	static struct decode_templates templates;
	enum decode_verdict verdict = decode_notification(data, size, communities, 1, &origin,
	    &strict);

	if (decode_templates_decode(&templates, data, size, communities, 1, &origin,
		&by_template) != verdict)
		abort();
	if (verdict == DECODE_OK) {
		if (strict.n == 0 || strict.n > DECODE_RECORDS_MAX || by_template.n != strict.n ||
		    memcmp(by_template.records, strict.records,
			strict.n * sizeof(*strict.records)) != 0)
			abort();
		for (size_t i = 0; i < strict.n; i++)
			check_record(&strict.records[i], data, size);
	}
	clear(&strict);
	clear(&by_template);
	return 0;
}
