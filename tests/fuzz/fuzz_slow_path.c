/* Parses any octets as the slow path does by itself: the head of an SNMPv3 message, and informs and
 * events with their Responses. Nothing beyond them is read, and what is written can be parsed. */
#include "collector/input/decode.h"
#include "collector/input/event.h"
#include "collector/input/v3_header.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_response(const struct v2c_message *m)
{
	static uint8_t octets[1 << 16];
	struct wbuf w = wbuf_of(octets, sizeof(octets));
	struct v2c_message back;
	struct rbuf body;

	v2c_put_response(&w, m);
	if (w.failed)
		return;
	if (v2c_open(&back, &body, octets, w.len) < 0 || v2c_open_pdu(&back, &body) < 0 ||
	    back.request_id != m->request_id || back.varbinds.size != m->varbinds.size)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const communities[] = {"public"};
	static const struct decode_origin origin = {.sender = "192.0.2.1", .received_us = 1};
	static struct decode_result result;
	enum decode_verdict verdict;
	struct ease_event event = {0};
	struct v3_header head;
	struct v2c_message m;

	if (v3_header_read(&head, data, size) == 0 && head.model == V3_MODEL_USM &&
	    (head.engine_id.size > V3_ENGINE_ID_MAX || head.user.size > V3_USER_MAX))
		abort();
	verdict = decode_open(data, size, communities, 1, &m);
	if (verdict != DECODE_OK && verdict != DECODE_INFORM)
		return 0;
	if (size <= 9216)
		check_response(&m);
	if (decode_varbinds(&m, &origin, &result) == DECODE_EVENT)
		event_decode(&m, &event);
	return 0;
}
