/*
 * bench_sonic [PORTS [SECONDS [ADDRESSES]]]: what a switch of 512 ports costs the SONiC device, in percent of a core for
 * each of 60 seconds of the switch's time, with keyspace events and without; beside it the same number of counters read
 * by libhiredis alone, and what the Redis server itself needs. Then how long 32,768 addresses take to load. JSON, one
 * object a line.
 */
#include "agent/sonic/sonic_device.h"
#include "common/log.h"
#include "tests/agent/sonic/sonic_rig.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>


static struct sonic_server server;
static struct clock now;

static double
used_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor time of the server so far. */
static double
server_s(void)
{
	clockid_t clock;

	return clock_getcpuclockid(server.pid, &clock) == 0 ? used_s(clock) : 0;
}

static void
settle(struct hal *hal, const struct hal_device *device)
{
	struct pollfd ready = {.fd = hal_fd(hal), .events = POLLIN};

	while (hal_dispatch(hal, 0) >= 0 && !sonic_is_settled(device))
		(void)poll(&ready, 1, 20);
}

static struct hal_device *
open_device(struct hal **hal)
{
	struct sonic_config config = {.database_config = server.config, .load_wait_ms = 60000, .clock = &now};
	struct hal_device *device;
	char error[256];

	now = (struct clock){.manual = true, .manual_wall_us = 1, .manual_mono_us = 1000000000};
	if (sonic_create(&config, &device, error, sizeof(error)) < 0 || hal_create(device, &now, hal) < 0 ||
	    hal_start(*hal) < 0) {
		fprintf(stderr, "bench_sonic: %s\n", error);
		exit(1);
	}
	return device;
}

static void
bench_seconds(const struct sonic_plan *plan, uint32_t seconds, bool events)
{
	struct hal_device *device;
	double before, server_before;
	struct hal *hal;

	sonic_server_start(&server, events);
	sonic_fill(&server, plan, 0);
	device = open_device(&hal);
	clock_step_us(&now, 10000000);
	settle(hal, device);
	before = used_s(CLOCK_PROCESS_CPUTIME_ID), server_before = server_s();
	for (uint32_t i = 0; i < seconds; i++) {
		clock_step_us(&now, 1000000);
		settle(hal, device);
	}
	printf("{\"bench\":\"sonic, %u ports, keyspace events %s\",\"core_percent\":%.2f,\"redis_core_percent\":%.2f}\n",
	    plan->n_ports, events ? "on" : "off", 100 * (used_s(CLOCK_PROCESS_CPUTIME_ID) - before) / seconds,
	    100 * (server_s() - server_before) / seconds);
	hal_destroy(hal);
	sonic_server_end(&server);
}

/* The same counters, and nothing done with them. */
static void
bench_hiredis(const struct sonic_plan *plan, uint32_t seconds)
{
	char names[64][64], key[64];
	const char *words[66] = {"HMGET", key};
	double before;

	sonic_server_start(&server, true);
	sonic_fill(&server, plan, 0);
	for (size_t i = 0; i < sonic_n_counter_fields; i++) {
		snprintf(names[i], sizeof(names[i]), "SAI_PORT_STAT_%s", sonic_counter_fields[i]);
		words[2 + i] = names[i];
	}
	freeReplyObject(redisCommand(server.redis, "SELECT 2"));
	before = used_s(CLOCK_PROCESS_CPUTIME_ID);
	for (uint32_t round = 0; round < seconds; round++) {
		for (uint32_t port = 0; port < plan->n_ports; port++) {
			snprintf(key, sizeof(key), "COUNTERS:oid:0x%llx", 0x1000000000018ull + port);
			redisAppendCommandArgv(server.redis, (int)(2 + sonic_n_counter_fields), words, NULL);
		}
		for (uint32_t port = 0; port < plan->n_ports; port++) {
			void *reply = NULL;

			if (redisGetReply(server.redis, &reply) == REDIS_OK)
				freeReplyObject(reply);
		}
	}
	printf("{\"bench\":\"libhiredis alone, %u ports, their counters\",\"core_percent\":%.2f}\n", plan->n_ports,
	    100 * (used_s(CLOCK_PROCESS_CPUTIME_ID) - before) / seconds);
	sonic_server_end(&server);
}

static void
bench_addresses(const struct sonic_plan *plan)
{
	double cpu, wall;
	struct rusage usage;
	struct hal *hal;

	sonic_server_start(&server, true);
	sonic_fill(&server, plan, 0);
	cpu = used_s(CLOCK_PROCESS_CPUTIME_ID), wall = used_s(CLOCK_MONOTONIC);
	(void)open_device(&hal);
	(void)hal_refresh_all(hal);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"bench\":\"sonic, first reading of %u ports and %u addresses\",\"ms\":%.0f,\"processor_ms\":%.0f,"
	    "\"peak_rss_mib\":%.1f}\n", plan->n_ports, plan->n_addresses,
	    1000 * (used_s(CLOCK_MONOTONIC) - wall), 1000 * (used_s(CLOCK_PROCESS_CPUTIME_ID) - cpu),
	    (double)usage.ru_maxrss / 1024);
	hal_destroy(hal);
	sonic_server_end(&server);
}

static uint32_t
argument(int argc, char **argv, int i, uint32_t otherwise)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int
main(int argc, char **argv)
{
	const uint32_t n_ports = argument(argc, argv, 1, 512), seconds = argument(argc, argv, 2, 60);
	const struct sonic_plan ports = {n_ports, 8, 20, 0, -1};
	const struct sonic_plan addresses = {n_ports, 8, 20, argument(argc, argv, 3, 32768), -1};

	if (n_ports < 2 * ports.n_lags || seconds < 1) {
		fputs("usage: bench_sonic [PORTS [SECONDS [ADDRESSES]]]\n", stderr);
		return 2;
	}
	log_set_most(LOG_LEVEL_ERROR);
	bench_seconds(&ports, seconds, true);
	bench_seconds(&ports, seconds, false);
	bench_hiredis(&ports, seconds);
	bench_addresses(&addresses);
	return 0;
}
