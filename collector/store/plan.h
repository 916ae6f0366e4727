/*
 * What a network will take of the disk: reckoned from the number of its ports and samples, how long what is kept, and
 * what a sample and a port take, as tests/bench/bench_disk measures it on three kinds of network. Pure but for the
 * printing (easecapd --plan).
 */
#ifndef EASE_COLLECTOR_STORE_PLAN_H
#define EASE_COLLECTOR_STORE_PLAN_H

#include "collector/store/levels.h"
#include "collector/store/retention.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Octets in the file. Of kinds between these, by samples of a port, the plan interpolates. */
struct plan_kind {
	const char *name;
	double samples_a_port;		    /* a second */
	double sample_octets;		    /* of a sample's own row, with its index */
	double sums_octets[STORE_N_LEVELS]; /* of a level, for each sample that is in it */
	double counter_octets;		    /* of a row of counters */
	double port_octets;		    /* of all else of a port: accounts, states, places */
};
enum { PLAN_N_KINDS = 3 };
extern const struct plan_kind plan_kinds[PLAN_N_KINDS];

struct plan_question {
	double ports, samples_per_s;
	double hours; /* that the collector has run; INFINITY: as long as anything is kept */
	struct store_retention keep;
	uint32_t sample_rows; /* most of a second */
};

/* What is in the file, in octets (headers: of samples, and among theirs), and for how long what is deleted first is kept, in hours, where all of it would not
 * fit into what keep.most_octets has for it (shares.h). */
struct plan {
	struct plan_kind kind; /* interpolated */
	double samples, headers, counters, ports, sums[STORE_N_LEVELS], all;
	double samples_h, sums_h[STORE_N_LEVELS];
	bool fits;
};
void plan_reckon(const struct plan_question *question, struct plan *plan);

/* ports=480,samples=100[,days=7]: samples of a second, and days that these are kept in place of keep.samples_us. The
 * question has keep and sample_rows already. 0, or -EINVAL with the reason in error. */
int plan_parse(const char *text, struct plan_question *question, char *error, size_t error_size);

/* What of it is kept how long once the store is full: "samples stay 3.2 h" or "samples stay 0 h, sums of 1 min 12 h". */
enum { PLAN_STAYS_TEXT = 160 };
void plan_format_stays(const struct plan *plan, char text[PLAN_STAYS_TEXT]);

void plan_print(FILE *out, const struct plan_question *question);

#endif
