/*
 * Replaces the HAL for a driver or device: records what is reported, and answers a sample with a skip
 * if the test wants it. For tests and benchmarks that must not depend on how the HAL handles
 * events.
 */
#ifndef EASE_TESTS_FAKE_HAL_H
#define EASE_TESTS_FAKE_HAL_H

#include "agent/hal/hal_provider.h"

enum { FAKE_HAL_MAX = 4096, FAKE_HAL_KEPT_OCTETS = 64 };

struct fake_sample {
	struct hal_sample_event event; /* octets point to kept */
	uint8_t kept[FAKE_HAL_KEPT_OCTETS];
};

struct hal {
	struct fake_sample samples[FAKE_HAL_MAX]; /* the first ones; n_samples goes on */
	size_t n_samples;
	size_t n_skips_lost, n_port_changes, n_new_addresses, n_due, n_alarms, n_ended;
	size_t n_errors;
	uint32_t skips_lost[FAKE_HAL_MAX]; /* ifIndex of the first ones */
	uint32_t due[FAKE_HAL_MAX];
	struct ease_address new_addresses[FAKE_HAL_MAX];
	struct hal_error_event errors[FAKE_HAL_MAX];
	uint64_t last_alarm_us;
	/* Called for every port that lost its skips, sample and alarm, if not NULL. A sample is answered with
	 * what on_sample returns, or with no skip. */
	void (*on_skips_lost)(void *ctx, uint32_t if_index);
	int64_t (*on_sample)(void *ctx, const struct hal_sample_event *event);
	void (*on_alarm)(void *ctx, uint64_t device_us);
	void *ctx;
};

#endif
