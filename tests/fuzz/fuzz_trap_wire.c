/* The first octet chooses the value's kind; what a decoder takes must encode to the same octets. */
#include "common/buf.h"
#include "common/trap_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_same(const struct wbuf *w, const uint8_t *data, size_t size)
{
	if (w->failed || w->len != size || memcmp(w->data, data, size) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ease_sample sample = {0};
	struct ease_snapshot snapshot = {0};
	struct ease_state state = {0};
	struct ease_address address = {0};
	struct ease_resources resources = {0};
	struct ease_error_source source = {0};
	struct ease_change change = {0};
	uint8_t octets[512];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	if (size < 1)
		return 0;
	if (data[0] == EASE_PART_SAMPLE && !trap_wire_get_sample(data + 1, size - 1, &sample))
		trap_wire_put_sample(&w, &sample);
	else if (data[0] == EASE_PART_SNAPSHOT &&
	    !trap_wire_get_snapshot(data + 1, size - 1, &snapshot))
		trap_wire_put_snapshot(&w, &snapshot);
	else if (data[0] == EASE_PART_STATE && !trap_wire_get_state(data + 1, size - 1, &state))
		trap_wire_put_state(&w, &state);
	else if (data[0] == EASE_PART_ADDRESS &&
	    !trap_wire_get_address(data + 1, size - 1, &address))
		trap_wire_put_address(&w, &address);
	else if (data[0] == EASE_PART_RESOURCES &&
	    !trap_wire_get_resources(data + 1, size - 1, &resources))
		trap_wire_put_resources(&w, &resources);
	else if (data[0] == EASE_PART_ERROR_SOURCE &&
	    !trap_wire_get_error_source(data + 1, size - 1, &source))
		trap_wire_put_error_source(&w, &source);
	else if (data[0] == EASE_PART_CHANGE && !trap_wire_get_change(data + 1, size - 1, &change))
		trap_wire_put_change(&w, &change);
	else
		return 0;
	check_same(&w, data + 1, size - 1);
	return 0;
}
