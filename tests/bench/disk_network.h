/*
 * A store filled by one switch of 48 ports, whose hosts talk as in traffic.h, at a given rate of samples, on a clock
 * that is stepped: by the real accounting, writer and upkeep. And what each part of the file takes.
 */
#ifndef EASE_TESTS_DISK_NETWORK_H
#define EASE_TESTS_DISK_NETWORK_H

#include "collector/store/plan.h"

enum { DISK_PORTS = 48 };

struct disk_measured {
	uint64_t samples;
	double file, sample_rows, counter_rows; /* octets of the file; numbers of rows */
	double octets_samples, octets_counters, octets_sums[STORE_N_LEVELS], octets_rest;
	double in_sums[STORE_N_LEVELS]; /* samples that are in the level */
};

/* dir: exists. Ends the process if anything fails. */
void disk_fill(const char *dir, double samples_per_s, double hours, const struct store_retention *keep,
    struct disk_measured *measured);

#endif
