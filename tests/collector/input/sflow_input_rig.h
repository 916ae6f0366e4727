/* sFlow datagrams of one agent, built here and given to an input; what it makes of them is in result. */
#ifndef EASE_TESTS_SFLOW_INPUT_RIG_H
#define EASE_TESTS_SFLOW_INPUT_RIG_H

#include "collector/input/sflow_input.h"
#include "tests/common/sflow_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT	 0xc0000205u /* 192.0.2.5 */
#define START_S	 1700000000u /* when the agent started, by the collector's clock */

enum { RATE = 100 };

static const uint8_t frame[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45};

static struct sflow_input *in;
static struct decode_result result;
static struct sflow_builder b;
static uint32_t datagram_sequence, rig_boot;

static inline uint32_t
accounted_boot(void *arg, const uint8_t *agent_id)
{
	(void)arg;
	(void)agent_id;
	return rig_boot;
}

static inline void
setup(void)
{
	static struct prefix shared;
	const struct sflow_accounting accounting = {.known_boot = accounted_boot, .shared = &shared, .n_shared = 1};
	const char *reason;

	ck_assert_int_eq(prefix_parse("192.168.1.0/24", &shared, &reason), 0);
	ck_assert_int_eq(sflow_input_new(&in, 1, &accounting), 0);
	datagram_sequence = 0;
	rig_boot = 0;
}

static inline void
teardown(void)
{
	sflow_input_free(in);
}

static inline uint64_t
stat_of(enum sflow_stat_id which)
{
	return stat_get(sflow_input_stats(in), which);
}

/* Sends what was built, arriving uptime_ms after the agent's start. */
static inline enum sflow_verdict
deliver(uint64_t uptime_ms)
{
	struct decode_origin origin = {
	    .sender = "192.0.2.99",
	    .received_us = START_S * 1000000ull + uptime_ms * 1000,
	};

	return sflow_input_take(in, b.octets, b.n, &origin, &result);
}

static inline void
begin(uint64_t uptime_ms, uint32_t n_samples)
{
	built_begin(&b, AGENT, 0, ++datagram_sequence, (uint32_t)uptime_ms, n_samples);
}

static inline struct built_flow
flow(uint32_t sequence, uint32_t pool)
{
	return (struct built_flow){.sequence = sequence, .index = 3, .rate = RATE, .pool = pool,
	    .input = 3, .output = 4, .frame_octets = 500, .stripped = 4, .kept = sizeof(frame),
	    .header = frame};
}

/* The sample among what was delivered; what cannot be in it is told beside it. */
static inline const struct ease_record *
taken(void)
{
	for (size_t i = 0; i < result.n; i++)
		if (result.records[i].kind == EASE_PART_SAMPLE)
			return &result.records[i];
	return NULL;
}

/* One flow sample in a datagram of its own. */
static inline const struct ease_sample *
take(const struct built_flow *f, uint64_t uptime_ms)
{
	begin(uptime_ms, 1);
	built_add_flow(&b, f);
	ck_assert_int_eq(deliver(uptime_ms), SFLOW_END);
	return taken() ? &taken()->sample : NULL;
}

#endif
