/* Decodes any sequence of datagrams, each after two octets of length: all records are in range, and
 * the state of agents and ports stays consistent. */
#include "collector/input/sflow_frame.h"
#include "collector/input/sflow_input.h"
#include "common/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_record(const struct ease_record *r, const uint8_t *data, size_t size)
{
	const struct ease_sample *s = &r->sample;
	struct frame_keys keys;

	if (r->boot == 0 || r->sender[0] == '\0')
		abort();
	if (r->kind == EASE_PART_DISCARD && (r->discard.frame.if_index == 0 || strlen(r->discard.detail) >= EASE_DISCARD_TEXT ||
		strlen(r->discard.place) >= EASE_DISCARD_TEXT || strlen(r->discard.group) >= EASE_DISCARD_TEXT))
		abort();
	if (r->kind == EASE_PART_ODD && (r->odd.kind == 0 || r->odd.kind >= EASE_N_ODDITIES || r->odd.n == 0))
		abort();
	if (r->kind != EASE_PART_SAMPLE)
		return;
	if (s->if_index == 0 || s->mean_skip == 0 || s->mean_skip > EASE_MEAN_SKIP_MAX || s->frame_octets == 0 ||
	    s->frame_octets > 66000 || (s->direction != EASE_IN && s->direction != EASE_OUT))
		abort();
	if (s->kept_octets == 0) { /* of a protocol that is not read the length alone is known */
		if (s->header || !s->is_packet)
			abort();
		return;
	}
	if (s->header >= data && s->header < data + size) {
		if (s->header + s->kept_octets > data + size)
			abort();
	} else if (s->kept_octets > SFLOW_FRAME_MADE || s->frame_octets < FRAME_MIN_OCTETS) {
		abort(); /* a header that was made of fields */
	}
	if (s->is_packet)
		frame_parse_packet(s->header, s->kept_octets, &keys);
	else
		frame_parse(s->header, s->kept_octets, &keys);
	if (s->vlan > 4094)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decode_result result;
	struct decode_origin origin = {.sender = "192.0.2.1", .received_us = 1700000000000000ull};
	struct sflow_input *in;
	struct rbuf run = rbuf_of(data, size);

	if (sflow_input_new(&in, 1, &(struct sflow_accounting){.arg = NULL}) < 0)
		abort();
	while (rbuf_left(&run) > 2) {
		size_t n = rbuf_be16(&run);
		struct rbuf one = rbuf_sub(&run, n < rbuf_left(&run) ? n : rbuf_left(&run));

		origin.received_us += 1000000;
		sflow_input_take(in, one.data, one.size, &origin, &result);
		for (size_t i = 0; i < result.n; i++)
			check_record(&result.records[i], one.data, one.size);
	}
	sflow_input_free(in);
	return 0;
}
