#include "agent/config.h"

#include "agent/sampling/sampling.h"
#include "agent/sampling/sflow_export.h"
#include "agent/snmp/master_connect.h"
#include "agent/snmp/notify.h"
#include "agent/snmp/trap_sink.h"
#include "common/log.h"
#include "common/privilege.h"
#include "common/trap_wire.h"
#include "common/udp_out.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const device_choices[] = {"emulated", "dummy", "linux", "sonic", NULL};
static const char *const pace_choices[] = {"recorded", "lock_step", NULL};
static const char *const deal_choices[] = {"source", "hash", "interface", NULL};
static const char *const zero_choices[] = {"auto", "capture", "now", NULL};
static const char *const draw_choices[] = {"geometric", "uniform", NULL};
static const char *const sampling_choices[] = {"none", "auto", "psample", "ebpf", "cpu", NULL};
static const char *const ifindex_choices[] = {"kernel", "stable", NULL};
static const char *const level_choices[] = {"error", "warn", "info", "debug", NULL};

#define AT(member) .offset = offsetof(struct agent_config, member)
#define PATH_MAX_OCTETS 4096
#define SINK_AT(member) .offset = offsetof(struct trap_sink, member)

static const struct option_row sink_options[] = {
    {.name = "community", .type = OPTION_STRING, SINK_AT(community), .max = TRAP_SINK_COMMUNITY_MAX,
	.secret = true,
	.help = "send SNMPv2c traps with this community"},
    {.name = "user", .type = OPTION_STRING, SINK_AT(user), .max = TRAP_SINK_USER_MAX,
	.help = "send SNMPv3 traps (authPriv) as this user instead; the agent's log says which "
		"engine ID it uses"},
    {.name = "auth_protocol", .type = OPTION_ENUM, SINK_AT(auth_protocol),
	.choices = trap_sink_auth_protocols, .def = "SHA-256",
	.help = "how SNMPv3 traps are authenticated"},
    {.name = "auth_passphrase", .type = OPTION_STRING, SINK_AT(auth_passphrase),
	.secret = true,
	.help = "at least 8 characters"},
    {.name = "priv_protocol", .type = OPTION_ENUM, SINK_AT(priv_protocol),
	.choices = trap_sink_priv_protocols, .def = "AES",
	.help = "how SNMPv3 traps are encrypted"},
    {.name = "priv_passphrase", .type = OPTION_STRING, SINK_AT(priv_passphrase),
	.secret = true,
	.help = "at least 8 characters"},
    {.name = "max_per_s", .type = OPTION_U32, SINK_AT(max_per_s), .min = 1,
	.max = TRAP_SINK_RATE_MAX, .unit = "notifications/s", .def = "50000",
	.help = "the agent drops notifications above this rate and counts their samples as drops "
		"of the port; a board in lock step waits instead"},
    {0},
};

#ifdef WITHOUT_SIM /* of configure --without-sim: agent/sim is left out */
enum { HAS_SIM = false };
#define DEFAULT_DEVICE "linux"
#define SIM_HELP ". This build has no emulated switch: emulated and dummy are refused"
#else
enum { HAS_SIM = true };
#define DEFAULT_DEVICE "emulated"
#define SIM_HELP ""
#endif

const struct option_row agent_options[] = {
    {.name = "device", .type = OPTION_ENUM, AT(device), .choices = device_choices,
	.def = DEFAULT_DEVICE, .help = "what the agent serves. emulated: a board of emulated chips; "
		"dummy: generated ports, for tests; linux: this machine's network interfaces; "
		"sonic: the switch on which SONiC runs, from its databases" SIM_HELP},
    {.name = "board", .type = OPTION_STRING, AT(board), .expert = true, .max = PATH_MAX_OCTETS,
	.help = "emulated: the board file, which lists chips and ports"},
    {.name = "capture", .type = OPTION_STRING, AT(capture), .expert = true, .max = PATH_MAX_OCTETS,
	.help = "emulated: where the board's frames come from: a pcap or pcapng file, or "
		"live:INTERFACE; the option deal chooses the port of each frame"},
    {.name = "deal", .type = OPTION_ENUM, AT(deal), .expert = true, .choices = deal_choices, .def = "source",
	.help = "emulated: which port receives a frame of the capture. source: each new source "
		"address goes to the next port and stays there; hash: a hash of the source address "
		"chooses the port; interface: each interface of the pcapng file goes to the next "
		"port"},
    {.name = "pace", .type = OPTION_ENUM, AT(pace), .expert = true, .choices = pace_choices, .def = "recorded",
	.help = "emulated: recorded: play the capture at the speed of its time stamps; lock_step: "
		"play it as fast as the agent can follow"},
    {.name = "speed_factor", .type = OPTION_U32, AT(speed_factor), .expert = true, .min = 1, .max = 1000,
	.def = "1", .help = "emulated, pace recorded: play the capture this many times faster"},
    {.name = "loop", .type = OPTION_BOOL, AT(loop), .expert = true, .def = "false",
	.help = "emulated: play the capture again and again"},
    {.name = "time_zero", .type = OPTION_ENUM, AT(time_zero), .expert = true, .choices = zero_choices,
	.def = "auto",
	.help = "emulated: when the board's clock starts. capture: at the capture's first time "
		"stamp; now: at the present time; auto: capture in lock step, else now"},
    {.name = "dummy_ports", .type = OPTION_U32, AT(dummy_ports), .expert = true, .min = 1, .max = HAL_MAX_PORTS,
	.def = "48", .help = "dummy: number of generated ports"},
    {.name = "dummy_addresses", .type = OPTION_U32, AT(dummy_addresses), .expert = true, .min = 0,
	.max = HAL_MAX_ADDRESSES, .def = "1000", .help = "dummy: number of generated addresses"},
    {.name = "dummy_vlans", .type = OPTION_U32, AT(dummy_vlans), .expert = true, .min = 0, .max = HAL_VLAN_MAX,
	.def = "0", .help = "dummy: number of VLANs of the ports; 0: the bridge is not VLAN-aware"},
    {.name = "sampling", .type = OPTION_ENUM, AT(sampling), .choices = sampling_choices,
	.def = "auto",
	.help = "linux: how interfaces are sampled. psample: by the switch hardware if its driver "
		"supports it, else by the kernel; ebpf: by a program at each interface; auto: by "
		"the hardware, else by ebpf, else by psample. An interface whose frames a switch chip "
		"forwards is sampled by the chip or not at all; with cpu, which is else as auto, what "
		"of its frames reaches the CPU is sampled, as a port of its own. none: no sampling. sonic: "
		"none: take no samples; any other: take those that SONiC has the chip take"},
    {.name = "ifindex", .type = OPTION_ENUM, AT(ifindex), .choices = ifindex_choices,
	.def = "kernel",
	.help = "linux: the ifIndex of a port. kernel: the kernel's number, as snmpd, lldpd and "
		"hsflowd have it, which may change with a reboot or a replugged card; stable: the one "
		"that its name got first"},
    {.name = "allow_set", .type = OPTION_BOOL, AT(allow_set), .def = "true",
	.help = "linux: managers may change settings of the kernel: ifAdminStatus, ifAlias, flow "
		"control, ageing and static addresses; sonic: ifAdminStatus, ifAlias and the mean "
		"skip in CONFIG_DB; false: these are notWritable"},
    {.name = "skip_by_speed", .type = OPTION_BOOL, AT(skip_by_speed), .def = "true",
	.help = "linux: the mean skip of a port is its speed in Mb/s, at least 100, until a manager "
		"sets another; mean_skip applies to ports of unknown speed"},
    {.name = "drops", .type = OPTION_BOOL, AT(drops), .def = "false",
	.help = "linux: report each packet that the kernel or a switch chip drops, as an event of sFlow to "
		"sflow_collector: its first octets, where it came in, why, and which function or trap "
		"dropped it. Only one program of a machine can have the kernel's drop monitor"},
    {.name = "drops_per_s", .type = OPTION_U32, AT(drops_per_s), .expert = true, .min = 1, .max = 100000, .unit = "1/s",
	.def = "100",
	.help = "linux: the most dropped packets that are reported; further ones are only counted, by port"},
    {.name = "lldpd_socket", .type = OPTION_STRING, AT(lldpd_socket), .expert = true, .max = 107, .def = "/run/lldpd.socket",
	.help = "linux: lldpd's control socket; where it is open to the agent, lldpcli is asked each half minute whom lldpd "
		"hears, for LLDP-MIB. \"\": lldpd is not asked"},
    {.name = "trap_port", .type = OPTION_U32, AT(trap_port), .expert = true, .min = 1, .max = 65535,
	.def = "162", .help = "linux, sonic: the UDP port to which this machine's snmpd sends "
			      "notifications. The agent does not sample these, nor what it sends "
			      "itself to trap_sinks and sflow_collector"},
    {.name = "sonic_database_config", .type = OPTION_STRING, AT(sonic_database_config), .expert = true,
	.max = PATH_MAX_OCTETS, .def = "/var/run/redis/sonic-db/database_config.json",
	.help = "sonic: the file in which SONiC says where its databases are"},
    {.name = "sonic_by_tcp", .type = OPTION_BOOL, AT(sonic_by_tcp), .expert = true, .def = "false",
	.help = "sonic: reach the databases by TCP (hostname and port in that file); false: by Unix "
		"socket"},
    {.name = "mean_skip", .type = OPTION_U32, AT(mean_skip), .min = 1, .max = EASE_DRAWN_MEAN_MAX,
	.unit = "frames per sample", .def = "400",
	.help = "the mean skip of each port until a manager sets another (easePortMeanSkip), which "
		"then holds over restarts"},
    {.name = "draw", .type = OPTION_ENUM, AT(draw), .choices = draw_choices, .def = "geometric",
	.help = "the distribution of the skips. geometric: every frame is sampled with the same "
		"probability; uniform: skips from 0 to twice the mean"},
    {.name = "header_octets", .type = OPTION_U32, AT(header_octets),
	.min = EASE_HEADER_MIN_OCTETS, .max = EASE_HEADER_MAX_OCTETS, .unit = "octets",
	.def = "128", .help = "how much of a sampled frame is sent, until a manager sets another "
			      "number (easePortHeaderOctets)"},
    {.name = "max_samples_per_s", .type = OPTION_U32, AT(max_samples_per_s), .min = 0,
	.max = SAMPLING_MAX_PER_SECOND, .unit = "samples/s", .def = "2000",
	.help = "above this rate the agent raises the port's mean skip in force, until a manager "
		"sets another limit (easePortMaxSamples); 0: no limit"},
    {.name = "requests", .type = OPTION_BOOL, AT(requests), .def = "false",
	.help = "stations may ask for another skip of a port by SNMP SET, for as long as they renew it "
		"(easeRequestOwner, easePortRequestedSkip); the configured one is in force again when they "
		"leave. sonic: not, as its own database keeps the rate beyond the agent's life"},
    {.name = "requests_least_skip", .type = OPTION_U32, AT(requests_least_skip), .min = 1,
	.max = EASE_DRAWN_MEAN_MAX, .unit = "frames per sample", .def = "16",
	.help = "a station that asks for a smaller skip gets this one"},
    {.name = "requests_max_samples_per_s", .type = OPTION_U32, AT(requests_max_samples_per_s), .min = 0,
	.max = SAMPLING_MAX_PER_SECOND, .unit = "samples/s", .def = "5000",
	.help = "while all ports together take more, requested skips are doubled; 0: no limit"},
    {.name = "seed", .type = OPTION_U64, AT(seed), .expert = true, .min = 0, .max = UINT64_MAX, .def = "0",
	.help = "seed of the random skips, for runs that can be repeated; 0: a random seed"},
    {.name = "agentx_socket", .type = OPTION_STRING, AT(agentx_socket), .max = PATH_MAX_OCTETS,
	.def = "/var/agentx/master",
	.help = "the AgentX socket of the master (snmpd): a path, or tcp:ADDRESS:PORT",
	.check = master_address_check},
    {.name = "message_octets", .type = OPTION_U32, AT(message_octets), .expert = true,
	.min = TRAP_WIRE_MESSAGE_MIN, .max = TRAP_WIRE_MESSAGE_MAX, .unit = "octets",
	.def = "1400", .help = "the largest SNMP message that a notification may need"},
    {.name = "message_wait_ms", .type = OPTION_U32, AT(message_wait_ms), .expert = true, .min = 0, .max = 10000,
	.unit = "ms", .def = "50", .live = true,
	.help = "how long a sample waits for others that are sent in the same notification"},
    {.name = "queue_notifications", .type = OPTION_U32, AT(queue_notifications), .expert = true, .min = 64,
	.max = NOTIFY_RING_MAX, .def = "16384",
	.help = "how many notifications are kept while the master is away; samples in older ones "
		"are counted as drops of their port"},
    {.name = "counters_interval_s", .type = OPTION_U32, AT(counters_interval_s), .min = 1,
	.max = 3600, .unit = "s", .def = "2", .live = true,
	.help = "the time between two easeCounters of a port; those of more than 64 ports are spread over "
		"it, and of these, idle ones rest for 20 s. Reports of the last minutes end where counters end, so they are so much behind"},
    {.name = "state_interval_s", .type = OPTION_U32, AT(state_interval_s), .expert = true, .min = 10,
	.max = 86400, .unit = "s", .def = "600", .live = true,
	.help = "the time between two easePortState of a port"},
    {.name = "address_rate", .type = OPTION_U32, AT(address_rate), .expert = true, .min = 0, .max = 10000,
	.unit = "1/s", .def = "50", .live = true,
	.help = "the most easeNewAddress that are sent; further ones are only counted"},
    {.name = "event_rate", .type = OPTION_U32, AT(event_rate), .expert = true, .min = 0, .max = 10000,
	.unit = "1/s", .def = "10",
	.help = "the most easeErrorSource, easeBackPressure and easeSamplingStalled together that "
		"are sent; further ones are only counted"},
    {.name = "stall_event_percent", .type = OPTION_U32, AT(stall_event_percent), .expert = true, .min = 0,
	.max = 100, .unit = "%", .def = "1",
	.help = "easeSamplingStalled is sent for a minute in which more than this share of a port's "
		"frames passed unsampled, because its skip counter had run out, and at least as many "
		"as one sample stands for. All stalls are counted, in easePortStalls and "
		"easePortStalledPkts"},
    {.name = "notify_samples", .type = OPTION_BOOL, AT(notify_samples), .def = "true",
	.help = "send easeSamples and easeCounters; false: send samples and counters as sFlow only"},
    {.name = "trap_sink", .type = OPTION_SECTION, AT(trap_sinks), .max = TRAP_SINKS_MAX,
	.section = sink_options, .section_size = sizeof(struct trap_sink),
	.section_title_offset = offsetof(struct trap_sink, address),
	.section_line_offset = offsetof(struct trap_sink, line),
	.help = "the agent itself sends its notifications to ADDRESS:PORT, which is faster than "
		"through the master. The master then gets only linkUp, linkDown, RMON's and other "
		"standard notifications, which are sent both ways"},
    {.name = "history", .type = OPTION_BOOL, AT(history), .def = "true",
	.help = "make RMON history rows at the first start: 50 buckets of 30 s and 50 of 1,800 s "
		"for each port"},
    {.name = "sflow_collector", .type = OPTION_LIST, AT(sflow_collectors), .max = SFLOW_COLLECTORS_MAX,
	.check = udp_out_check,
	.help = "send sFlow v5 to ADDRESS:PORT or [IPV6-ADDRESS]:PORT, or the same to each of several; empty: send "
		"none. Counters are sent every counters_interval_s, and samples wait message_wait_ms"},
    {.name = "sflow_agent_address", .type = OPTION_STRING, AT(sflow_agent_address), .max = 80,
	.check = sflow_export_check_address,
	.help = "the agent address in sFlow datagrams; empty: the address they are sent from"},
    {.name = "run_as", .type = OPTION_STRING, AT(run_as), .max = PRIVILEGE_NAME - 1,
	.help = "the user that the agent becomes when root starts it; empty: easeagentd, if this "
		"user exists, else root; root: the agent stays root, but keeps only the "
		"capabilities that it uses"},
    {.name = "run_as_group", .type = OPTION_STRING, AT(run_as_group),
	.max = PRIVILEGE_NAME - 1, .help = "the group, with run_as; empty: the user's own"},
    {.name = "state_dir", .type = OPTION_STRING, AT(state_dir), .max = PATH_MAX_OCTETS,
	.def = "/var/lib/easeswitch",
	.help = "the directory where the agent keeps its identity, the number of its starts, what "
		"managers have set, and counters of its ports. It must belong to the agent's user"},
    {.name = "keep_departed_days", .type = OPTION_U32, AT(keep_departed_days), .min = 1,
	.max = 3650, .unit = "days", .def = "30",
	.help = "how long an interface that is gone keeps its ifIndex and its settings, in time that "
		"the agent runs; afterwards it comes back as a new one"},
    {.name = "log_level", .type = OPTION_ENUM, AT(log_level), .choices = level_choices,
	.def = "info", .live = true, .help = "messages less severe than this are not logged"},
    {0},
};

static int
check_sinks(const char *file, const struct option_sections *sinks, char *error, size_t error_size)
{
	const struct trap_sink *items = sinks->items;

	for (size_t i = 0; i < sinks->n; i++) {
		const char *fault = trap_sink_check(&items[i]);

		if (!fault)
			continue;
		snprintf(error, error_size, "%s:%u: trap_sink: %s", file, (unsigned)items[i].line, fault);
		return -EINVAL;
	}
	return 0;
}

/* "FILE:LINE: NAME: ", or without the line if the option is not in the file. */
bool
agent_config_has_sflow(const struct agent_config *config)
{
	for (size_t i = 0; i < config->sflow_collectors.n; i++)
		if (config->sflow_collectors.items[i][0] != '\0')
			return true;
	return false;
}

static void
print_place(const char *file, const char *name, char *place, size_t size)
{
	unsigned line = options_line(file, name);

	if (line > 0)
		snprintf(place, size, "%s:%u: %s: ", file, line, name);
	else
		snprintf(place, size, "%s: %s: ", file, name);
}

static int
check_pairs(const char *file, const struct agent_config *config, char *error, size_t error_size)
{
	char place[PATH_MAX_OCTETS];

	if (!HAS_SIM && (config->device == AGENT_DEVICE_EMULATED || config->device == AGENT_DEVICE_DUMMY)) {
		print_place(file, "device", place, sizeof(place));
		snprintf(error, error_size, "%sthis build has no emulated switch; set device = linux or sonic", place);
		return -EINVAL;
	}
	if (config->device == AGENT_DEVICE_EMULATED && (!config->board || !config->board[0])) {
		print_place(file, "board", place, sizeof(place));
		snprintf(error, error_size,
		    "%san emulated device needs a board file; set board, or device = linux",
		    place);
		return -EINVAL;
	}
	if (config->drops && !agent_config_has_sflow(config)) {
		print_place(file, "drops", place, sizeof(place));
		snprintf(error, error_size, "%strue needs sflow_collector, for dropped packets are reported by sFlow",
		    place);
		return -EINVAL;
	}
	if (!config->notify_samples && !agent_config_has_sflow(config)) {
		print_place(file, "notify_samples", place, sizeof(place));
		snprintf(error, error_size, "%sfalse needs sflow_collector, or samples would go nowhere", place);
		return -EINVAL;
	}
	return 0;
}

int
agent_config_read(const char *file, struct agent_config *config, char *error, size_t error_size)
{
	return file ? options_load(file, agent_options, config, error, error_size)
		    : options_parse("defaults", "", agent_options, config, error, error_size);
}

int
agent_config_load(const char *file, struct agent_config *config, char *error, size_t error_size)
{
	int rc = agent_config_read(file, config, error, error_size);

	if (rc == 0)
		rc = check_pairs(file, config, error, error_size);
	return rc < 0 ? rc : check_sinks(file, &config->trap_sinks, error, error_size);
}

/* The option whose name or value the error begins with, and how much of the error its name is. */
static const struct option_row *
find_blamed(const struct agent_config *config, const char *error, size_t *name_octets)
{
	for (const struct option_row *row = agent_options; row->name; row++) {
		const char *value;
		size_t n = strlen(row->name);

		*name_octets = 0;
		if (strncmp(error, row->name, n) == 0 && strncmp(error + n, ": ", 2) == 0) {
			*name_octets = n + 2;
			return row;
		}
		if (row->type != OPTION_STRING)
			continue;
		value = *(char *const *)(const void *)((const char *)config + row->offset);
		n = value ? strlen(value) : 0;
		if (n > 0 && strncmp(error, value, n) == 0 && strchr(":/", error[n]) &&
		    !(error[n + 1] >= '0' && error[n + 1] <= '9'))
			return row;
	}
	return NULL;
}

void
agent_config_locate(const char *file, const struct agent_config *config, char *error, size_t error_size)
{
	char place[PATH_MAX_OCTETS], reason[PATH_MAX_OCTETS];
	const struct option_row *row;
	size_t skip = 0;

	row = find_blamed(config, error, &skip);
	if (!row)
		return;
	print_place(file, row->name, place, sizeof(place));
	snprintf(reason, sizeof(reason), "%s", error + skip);
	snprintf(error, error_size, "%s%s", place, reason);
}
