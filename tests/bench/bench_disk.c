/*
 * bench_disk [HOURS]: what a sample and a port take of the disk, on three kinds of network (disk_network.h): idle,
 * office and busy, by samples a second of a port, over HOURS (25) of a stepped clock. JSON, a line for each kind:
 * the constants of collector/store/plan.c as they are measured here, and beside them those that `easecapd --plan` has; and
 * the whole file in relation to what the plan says of it. A kind's days are measured from 25 hours on.
 */
#include "tests/bench/disk_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_US 3600000000ull

static const struct store_retention keep = {.samples_us = 24 * HOUR_US,
    .level_us = {[LEVEL_1_MIN] = 48 * HOUR_US, [LEVEL_5_MIN] = 14 * 24 * HOUR_US, [LEVEL_1_H] = 92 * 24 * HOUR_US,
	[LEVEL_1_D] = 800 * 24 * HOUR_US}, .most_octets = 1ull << 40};

static double
ratio(double of, double to)
{
	return to > 0 ? of / to : 0;
}

static void
print_constants(const char *name, double sample, const double sums[STORE_N_LEVELS], double port, double counter)
{
	printf(",\"%s\":{\"sample\":%.1f,\"sums\":[", name, sample);
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++)
		printf("%s%.1f", l > LEVEL_1_MIN ? "," : "", sums[l]);
	printf("],\"port\":%.0f,\"counter\":%.1f}", port, counter);
}

static void
bench(const struct plan_kind *kind, double hours, const char *dir)
{
	const struct plan_question question = {.ports = DISK_PORTS, .samples_per_s = DISK_PORTS * kind->samples_a_port,
	    .hours = hours, .keep = keep, .sample_rows = 20000};
	struct disk_measured m;
	struct plan plan;
	double sums[STORE_N_LEVELS] = {0};

	disk_fill(dir, question.samples_per_s, hours, &keep, &m);
	plan_reckon(&question, &plan);
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++)
		sums[l] = ratio(m.octets_sums[l], m.in_sums[l]);
	printf("{\"bench\":\"disk\",\"network\":\"%s\",\"samples_a_port_s\":%g,\"hours\":%g,\"samples\":%llu,\"mib\":%.1f,"
	       "\"octets_a_sample\":%.0f", kind->name, kind->samples_a_port, hours, (unsigned long long)m.samples,
	    m.file / (1 << 20), ratio(m.file, (double)m.samples));
	print_constants("measured", ratio(m.octets_samples, m.sample_rows), sums, m.octets_rest / DISK_PORTS,
	    ratio(m.octets_counters, m.counter_rows));
	print_constants("plan", kind->sample_octets, kind->sums_octets, kind->port_octets, kind->counter_octets);
	printf(",\"counters_a_port\":%.0f,\"file_of_plan\":%.2f}\n", m.counter_rows / DISK_PORTS,
	    ratio(m.file, plan.all));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	double hours = argc > 1 ? atof(argv[1]) : 25;
	char dir[] = "bench-disk.XXXXXX", command[64];

	if (!mkdtemp(dir))
		return EXIT_FAILURE;
	for (int i = 0; i < PLAN_N_KINDS; i++)
		bench(&plan_kinds[i], hours, dir);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
