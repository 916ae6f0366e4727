/*
 * EASE-SAMPLING-MIB (mibs/EASE-SAMPLING-MIB.txt): easeSystem and easePortTable. What its
 * notifications carry is made by common/trap_wire.h and sent by agent/snmp/notify_send.c.
 */
#include "common/ease_oid.h"
#include "common/sample.h"
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/modules.h"

#include <errno.h>

#define N_COLUMNS(a) (sizeof(a) / sizeof((a)[0]))

static int
system_agent_id(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_view *view = cell->row;

	mib_put_octets(value, view->system.agent_id, sizeof(view->system.agent_id));
	return 0;
}

static int
system_device_kind(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_view *view = cell->row;

	mib_put_text(value, view->system.device_kind ? view->system.device_kind : "");
	return 0;
}

static int
system_data_age_ms(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_view *view = cell->row;
	uint64_t now_us = cell->context->mono_us;

	if (!view->hal)
		return -ENOENT;
	value->number = now_us > view->hal->mono_us ? (now_us - view->hal->mono_us) / 1000 : 0;
	return 0;
}

#define SYSTEM(member) MIB_AT(struct mib_view, system.member)

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
};
const struct mib_table ease_mib_system = {
	.name = "easeSystem",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_SYSTEM),
	.scalars = true,
	.columns = system_columns,
	.n_columns = N_COLUMNS(system_columns),
	.row_size = sizeof(struct mib_view),
	.rows = mib_system_rows,
};

static size_t
port_rows(const struct mib_context *context, const void **first)
{
	const struct sampling_view *sampling = mib_view_of(context)->sampling;

	if (!sampling)
		return 0;
	*first = sampling->ports;
	return sampling->n_ports;
}

#define PORT(member) MIB_AT(struct sampling_port_row, member)

static const struct mib_column port_columns[] = {
	{1, "easePortAdminStatus", MIB_INTEGER, PORT(config.enabled), .truth = true,
	    MIB_WRITE(MIB_SET_SAMPLING_ADMIN, 1, 2)},
	{2, "easePortMeanSkip", MIB_GAUGE32, PORT(config.mean_skip),
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
	{13, "easePortMeanSkipInForce", MIB_GAUGE32, PORT(mean_skip_in_force)},
};
const struct mib_table ease_mib_port_table = {
	.name = "easePortTable",
	.entry = MIB_OID(EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct sampling_port_row, if_index)},
	.columns = port_columns,
	.n_columns = N_COLUMNS(port_columns),
	.row_size = sizeof(struct sampling_port_row),
	.rows = port_rows,
};
