#include "agent/hal/hal.h"
#include "agent/hal/hal_private.h"

#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name hal_stat_names[HAL_N_STATS] = {
    [HAL_STAT_COUNTER_READ_ERRORS] = {"hal.counter_read_errors",
	"times a hardware counter could not be read; its total was kept"},
    [HAL_STAT_COUNTERS_RESTARTED] = {"hal.counters_restarted",
	"times a port's 64-bit counters went back; its totals go on, with a discontinuity"},
    [HAL_STAT_COUNTERS_DUE] = {"hal.counters_due",
	"times a counter was read at once because it was half full"},
    [HAL_STAT_VLANS_LEFT_OUT] = {"hal.vlans_left_out",
	"ranges of VLANs of bridge ports left out because there are too many"},
    [HAL_STAT_ADDRESSES_LEFT_OUT] = {"hal.addresses_left_out",
	"address table entries left out because a snapshot had too many"},
    [HAL_STAT_PORTS_LEFT_OUT] = {"hal.ports_left_out",
	"ports left out because the device has too many"},
    [HAL_STAT_REFRESH_ERRORS] = {"hal.refresh_errors", "times a snapshot could not be made"},
    [HAL_STAT_ERROR_SOURCES_FORGOTTEN] = {"hal.error_sources_forgotten",
	"sources of bad frames replaced by newer ones"},
    [HAL_STAT_FACET_READ_ERRORS] = {"hal.facet_read_errors",
	"times energy or buffers of a port could not be read"},
    [HAL_STAT_ROUNDS_MERGED] = {"hal.rounds_merged",
	"times ports came or left while a snapshot was made; what was read of the others was kept"},
};

/* ---- life cycle ---- */

int
hal_create(struct hal_device *device, const struct clock *clock, struct hal **result)
{
	struct hal *hal = calloc(1, sizeof(*hal));
	int rc = -ENOMEM;

	if (hal == NULL)
		goto fail;
	hal->device = device;
	hal->clock = clock;
	hal->stats = (struct stat_set){hal_stat_names, HAL_N_STATS, hal->stat_values};
	pthread_mutex_init(&hal->publish_lock, NULL);
	rc = hal_ports_sync(hal, NULL);
	if (rc < 0)
		goto fail;
	*result = hal;
	return 0;
fail:
	if (hal != NULL)
		hal_destroy(hal);
	else if (device->ops->destroy != NULL)
		device->ops->destroy(device->ctx);
	return rc;
}

void
hal_destroy(struct hal *hal)
{
	if (hal == NULL)
		return;
	hal_stop(hal);
	hal_snapshot_drop_all(hal);
	hal_ports_free(hal);
	if (hal->device->ops->destroy != NULL)
		hal->device->ops->destroy(hal->device->ctx);
	pthread_mutex_destroy(&hal->publish_lock);
	free(hal);
}

void
hal_set_listener(struct hal *hal, const struct hal_listener *listener)
{
	hal->listener = *listener;
}

int
hal_start(struct hal *hal)
{
	int rc = 0;

	if (hal->started)
		return 0;
	hal->device->hal = hal;
	if (hal->device->ops->start != NULL)
		rc = hal->device->ops->start(hal->device->ctx, hal);
	if (rc < 0)
		hal->device->hal = NULL;
	hal->started = rc == 0;
	return rc;
}

void
hal_stop(struct hal *hal)
{
	if (hal->started && hal->device->ops->stop != NULL)
		hal->device->ops->stop(hal->device->ctx);
	hal->device->hal = NULL;
	hal->started = false;
}

/* ---- the device ---- */

int
hal_fd(const struct hal *hal)
{
	return hal->device->ops->fd != NULL ? hal->device->ops->fd(hal->device->ctx) : -1;
}

int
hal_dispatch(struct hal *hal, unsigned budget)
{
	hal->turn++;
	if (hal->device->ops->dispatch == NULL)
		return 0;
	return hal->device->ops->dispatch(hal->device->ctx, budget);
}

uint64_t
hal_device_drops(const struct hal *hal)
{
	return atomic_load_explicit(&hal->device_drops, memory_order_relaxed);
}

bool
hal_waits_for_cpu(const struct hal *hal)
{
	return hal->device->ops->waits_for_cpu;
}

int
hal_alarm(struct hal *hal, uint64_t steady_us)
{
	if (hal->device->ops->alarm == NULL)
		return -EOPNOTSUPP;
	return hal->device->ops->alarm(hal->device->ctx, steady_us);
}

/* ---- sampling ---- */

bool
hal_has_sampling(const struct hal *hal)
{
	return hal->device->sampling != NULL;
}

uint32_t
hal_max_skip(const struct hal *hal)
{
	return hal->device->sampling != NULL ? hal->device->sampling->max_skip : 0;
}

unsigned
hal_skip_depth(const struct hal *hal)
{
	return hal->device->sampling != NULL ? hal->device->sampling->skip_depth : 0;
}

int
hal_load_skip(struct hal *hal, uint32_t if_index, uint32_t skip)
{
	const struct hal_sampling_ops *ops = hal->device->sampling;

	if (ops == NULL)
		return -EOPNOTSUPP;
	if (skip > ops->max_skip)
		return -EINVAL;
	return ops->load_skip(hal->device->sampling_ctx, if_index, skip);
}

int
hal_restart_sampling(struct hal *hal, uint32_t if_index)
{
	const struct hal_sampling_ops *ops = hal->device->sampling;

	if (ops == NULL || ops->restart == NULL)
		return -EOPNOTSUPP;
	return ops->restart(hal->device->sampling_ctx, if_index);
}

int
hal_set_sampling_rate(struct hal *hal, uint32_t if_index, uint32_t rate)
{
	const struct hal_sampling_ops *ops = hal->device->sampling;

	if (ops == NULL || ops->set_rate == NULL)
		return -EOPNOTSUPP;
	return ops->set_rate(hal->device->sampling_ctx, if_index, rate);
}

int
hal_sampling_rate(const struct hal *hal, uint32_t if_index, uint32_t *rate)
{
	const struct hal_sampling_ops *ops = hal->device->sampling;

	if (ops == NULL || ops->rate == NULL)
		return -EOPNOTSUPP;
	return ops->rate(hal->device->sampling_ctx, if_index, rate);
}

/* ---- settings ---- */

static int
may_change(const struct hal *hal)
{
	const struct hal_device_ops *ops = hal->device->ops;

	return ops->may_change ? ops->may_change(hal->device->ctx) : 0;
}

int
hal_check_sampling_rate(const struct hal *hal, uint32_t if_index, uint32_t rate)
{
	const struct hal_sampling_ops *ops = hal->device->sampling;
	int rc = may_change(hal);

	if (rc == 0 && ops != NULL && ops->check_rate != NULL)
		rc = ops->check_rate(hal->device->sampling_ctx, if_index, rate);
	return rc;
}

/* An alias that the HAL keeps itself needs no permission of the device. */
int
hal_check_alias(const struct hal *hal, uint32_t if_index, const char *alias)
{
	if (hal_port_find(hal, if_index) == NULL)
		return -ENODEV;
	if (strlen(alias) > EASE_NAME_MAX)
		return -EINVAL;
	return hal->device->ports->set_alias != NULL ? may_change(hal) : 0;
}

int
hal_set_alias(struct hal *hal, uint32_t if_index, const char *alias)
{
	const struct hal_ports_ops *ops = hal->device->ports;
	struct hal_port_state *port = hal_port_find(hal, if_index);
	int rc = hal_check_alias(hal, if_index, alias);

	if (rc < 0)
		return rc;
	if (ops->set_alias != NULL)
		return ops->set_alias(hal->device->ports_ctx, if_index, alias);
	strcpy(port->alias, alias);
	return 0;
}

int
hal_set_link_traps(struct hal *hal, uint32_t if_index, bool on)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL)
		return -ENODEV;
	port->no_link_traps = !on;
	return 0;
}

int
hal_check_admin_status(const struct hal *hal, uint32_t if_index, uint8_t admin_status)
{
	if (hal_port_find(hal, if_index) == NULL)
		return -ENODEV;
	if (hal->device->ports->set_admin_status == NULL)
		return -EOPNOTSUPP;
	/* testing(3) is optional in RFC 2863 and not supported. */
	if (admin_status != EASE_IF_UP && admin_status != EASE_IF_DOWN)
		return -EINVAL;
	return may_change(hal);
}

int
hal_set_admin_status(struct hal *hal, uint32_t if_index, uint8_t admin_status)
{
	const struct hal_ports_ops *ops = hal->device->ports;
	int rc = hal_check_admin_status(hal, if_index, admin_status);

	if (rc == 0)
		rc = ops->set_admin_status(hal->device->ports_ctx, if_index, admin_status);
	if (rc == 0)
		hal_report_port_changed(hal, if_index);
	return rc;
}

int
hal_check_pause(const struct hal *hal, uint32_t if_index, uint8_t mode)
{
	struct hal_port port;
	int rc = hal_port_info(hal, if_index, &port);

	if (rc < 0)
		return rc;
	if (hal->device->ports->set_pause == NULL)
		return -EOPNOTSUPP;
	if (mode < HAL_PAUSE_DISABLED || mode > HAL_PAUSE_BOTH)
		return -EINVAL;
	if ((mode == HAL_PAUSE_XMIT || mode == HAL_PAUSE_RCV) && port.speed_bps <= 100000000)
		return -EBUSY;
	return may_change(hal);
}

int
hal_set_pause(struct hal *hal, uint32_t if_index, uint8_t mode)
{
	int rc = hal_check_pause(hal, if_index, mode);

	if (rc < 0)
		return rc;
	return hal->device->ports->set_pause(hal->device->ports_ctx, if_index, mode);
}

int
hal_check_ageing_s(const struct hal *hal, uint32_t seconds)
{
	const struct hal_addresses_ops *ops = hal->device->addresses;

	if (ops == NULL || ops->set_ageing_s == NULL)
		return -EOPNOTSUPP;
	if (seconds < HAL_AGEING_MIN_S || seconds > HAL_AGEING_MAX_S)
		return -EINVAL;
	return may_change(hal);
}

int
hal_set_ageing_s(struct hal *hal, uint32_t seconds)
{
	int rc = hal_check_ageing_s(hal, seconds);

	if (rc < 0)
		return rc;
	return hal->device->addresses->set_ageing_s(hal->device->addresses_ctx, seconds);
}

int
hal_check_static(const struct hal *hal, const uint8_t mac[6], uint32_t if_index)
{
	const struct hal_addresses_ops *ops = hal->device->addresses;

	if (ops == NULL || ops->set_static == NULL)
		return -EOPNOTSUPP;
	if (mac[0] & 1)
		return -EINVAL;
	if (if_index != 0 && hal_port_find(hal, if_index) == NULL)
		return -ENODEV;
	return may_change(hal);
}

int
hal_set_static(struct hal *hal, const uint8_t mac[6], uint32_t if_index)
{
	int rc = hal_check_static(hal, mac, if_index);

	if (rc < 0)
		return rc;
	return hal->device->addresses->set_static(hal->device->addresses_ctx, mac, if_index);
}

uint32_t
hal_ageing_s(const struct hal *hal)
{
	const struct hal_addresses_ops *ops = hal->device->addresses;

	return ops == NULL ? 0 : ops->ageing_s(hal->device->addresses_ctx);
}

static void
hal_tell_port(struct hal *hal, enum hal_port_happening happening, uint32_t if_index)
{
	const struct hal_port_event event = {happening, if_index, ++hal->port_events};

	if (hal->listener.port != NULL)
		hal->listener.port(hal->listener.ctx, &event);
}

void
hal_forget_port(struct hal *hal, const char *name, uint32_t if_index)
{
	if (name != NULL && hal->device->ports->forget != NULL)
		hal->device->ports->forget(hal->device->ports_ctx, name);
	if (if_index != 0 && hal_port_find(hal, if_index) == NULL)
		hal_tell_port(hal, HAL_PORT_FORGOTTEN, if_index);
}

bool
hal_keeps_settings(const struct hal *hal)
{
	return hal->device->ops->keeps_settings;
}

const struct stat_set *
hal_stats(const struct hal *hal)
{
	return &hal->stats;
}

/* ---- events that drivers report ---- */

/* Samples of a port that were all taken before one reading share it, within one turn of hal_dispatch(). Of a
 * driver that does not know the pool at the sample, the time is not the sample's either. One after which
 * frames pass unsampled is not among them: how many passed must be known now. */
static bool
has_fresh_counters(
    const struct hal *hal, const struct hal_port_state *port, const struct hal_sample_event *event)
{
	return event->pool_pkts != HAL_POOL_UNKNOWN && port->sample_read_turn == hal->turn &&
	    port->sample_read_us > event->time_us && !event->counter_empty;
}

int64_t
hal_report_sample(struct hal *hal, struct hal_sample_event *event)
{
	struct hal_port_state *port = hal_port_find(hal, event->if_index);

	if (port == NULL || hal->listener.sample == NULL)
		return HAL_NO_SKIP;
	if (hal->device->counters != NULL) {
		if (!has_fresh_counters(hal, port, event))
			hal_read_sample_counters(hal, port);
		event->counters = &port->figures;
		event->counters_time_us = port->sample_read_us;
	}
	assert(event->lost || event->direction == EASE_IN || event->direction == EASE_OUT);
	event->discontinuity_us = port->discontinuity_us;
	if (event->pool_pkts == HAL_POOL_UNKNOWN)
		event->pool_pkts = event->counters == NULL ? 0
		    : port->figures.value[event->direction == EASE_IN ? HAL_POOL_IN_PKTS
								      : HAL_POOL_OUT_PKTS];
	return hal->listener.sample(hal->listener.ctx, event);
}

void
hal_report_skips_lost(struct hal *hal, uint32_t if_index)
{
	if (hal->listener.skips_lost != NULL)
		hal->listener.skips_lost(hal->listener.ctx, if_index);
}

void
hal_report_samples_lost(struct hal *hal, uint32_t if_index, uint32_t n)
{
	if (hal->listener.samples_lost != NULL)
		hal->listener.samples_lost(hal->listener.ctx, if_index, n);
}

void
hal_report_drop(struct hal *hal, const struct ease_drop *drop)
{
	if (hal->listener.drop != NULL)
		hal->listener.drop(hal->listener.ctx, drop);
}

void
hal_report_drops_untold(struct hal *hal, uint32_t if_index, uint64_t n)
{
	if (hal->listener.drops_untold != NULL)
		hal->listener.drops_untold(hal->listener.ctx, if_index, n);
}

/* The ports that came and left are told by what the list has, whichever of them was reported. */
void
hal_report_port_changed(struct hal *hal, uint32_t if_index)
{
	bool was_here = hal_port_find(hal, if_index) != NULL;
	struct hal_port_state *port;
	struct hal_port info;

	hal->port_changes++;
	if (hal_ports_sync(hal, hal_tell_port) < 0)
		log_warn_limited("hal", "the changed list of ports could not be read: no memory");
	port = hal_port_find(hal, if_index);
	if (port == NULL || !was_here)
		return;
	if (hal_port_info(hal, if_index, &info) == 0 && info.oper_status != port->oper_status) {
		port->oper_status = info.oper_status;
		port->last_change_mono_us = clock_mono_us(hal->clock);
	}
	hal_tell_port(hal, HAL_PORT_CHANGED, if_index);
}

void
hal_report_new_address(struct hal *hal, const struct ease_address *address)
{
	if (hal->listener.new_address != NULL)
		hal->listener.new_address(hal->listener.ctx, address);
}

void
hal_report_counters_due(struct hal *hal, uint32_t if_index)
{
	struct hal_counters counters;

	stat_add(&hal->stats, HAL_STAT_COUNTERS_DUE, 1);
	hal_read_counters(hal, if_index, &counters);
}

void
hal_report_counters_reset(struct hal *hal, uint32_t if_index)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL)
		return;
	memset(port->previous_raw, 0, sizeof(port->previous_raw));
	port->rows_read = false;
	hal_mark_discontinuity(hal, if_index);
}

void
hal_report_alarm(struct hal *hal, uint64_t steady_us)
{
	if (hal->listener.alarm != NULL)
		hal->listener.alarm(hal->listener.ctx, steady_us);
}

void
hal_report_ended(struct hal *hal)
{
	if (hal->listener.ended != NULL)
		hal->listener.ended(hal->listener.ctx);
}
