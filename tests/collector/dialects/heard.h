/*
 * What the collector makes of a made switch: its datagrams go through a capture file into `easecapd --import`, in
 * process, and the reports of easetop answer from the store.
 */
#ifndef EASE_TESTS_HEARD_H
#define EASE_TESTS_HEARD_H

#include "collector/collector.h"
#include "tests/collector/dialects/dialects.h"

#include <jansson.h>

enum { HEARD_PATH = 96 };

struct heard {
	char dir[64], capture[HEARD_PATH], store[HEARD_PATH];
	struct passed passed;
	json_t *talkers, *load, *loss, *agents, *audit; /* as JSON, of all time */
	json_t *events;
};

/* Writes a capture, imports it and asks; to be ended by heard_end in any case. Fails the test if the collector or a
 * report fails. */
void heard_run(struct heard *h, const struct dialect *d);
void heard_end(struct heard *h);

/* The same with a rule of alarms, and verdicts on samplers; of the reports only events. */
void heard_alarms(struct heard *h, const struct dialect *d, const char *rule, const struct collector_verdicts *verdicts);

/* A number at a path like "rows.0.octets.low"; NAN if there is none. */
double heard_number(const json_t *object, const char *path);
/* A text; "" if there is none. */
const char *heard_text(const json_t *object, const char *path);
size_t heard_rows(const json_t *report);
/* COUNT of a place in the second table of `loss`. */
double heard_place(const struct heard *h, const char *place);
/* Sum of counters of the collector. */
double heard_stats(const struct heard *h, size_t n, const char *const *names);

#endif
