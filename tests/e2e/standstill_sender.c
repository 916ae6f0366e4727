/*
 * standstill_sender PORT COMMUNITY MEAN TRUTH: a GalNet chip whose CPU is late again and again, for so many frames as
 * this program says, reports to the collector on this UDP port of loopback as an agent does. Writes a line a
 * port to the file TRUTH: ifIndex, frames, standstills, and the frames that passed in them, as far as they are known without
 * asking the agent's counters: exactly when MEAN is 1, else "-".
 *
 * Of each burst that comes while the CPU does nothing, the counter and its shadow each take one sample.
 */
#include "agent/sampling/packer.h"
#include "agent/snmp/trap_sinks.h"
#include "tests/agent/sim/chip/standstill_switch.h"
#include "tests/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STANDSTILLS = 12, IN_TIME = 40, SECONDS = 4 };

static char **arguments;
static struct packer *packer;
static struct trap_sinks *sinks;

static int
push(void *ctx, const struct ease_notification *notification)
{
	(void)ctx;
	return trap_sinks_push(sinks, notification);
}

static void
lost(void *ctx, uint32_t if_index, unsigned n_samples)
{
	(void)ctx;
	ck_abort_msg("port %u: %u samples could not be sent", (unsigned)if_index, n_samples);
}

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	packer_sample(packer, sample, snapshot);
	return 0;
}

static void
send_counters(void)
{
	packer_flush(packer);
	for (unsigned port = 0; port < STANDSTILL_PORTS; port++) {
		struct ease_snapshot snapshot = standstill_switch_snapshot(port);

		packer_counters(packer, &snapshot);
	}
	packer_flush(packer);
}

static void
send_states(void)
{
	for (unsigned port = 0; port < STANDSTILL_PORTS; port++) {
		struct ease_state state = {.if_index = STANDSTILL_FIRST_IF + port,
		    .time_us = clock_wall_us(&clock_system), .speed_bps = 100000000,
		    .duplex = EASE_DUPLEX_FULL, .admin_status = EASE_IF_UP, .oper_status = EASE_IF_UP,
		    .edge = true};

		snprintf(state.name, sizeof(state.name), "p%u", port);
		packer_state(packer, &state);
	}
	packer_flush(packer);
}

/* The frames of a burst, another for each port and time. */
static unsigned
burst(unsigned port, unsigned i)
{
	return 100 + 37 * port + 211 * i;
}

static void
be_late(unsigned i)
{
	for (unsigned n = 0; n < IN_TIME; n++) {
		for (unsigned port = 0; port < STANDSTILL_PORTS; port++)
			standstill_switch_pass(port, 1);
		standstill_switch_cpu_works();
	}
	packer_flush(packer);
	for (unsigned port = 0; port < STANDSTILL_PORTS; port++)
		standstill_switch_pass(port, burst(port, i));
	standstill_switch_cpu_works();
	packer_flush(packer);
	usleep(SECONDS * 1000000 / STANDSTILLS); /* the collector sees times that go on */
}

static void
write_truth(const struct standstill_switch *sw, bool exact, const char *path)
{
	FILE *truth = fopen(path, "w");

	ck_assert_ptr_nonnull(truth);
	for (unsigned port = 0; port < STANDSTILL_PORTS; port++) {
		uint64_t stalled = 0;

		for (unsigned i = 0; i < STANDSTILLS; i++)
			stalled += burst(port, i) - 2;
		fprintf(truth, "%u %" PRIu64 " %d ", STANDSTILL_FIRST_IF + port, sw->frames[port],
		    STANDSTILLS);
		if (exact)
			fprintf(truth, "%" PRIu64 "\n", stalled);
		else
			fputs("-\n", truth);
	}
	ck_assert_int_eq(fclose(truth), 0);
}

static void
open_sink(void)
{
	static const struct notify_source source = {.agent_id = {1, 2, 3, 4, 5, 6, 7, 8}, .boot = 1};
	char address[32], none[] = "", error[256];
	struct trap_sink sink = {.address = address, .community = arguments[2], .user = none,
	    .auth_passphrase = none, .priv_passphrase = none, .max_per_s = TRAP_SINK_RATE_MAX};

	snprintf(address, sizeof(address), "127.0.0.1:%s", arguments[1]);
	ck_assert_msg(trap_sinks_create(&sink, 1, &source, &clock_system, &sinks, error,
	    sizeof(error)) == 0, "%s", error);
}

START_TEST(report)
{
	static const struct packer_sink out = {NULL, push, lost};
	static const struct sampling_sink taken = {NULL, take};
	uint32_t mean = (uint32_t)atoi(arguments[3]);
	struct standstill_switch *sw;

	open_sink();
	ck_assert_int_eq(packer_create(1400, &out, &packer), 0);
	sw = standstill_switch_create(mean, &taken, &clock_system);
	send_states();
	send_counters();
	for (unsigned i = 0; i < STANDSTILLS; i++)
		be_late(i);
	send_counters();
	write_truth(sw, mean == 1, arguments[4]);
	standstill_switch_destroy();
	packer_destroy(packer);
	trap_sinks_destroy(sinks);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("standstill_sender");
	TCase *all = tcase_create("all");

	if (argc != 5)
		return 2;
	arguments = argv;
	tcase_set_timeout(all, 60);
	tcase_add_test(all, report);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
