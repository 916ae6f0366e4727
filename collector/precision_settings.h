/*
 * What the configuration says of precision: goals, the budget, and the switches whose skips are set, with whom they are
 * asked as.
 */
#ifndef EASE_COLLECTOR_PRECISION_SETTINGS_H
#define EASE_COLLECTOR_PRECISION_SETTINGS_H

#include "collector/config.h"
#include "collector/poll/poll_job.h"
#include "collector/precision/goal.h"
#include "collector/precision/plan.h"

struct precision_target {
	struct prefix agents;
	uint16_t udp_port;
	uint32_t as; /* index into credentials */
	struct poll_sflow to; /* to_octets > 0: one switch of another make, whose datagrams go there */
	uint32_t sflow_skip;
	char address[ENDPOINT_TEXT]; /* of such a switch */
};

/* Of the configuration; the thread has its own, and takes another one when it comes. */
struct precision_settings {
	size_t n_goals;
	struct precision_goal goals[PRECISION_GOALS_MAX];
	struct precision_budget budget;
	size_t n_targets, n_credentials;
	struct precision_target *targets;
	struct poll_credentials *credentials;
};

/* NULL without memory. Freed, its credentials are overwritten. */
struct precision_settings *precision_settings_new(const struct collector_config *config);
void precision_settings_free(struct precision_settings *s);

/* Whom an agent of that address is asked as; UINT32_MAX: nobody wrote it down. */
uint32_t precision_target_of(const struct precision_settings *s, const char *address);

bool precision_have_same_goals(const struct precision_settings *a, const struct precision_settings *b);

#endif
