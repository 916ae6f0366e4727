/*
 * bench_agents [RECORDS [RUNS]]: what a record costs the accounting by how many agents there are, without
 * sockets and store: processor time of this thread for a sample and a snapshot each, agent after agent, so
 * that none follows on itself. Then what a record of a new agent costs that is refused, because its sender
 * has filled the table. One JSON object a line, of the quickest run.
 */
#include "collector/window/accounting.h"
#include "common/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOON_US (1700000040ull * 1000000)

enum { AGENTS_MAX = 1000, PORTS = 12, HEADER_OCTETS = 34 };

static const struct accounting_limits limits = {
    .agents = 1024,
    .ports = 16384,
    .sample_rows = 1,
    .windows = {.windows = WINDOW_DEFAULT_WINDOWS, .keys = 65536, .keys_per_window = WINDOW_KEYS_PER_WINDOW},
};

static struct accounting *accounting;
static struct store_batch batch;
static struct clock bench_clock;
static const uint8_t header[HEADER_OCTETS] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45};
static char senders[AGENTS_MAX][16];

static uint64_t
processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct ease_record
record(enum ease_part kind, uint32_t agent, const char *sender)
{
	struct ease_record r = {.kind = kind, .boot = 1, .sender = sender, .received_us = NOON_US};

	memcpy(r.agent_id, &agent, sizeof(agent));
	return r;
}

static void
add(uint32_t agent, uint32_t port, uint32_t number)
{
	struct ease_record r[2] = {record(EASE_PART_SAMPLE, agent, senders[agent]),
	    record(EASE_PART_SNAPSHOT, agent, senders[agent])};

	r[0].sample = (struct ease_sample){.time_us = NOON_US + number, .if_index = port, .sequence = number,
	    .direction = EASE_IN, .skip = 99, .mean_skip = 100, .pool_pkts = 100ull * number,
	    .frame_octets = 500, .kept_octets = HEADER_OCTETS, .header = header};
	r[1].snapshot = (struct ease_snapshot){.if_index = port, .time_us = NOON_US + number,
	    .in = {.octets = 50000ull * number, .ucast_pkts = 100ull * number}, .last_sequence = number,
	    .pool_in_pkts = 100ull * number};
	accounting_add_records(accounting, &batch, r, 2);
}

static void
open_accounting(void)
{
	struct store_room room[STORE_N_TABLES] = {0};

	accounting_room(&limits, room);
	bench_clock = (struct clock){.manual = true, .manual_wall_us = NOON_US, .manual_mono_us = NOON_US};
	if (accounting_new(&accounting, &limits, &bench_clock, 0x5eed) < 0 || store_batch_init(&batch, room) < 0)
		exit(1);
}

static void
close_accounting(void)
{
	store_batch_free(&batch);
	accounting_free(accounting);
}

static double
ns_a_notification(uint32_t agents, uint32_t records)
{
	uint32_t rounds = records / agents / PORTS, number = 0;
	uint64_t from_ns;

	open_accounting();
	for (uint32_t port = 1; port <= PORTS; port++) /* they are known then */
		for (uint32_t a = 0; a < agents; a++)
			add(a, port, 1);
	from_ns = processor_ns();
	for (number = 2; number < rounds + 2; number++)
		for (uint32_t port = 1; port <= PORTS; port++)
			for (uint32_t a = 0; a < agents; a++)
				add(a, port, number);
	from_ns = processor_ns() - from_ns;
	close_accounting();
	return (double)from_ns / rounds / agents / PORTS;
}

static double
ns_a_refusal(uint32_t records)
{
	uint64_t from_ns = 0;

	log_set_most(LOG_LEVEL_ERROR);
	open_accounting();
	for (uint32_t a = 0; a < 2 * limits.agents + records; a++) {
		struct ease_record r = record(EASE_PART_STATE, 1000000 + a, "192.0.2.66");

		if (a == 2 * limits.agents)
			from_ns = processor_ns();
		r.state = (struct ease_state){.if_index = 1, .time_us = NOON_US};
		accounting_add_records(accounting, &batch, &r, 1);
	}
	from_ns = processor_ns() - from_ns;
	close_accounting();
	return (double)from_ns / records;
}

int
main(int argc, char **argv)
{
	static const uint32_t agents[] = {10, 100, 1000};
	uint32_t records = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
	int runs = argc > 2 ? atoi(argv[2]) : 3;

	for (uint32_t i = 0; i < AGENTS_MAX; i++)
		snprintf(senders[i], sizeof(senders[i]), "10.0.%u.%u", i / 256, i % 256);
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		double least = 1e9, ns;

		for (int run = 0; run < runs; run++)
			least = (ns = ns_a_notification(agents[i], records)) < least ? ns : least;
		printf("{\"bench\":\"accounting\",\"agents\":%u,\"ports\":%u,\"ns_a_notification\":%.0f}\n",
		    agents[i], agents[i] * PORTS, least);
	}
	printf("{\"bench\":\"accounting refuses a new agent\",\"ns\":%.0f}\n", ns_a_refusal(records / 10));
	return 0;
}
