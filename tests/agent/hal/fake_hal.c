#include "tests/agent/hal/fake_hal.h"

#include <string.h>

int64_t
hal_report_sample(struct hal *hal, struct hal_sample_event *event)
{
	if (hal->n_samples < FAKE_HAL_MAX) {
		struct fake_sample *s = &hal->samples[hal->n_samples];
		size_t n = event->kept_octets;

		s->event = *event;
		if (n > sizeof(s->kept))
			n = sizeof(s->kept);
		if (n > 0)
			memcpy(s->kept, event->octets, n);
		s->event.octets = s->kept;
	}
	hal->n_samples++;
	return hal->on_sample ? hal->on_sample(hal->ctx, event) : HAL_NO_SKIP;
}

void
hal_report_skips_lost(struct hal *hal, uint32_t if_index)
{
	if (hal->n_skips_lost < FAKE_HAL_MAX)
		hal->skips_lost[hal->n_skips_lost] = if_index;
	hal->n_skips_lost++;
	if (hal->on_skips_lost)
		hal->on_skips_lost(hal->ctx, if_index);
}

void
hal_report_port_changed(struct hal *hal, uint32_t if_index)
{
	(void)if_index;
	hal->n_port_changes++;
}

void
hal_report_new_address(struct hal *hal, const struct ease_address *address)
{
	if (hal->n_new_addresses < FAKE_HAL_MAX)
		hal->new_addresses[hal->n_new_addresses] = *address;
	hal->n_new_addresses++;
}

void
hal_report_error_source(struct hal *hal, const struct hal_error_event *event)
{
	if (hal->n_errors < FAKE_HAL_MAX)
		hal->errors[hal->n_errors] = *event;
	hal->n_errors++;
}

void
hal_report_counters_due(struct hal *hal, uint32_t if_index)
{
	if (hal->n_due < FAKE_HAL_MAX)
		hal->due[hal->n_due] = if_index;
	hal->n_due++;
}

void
hal_report_counters_reset(struct hal *hal, uint32_t if_index)
{
	(void)hal;
	(void)if_index;
}

void
hal_report_alarm(struct hal *hal, uint64_t steady_us)
{
	hal->n_alarms++;
	hal->last_alarm_us = steady_us;
	if (hal->on_alarm)
		hal->on_alarm(hal->ctx, steady_us);
}

void
hal_report_ended(struct hal *hal)
{
	hal->n_ended++;
}
