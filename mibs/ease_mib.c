/*
 * EASE-SAMPLING-MIB (mibs/EASE-SAMPLING-MIB.txt): easeSystem, easePortTable, and the tables of error
 * sources, energy, buffers and forwarding. common/trap_wire.h encodes its notifications, and
 * agent/snmp/notify_send.c sends them.
 */
#include "common/ease_oid.h"
#include "common/sample.h"
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/modules.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static int
system_agent_id(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	mib_put_octets(value, snapshot->system.agent_id, sizeof(snapshot->system.agent_id));
	return 0;
}

static int
system_device_kind(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	mib_put_text(value, snapshot->system.device_kind ? snapshot->system.device_kind : "");
	return 0;
}

static int
system_data_age_ms(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;
	uint64_t now_us = cell->context->mono_us;

	if (!snapshot->hal)
		return -ENOENT;
	value->number =
	    now_us > snapshot->hal->mono_us ? (now_us - snapshot->hal->mono_us) / 1000 : 0;
	return 0;
}

/* The lease stands in the table of ports, which a request changes with it. */
static int
request_owner(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	if (!snapshot->sampling)
		return -ENOENT;
	mib_put_text(value, lease_ttl_s(&snapshot->sampling->lease, cell->context->mono_us) ? snapshot->sampling->lease.owner : "");
	return 0;
}

static int
request_ttl(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	if (!snapshot->sampling)
		return -ENOENT;
	value->number = lease_ttl_s(&snapshot->sampling->lease, cell->context->mono_us);
	return 0;
}

#define SYSTEM(member) MIB_AT(struct mib_snapshot, system.member)

static const struct mib_column system_columns[] = {
	{EASE_SYSTEM_AGENT_ID, "easeAgentId", MIB_STRING, MIB_FN(system_agent_id)},
	{EASE_SYSTEM_BOOT, "easeBoot", MIB_GAUGE32, SYSTEM(boot)},
	{3, "easeDeviceKind", MIB_STRING, MIB_FN(system_device_kind)},
	{4, "easeDataAge", MIB_GAUGE32, MIB_FN(system_data_age_ms)},
	{5, "easeNotifySent", MIB_COUNTER64, SYSTEM(notify_sent)},
	{6, "easeNotifyAcknowledged", MIB_COUNTER64, SYSTEM(notify_acknowledged)},
	{7, "easeNotifyResent", MIB_COUNTER64, SYSTEM(notify_resent)},
	{8, "easeNotifyOverflows", MIB_COUNTER64, SYSTEM(notify_overflows)},
	{9, "easeNotifyRefused", MIB_COUNTER64, SYSTEM(notify_refused)},
	{10, "easeMasterConnects", MIB_COUNTER64, SYSTEM(master_connects)},
	{11, "easeDeviceDrops", MIB_COUNTER64, SYSTEM(device_drops)},
	{EASE_SYSTEM_REQUEST_OWNER, "easeRequestOwner", MIB_STRING, MIB_FN(request_owner), MIB_WRITE(MIB_SET_REQUEST_OWNER, 0, LEASE_OWNER_MAX)},
	{EASE_SYSTEM_REQUEST_TTL, "easeRequestTtl", MIB_GAUGE32, MIB_FN(request_ttl), MIB_WRITE(MIB_SET_REQUEST_TTL, 0, LEASE_TTL_MAX_S)},
};
const struct mib_table ease_mib_system = {
	.name = "easeSystem",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_SYSTEM),
	.scalars = true,
	MIB_COLUMNS(system_columns),
	MIB_ROWS(struct mib_snapshot, mib_system_rows),
};

static size_t
ease_mib_port_rows(const struct mib_context *context, const void **first)
{
	const struct sampling_table *sampling = mib_snapshot_of(context)->sampling;

	if (!sampling)
		return 0;
	*first = sampling->ports;
	return sampling->n_ports;
}

static int
mean_skip_reason(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = ((const struct sampling_port_row *)cell->row)->reason;
	return 0;
}

#define PORT(member) MIB_AT(struct sampling_port_row, member)

static const struct mib_column port_columns[] = {
	{1, "easePortAdminStatus", MIB_INTEGER, PORT(config.enabled), .truth = true,
	    MIB_WRITE(MIB_SET_SAMPLING_ADMIN, 1, 2)},
	{EASE_COL_MEAN_SKIP, "easePortMeanSkip", MIB_GAUGE32, PORT(config.mean_skip),
	    MIB_WRITE(MIB_SET_MEAN_SKIP, 1, EASE_MEAN_SKIP_MAX)},
	{3, "easePortHeaderOctets", MIB_GAUGE32, PORT(config.header_octets),
	    MIB_WRITE(MIB_SET_HEADER_OCTETS, EASE_HEADER_MIN_OCTETS, EASE_HEADER_MAX_OCTETS)},
	{4, "easePortMaxSamples", MIB_GAUGE32, PORT(config.max_samples_per_s),
	    MIB_WRITE(MIB_SET_MAX_SAMPLES, 0, SAMPLING_MAX_PER_SECOND)},
	{5, "easePortEdge", MIB_INTEGER, PORT(config.edge), .truth = true,
	    MIB_WRITE(MIB_SET_EDGE, 1, 2)},
	{6, "easePortSamples", MIB_COUNTER64, PORT(samples)},
	{7, "easePortLastSequence", MIB_GAUGE32, PORT(last_sequence)},
	{8, "easePortPoolIn", MIB_COUNTER64, PORT(pool_in_pkts)},
	{9, "easePortPoolOut", MIB_COUNTER64, PORT(pool_out_pkts)},
	{10, "easePortStalls", MIB_COUNTER64, PORT(stalls)},
	{11, "easePortStalledPkts", MIB_COUNTER64, PORT(stalled_pkts)},
	{12, "easePortDrops", MIB_COUNTER64, PORT(drops)},
	{EASE_COL_SKIP_IN_FORCE, "easePortMeanSkipInForce", MIB_GAUGE32, PORT(mean_skip_in_force)},
	{EASE_COL_REQUESTED_SKIP, "easePortRequestedSkip", MIB_GAUGE32, PORT(config.request.mean_skip),
	    MIB_WRITE(MIB_SET_REQUESTED_SKIP, 0, EASE_DRAWN_MEAN_MAX)},
	{EASE_COL_REQUESTED_MAX, "easePortRequestedMaxSamples", MIB_GAUGE32, PORT(config.request.max_samples_per_s),
	    MIB_WRITE(MIB_SET_REQUESTED_MAX, 0, SAMPLING_MAX_PER_SECOND)},
	{EASE_COL_REQUESTS_HELD, "easePortRequestsHeld", MIB_INTEGER, PORT(config.request.is_held), .truth = true,
	    MIB_WRITE(MIB_SET_REQUESTS_HELD, 1, 2)},
	{EASE_COL_SKIP_REASON, "easePortMeanSkipReason", MIB_INTEGER, MIB_FN(mean_skip_reason)},
};
const struct mib_table ease_mib_port_table = {
	.name = "easePortTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct sampling_port_row, if_index)},
	MIB_COLUMNS(port_columns),
	MIB_ROWS(struct sampling_port_row, ease_mib_port_rows),
};

/* ---- error sources ---- */

static size_t
error_source_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal || !hal->has_error_sources)
		return 0;
	*first = hal->error_sources;
	return hal->n_error_sources;
}

/* DateAndTime of RFC 2579 in UTC. */
static void
put_date(struct mib_value *value, uint64_t time_us)
{
	const time_t seconds = (time_t)(time_us / 1000000);
	struct tm t;

	gmtime_r(&seconds, &t);
	mib_put_octets(value,
	    (uint8_t[]){(uint8_t)((t.tm_year + 1900) >> 8), (uint8_t)(t.tm_year + 1900),
		(uint8_t)(t.tm_mon + 1), (uint8_t)t.tm_mday, (uint8_t)t.tm_hour, (uint8_t)t.tm_min,
		(uint8_t)t.tm_sec, (uint8_t)(time_us / 100000 % 10), '+', 0, 0}, 11);
}

static int
error_source_first(const struct mib_cell *cell, struct mib_value *value)
{
	put_date(value, ((const struct ease_error_source *)cell->row)->first_us);
	return 0;
}

static int
error_source_last(const struct mib_cell *cell, struct mib_value *value)
{
	put_date(value, ((const struct ease_error_source *)cell->row)->time_us);
	return 0;
}

static const struct mib_column error_source_columns[] = {
	{3, "easeErrorSourceFrames", MIB_COUNTER64, MIB_AT(struct ease_error_source, count)},
	{4, "easeErrorSourceFirst", MIB_STRING, MIB_FN(error_source_first)},
	{5, "easeErrorSourceLast", MIB_STRING, MIB_FN(error_source_last)},
};
const struct mib_table ease_mib_error_source_table = {
	.name = "easeErrorSourceTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_ERROR_SOURCE_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct ease_error_source, if_index),
	    MIB_INDEX(MIB_INDEX_MAC, struct ease_error_source, mac),
	    MIB_INDEX(MIB_INDEX_U16, struct ease_error_source, kind)},
	MIB_COLUMNS(error_source_columns),
	MIB_ROWS(struct ease_error_source, error_source_rows),
};

/* ---- energy and buffers, of ports that have them ---- */

/* Returns the unsigned member at offset `arg` of the port's row. */
static uint64_t
port_member(const struct mib_cell *cell)
{
	const char *at = (const char *)cell->row + cell->column->arg;
	uint32_t narrow;
	uint64_t wide;

	memcpy(&narrow, at, sizeof(narrow));
	if (cell->column->syntax != MIB_COUNTER64)
		return narrow;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static int
energy_figure(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->number = port_member(cell);
	return port->has_energy && port->energy.counts ? 0 : -ENOENT;
}

static int
energy_state(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->energy.state;
	return port->has_energy && port->energy.state != HAL_EEE_NOT_KNOWN ? 0 : -ENOENT;
}

#define ENERGY(member) MIB_FIGURE(energy_figure, offsetof(struct hal_port, energy.member))

static const struct mib_column energy_columns[] = {
	{1, "easeEnergyInEvents", MIB_COUNTER64, ENERGY(in.events)},
	{2, "easeEnergyInMicroseconds", MIB_COUNTER64, ENERGY(in.asleep_us)},
	{3, "easeEnergyOutEvents", MIB_COUNTER64, ENERGY(out.events)},
	{4, "easeEnergyOutMicroseconds", MIB_COUNTER64, ENERGY(out.asleep_us)},
	{5, "easeEnergyUnit", MIB_GAUGE32, ENERGY(unit_ns)},
	{6, "easeEnergyPeriod", MIB_GAUGE32, ENERGY(period_ns)},
	{7, "easeEnergyState", MIB_INTEGER, MIB_FN(energy_state)},
};
const struct mib_table ease_mib_energy_table = {
	.name = "easeEnergyTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_ENERGY_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(energy_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

static int
buffer_figure(const struct mib_cell *cell, struct mib_value *value)
{
	value->number = port_member(cell);
	return ((const struct hal_port *)cell->row)->has_buffers ? 0 : -ENOENT;
}

static int
flow_control(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->buffers.flow_control;
	return port->has_buffers ? 0 : -ENOENT;
}

#define BUFFER(member) MIB_FIGURE(buffer_figure, offsetof(struct hal_port, buffers.member))

static const struct mib_column buffer_columns[] = {
	{1, "easeBufferPoolSize", MIB_GAUGE32, BUFFER(pool_buffers)},
	{2, "easeBufferPoolFree", MIB_GAUGE32, BUFFER(pool_free)},
	{3, "easeBufferPoolLeastFree", MIB_GAUGE32, BUFFER(pool_least_free)},
	{4, "easeBufferOctets", MIB_GAUGE32, BUFFER(buffer_octets)},
	{5, "easeBufferCharged", MIB_GAUGE32, BUFFER(charged)},
	{6, "easeBufferMostCharged", MIB_GAUGE32, BUFFER(most_charged)},
	{7, "easeBufferFlowControl", MIB_INTEGER, MIB_FN(flow_control)},
	{8, "easeBufferPressedEpisodes", MIB_COUNTER64, BUFFER(pressed_episodes)},
	{9, "easeBufferPressedMicroseconds", MIB_COUNTER64, BUFFER(pressed_us)},
	{10, "easeBufferIngressDrops", MIB_COUNTER64, BUFFER(ingress_drops)},
	{11, "easeBufferMcastLeftOut", MIB_COUNTER64, BUFFER(mcast_left_out)},
};
const struct mib_table ease_mib_buffer_table = {
	.name = "easeBufferTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_BUFFER_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(buffer_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

/* ---- forwarding, of devices that tell it ---- */

static int
forwarding_value(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->forwarding;
	return port->forwarding != EASE_FORWARDING_NOT_KNOWN ? 0 : -ENOENT;
}

static int
ease_mib_sampled_by(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->sampled_by;
	return port->sampled_by != EASE_SAMPLED_NOT_KNOWN ? 0 : -ENOENT;
}

static const struct mib_column forwarding_columns[] = {
	{1, "easeForwardingBy", MIB_INTEGER, MIB_FN(forwarding_value)},
	{2, "easeForwardingSampledBy", MIB_INTEGER, MIB_FN(ease_mib_sampled_by)},
};
const struct mib_table ease_mib_forwarding_table = {
	.name = "easeForwardingTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_FORWARDING_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(forwarding_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};
