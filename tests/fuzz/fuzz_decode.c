/* Any datagram at all: records or a reason, never a read beyond it, records always in range; and the
 * same by the shapes learned from the datagrams before. */
#include "collector/input/shape.h"

#include <stdlib.h>

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const communities[] = {"public"};
	static const struct decode_origin origin = {"192.0.2.1", 1};
	static struct decode_result result;
	static struct shapes shapes;
	enum decode_verdict verdict = decode_notification(data, size, communities, 1, &origin,
	    &result);
	size_t n = result.n;

	if (shapes_decode(&shapes, data, size, communities, 1, &origin, &result) != verdict)
		abort();
	if (verdict != DECODE_OK)
		return 0;
	if (result.n != n)
		abort();
	if (result.n == 0 || result.n > DECODE_RECORDS_MAX)
		abort();
	for (size_t i = 0; i < result.n; i++)
		check_record(&result.records[i], data, size);
	return 0;
}
