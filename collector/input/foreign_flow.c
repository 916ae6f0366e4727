#include "collector/input/foreign_flow.h"

#include "common/buf.h"

#define OTHER_PROTOCOL ": another protocol; send it to a NetFlow collector, or set the switch to sFlow version 5"
#define OTHER_VERSION  ": set the switch to sFlow version 5"

static const char *const texts[FOREIGN_N] = {
    [FOREIGN_NOT_KNOWN] = "not sFlow version 5",
    [FOREIGN_SFLOW_2] = "sFlow version 2" OTHER_VERSION,
    [FOREIGN_SFLOW_4] = "sFlow version 4" OTHER_VERSION,
    [FOREIGN_NETFLOW_5] = "NetFlow version 5" OTHER_PROTOCOL,
    [FOREIGN_NETFLOW_9] = "NetFlow version 9" OTHER_PROTOCOL,
    [FOREIGN_IPFIX] = "IPFIX's flows, which are no samples; have the switch send packets' first octets (element 315), or "
		      "sFlow version 5",
};

/* NetFlow and IPFIX (RFC 3954, 7011) begin with a version of 16 bits and the number of records or the length; sFlow
 * with one of 32, and the type of the agent's address. */
enum {
	NETFLOW_5_HEAD = 24,
	NETFLOW_5_RECORD = 48,
	NETFLOW_9_HEAD = 20,
	ADDRESS_V4 = 1,
	ADDRESS_V6 = 2,
};

enum foreign_flow
foreign_flow_of(const void *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);
	uint16_t version = rbuf_be16(&r), second = rbuf_be16(&r);
	uint32_t address = rbuf_be32(&r);

	if (r.failed)
		return FOREIGN_NOT_KNOWN;
	if (version == 0 && (address == ADDRESS_V4 || address == ADDRESS_V6))
		return second == 2 ? FOREIGN_SFLOW_2 : second == 4 ? FOREIGN_SFLOW_4 : FOREIGN_NOT_KNOWN;
	if (version == 5 && n == NETFLOW_5_HEAD + (size_t)second * NETFLOW_5_RECORD)
		return FOREIGN_NETFLOW_5;
	if (version == 9 && n >= NETFLOW_9_HEAD)
		return FOREIGN_NETFLOW_9;
	return version == 10 && n == second ? FOREIGN_IPFIX : FOREIGN_NOT_KNOWN;
}

const char *
foreign_flow_text(enum foreign_flow flow)
{
	return texts[flow];
}
