/*
 * What the input gives to everything behind it: one part of a notification, decoded, with who said
 * it. Records of one notification come together and in its order, or not at all. Nothing here
 * knows how it travelled, so SNMP, sFlow and a replayed capture give the same records.
 */
#ifndef EASE_COLLECTOR_RECORD_H
#define EASE_COLLECTOR_RECORD_H

#include "common/ease_oid.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ease_record {
	enum ease_part kind; /* which member of the union below is set */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	bool loose_numbers;   /* numbers go on over a boot or begin anywhere, and snapshots do not
				 say which were given out (sFlow) */
	const char *sender;   /* address text without port; borrowed, as long as the call lasts */
	uint64_t received_us; /* collector's wall clock, since 1970 */
	union {
		struct ease_sample sample; /* header is borrowed, as long as the call lasts */
		struct ease_snapshot snapshot;
		struct ease_state state;
		struct ease_address address;
	};
};

/* Takes the records of one notification; must not keep them and must not wait. */
typedef void ease_record_sink(void *arg, const struct ease_record *records, size_t n);

#endif
