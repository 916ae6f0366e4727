#include "tests/faults/soak_wire.h"

#include "agent/snmp/trap_message.h"

#include <assert.h>

size_t
soak_wire_trap(const struct ease_notification *n, const struct notify_source *source,
    uint64_t uptime_us, uint8_t octets[SOAK_WIRE_OCTETS])
{
	struct ber_writer w = ber_writer_of(octets, SOAK_WIRE_OCTETS);
	const struct trap_message message = {.notification = n, .source = source,
	    .uptime_cs = (uint32_t)(uptime_us / 10000), .request_id = 1};

	trap_message_put_v2c(&w, &message, "public");
	assert(!w.failed);
	return ber_octets(&w);
}
