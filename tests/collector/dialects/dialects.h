/*
 * sFlow as makes of the field send it: one table of what is odd on each, where that was reported, and what must come
 * out of the reports nevertheless. A row without a public report says [constructed].
 */
#ifndef EASE_TESTS_DIALECTS_H
#define EASE_TESTS_DIALECTS_H

#include "collector/record.h"
#include "collector/report/report.h"
#include "tests/collector/dialects/speaker.h"

enum { DIALECT_ANY = UINT32_MAX };

/* 0 in a field: the number behind it. */
struct truth {
	double total;	   /* of what the ports received (or sent, where they sample that alone): 1 */
	double hosts;	   /* part of each host's octets that the list can name: 1 */
	uint32_t agents, ports; /* rows of `agents` and `load`: those of the traffic; DIALECT_ANY */
	uint32_t boots;	   /* of an agent at most: 1; DIALECT_ANY */
	uint32_t unused;   /* samples that may be left out at most: 0 */
	uint32_t before;   /* numbers given out before the collector came: 0; DIALECT_ANY */
	uint32_t dropped;  /* samples that the agent says it dropped since: 0 */
	uint32_t output;   /* the interface that stored samples have; 0: not looked at */
	uint32_t src_as, dst_as; /* AS numbers that they have; 0: none */
	uint32_t first_if; /* the port that the next two are of; 0: all */
	const char *check; /* how CHECK of `load` begins: ok */
	uint64_t speed_bps; /* 0: not looked at */
	enum report_layer layer; /* of the list: IP */
	const char *verdict; /* of `audit`, how it begins; NULL: not looked at */
	uint32_t odd, may; /* what `agents` must name, and what it may: bits of enum ease_oddity */
	const char *no_trust; /* what must not stand under TRUST IT FOR; NULL: anything may */
};

struct dialect {
	const char *make, *odd, *where;
	struct traffic traffic;
	struct speech speech;
	struct truth truth;
};

extern const struct dialect dialects[];
extern const size_t n_dialects;

#endif
