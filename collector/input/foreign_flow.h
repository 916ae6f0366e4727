/*
 * What a datagram is that is no sFlow version 5: of other versions, and of other protocols that report traffic and are
 * often sent in its place. Pure.
 */
#ifndef EASE_COLLECTOR_INPUT_FOREIGN_FLOW_H
#define EASE_COLLECTOR_INPUT_FOREIGN_FLOW_H

#include <stddef.h>

enum foreign_flow {
	FOREIGN_NOT_KNOWN,
	FOREIGN_SFLOW_2,
	FOREIGN_SFLOW_4,
	FOREIGN_NETFLOW_5,
	FOREIGN_NETFLOW_9,
	FOREIGN_IPFIX,
	FOREIGN_N,
};

enum foreign_flow foreign_flow_of(const void *octets, size_t n);

/* "sFlow version 4: set the switch to sFlow version 5": what came, and what to do. Static storage. */
const char *foreign_flow_text(enum foreign_flow flow);

#endif
