#include "agent/privilege.h"

#include "agent/linux/linux_device.h"
#include "common/log.h"
#include "common/privilege.h"

#include <cap-ng.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define OWN_USER "easeagentd"

enum { CAPABILITIES_MAX = 3, TEXT_OCTETS = 256 };

enum keeping {
	AT_START,
	FOR_LIFE,   /* for new interfaces */
	IN_RESERVE, /* in force only for a connection to the master */
};

struct need {
	bool (*applies)(const struct agent_config *config);
	unsigned capabilities[CAPABILITIES_MAX];
	size_t n;
	enum keeping keeping;
	const char *what;    /* what needs them */
	const char *without; /* what happens if one is missing */
};

/* ---- when a configuration needs capabilities ---- */

/* Those that psample needs are a part of those that eBPF needs. */
static bool
samples_by_any(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX &&
	    (config->sampling == LINUX_SAMPLING_AUTO || config->sampling == LINUX_SAMPLING_CPU);
}

static bool
samples_by_ebpf(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->sampling == LINUX_SAMPLING_EBPF;
}

static bool
samples_by_psample(const struct agent_config *config)
{
	return (config->device == AGENT_DEVICE_LINUX && config->sampling == LINUX_SAMPLING_PSAMPLE) ||
	    (config->device == AGENT_DEVICE_SONIC && config->sampling != LINUX_SAMPLING_NONE);
}

static bool
sets_linux(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->allow_set;
}

static bool
tells_drops(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->drops;
}

static bool
listens_live(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_EMULATED && config->capture &&
	    strncmp(config->capture, "live:", strlen("live:")) == 0;
}

/* Whether permission bits alone give this user access. A path that does not exist yet counts as
 * open. */
static bool
is_open(const char *path, int mode)
{
	return path[0] == '\0' || eaccess(path, mode) == 0 || errno == ENOENT;
}

static int
change_override(capng_act_t action)
{
	if (capng_updatev(action, CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, -1) < 0)
		return -1;
	return capng_apply(CAPNG_SELECT_CAPS);
}

/* Whether CAP_DAC_OVERRIDE, which the process has, is the only way to the path. */
static bool
needs_override(const char *path, int mode)
{
	bool open, in_force;

	capng_get_caps_process();
	if (!capng_have_capability(CAPNG_PERMITTED, CAP_DAC_OVERRIDE))
		return false; /* it cannot be kept */
	in_force = capng_have_capability(CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE);
	if (in_force && change_override(CAPNG_DROP) < 0)
		return true;
	open = is_open(path, mode);
	if (in_force)
		(void)change_override(CAPNG_ADD);
	return !open;
}

static bool
socket_is_closed(const struct agent_config *config)
{
	const char *socket = config->agentx_socket;

	if (strncmp(socket, "unix:", strlen("unix:")) == 0)
		socket += strlen("unix:");
	return socket[0] == '/' && needs_override(socket, W_OK);
}

static const struct need needs[] = {
    {samples_by_any, {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN}, 3, FOR_LIFE,
	"sampling of interfaces by eBPF",
	"the agent tries psample in the kernel, which needs CAP_NET_ADMIN"},
    {samples_by_ebpf, {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN}, 3, FOR_LIFE,
	"sampling of interfaces", "the agent counts their frames but takes no samples"},
    {samples_by_psample, {CAP_NET_ADMIN}, 1, FOR_LIFE, "sampling of interfaces by psample",
	"the agent counts their frames but takes no samples"},
    {sets_linux, {CAP_NET_ADMIN}, 1, FOR_LIFE, "SET of the kernel's settings (ifAdminStatus, ifAlias, "
	"flow control, ageing, static addresses)", "these objects are notWritable"},
    {tells_drops, {CAP_NET_ADMIN}, 1, FOR_LIFE, "starting and stopping the kernel's drop monitor",
	"the agent does not report dropped packets"},
    {tells_drops, {CAP_SYS_ADMIN}, 1, AT_START, "joining the kernel's drop monitor, before anything is received",
	"the agent does not report dropped packets, unless the kernel is from before 12/2023"},
    {listens_live, {CAP_NET_RAW}, 1, AT_START, "a live interface as input",
	"the agent does not start"},
    {socket_is_closed, {CAP_DAC_OVERRIDE}, 1, IN_RESERVE,
	"connecting to the AgentX socket, which belongs to another user, and at no other time",
	"the agent cannot connect"},
};
enum { N_NEEDS = sizeof(needs) / sizeof(needs[0]) };

/* ---- reporting ---- */

static bool
privilege_is_there(const struct need *need)
{
	for (size_t i = 0; i < need->n; i++)
		if (!privilege_has(need->capabilities[i]))
			return false;
	return true;
}

void
agent_privilege_print(const struct agent_config *config, FILE *out)
{
	for (size_t i = 0; i < N_NEEDS; i++) {
		char names[TEXT_OCTETS] = "";

		if (!needs[i].applies(config))
			continue;
		privilege_names(names, sizeof(names), needs[i].capabilities, needs[i].n);
		if (privilege_is_there(&needs[i]))
			fprintf(out, "%s: for %s; there\n", names, needs[i].what);
		else
			fprintf(out, "%s: for %s; missing: %s\n", names, needs[i].what, needs[i].without);
	}
}

static void
warn_missing(const struct agent_config *config)
{
	for (size_t i = 0; i < N_NEEDS; i++) {
		char names[TEXT_OCTETS] = "";

		if (!needs[i].applies(config) || privilege_is_there(&needs[i]))
			continue;
		privilege_names(names, sizeof(names), needs[i].capabilities, needs[i].n);
		log_warn("agent", "no %s, which needs %s: %s", needs[i].what, names, needs[i].without);
	}
}

/* ---- changing to the agent's user ---- */

int
agent_privilege_check(const struct agent_config *config, uid_t *uid, char *error, size_t error_size)
{
	struct privilege_user user;
	int rc = privilege_find(config->run_as, config->run_as_group, OWN_USER, &user, error, error_size);

	*uid = rc == 0 && user.changes ? user.uid : geteuid();
	return rc;
}

int
agent_privilege_become(const struct agent_config *config, char *error, size_t error_size)
{
	unsigned opening[N_NEEDS * CAPABILITIES_MAX];
	struct privilege_user user;
	size_t n = 0;
	int rc = privilege_find(config->run_as, config->run_as_group, OWN_USER, &user, error, error_size);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < N_NEEDS; i++)
		for (size_t j = 0; needs[i].keeping != IN_RESERVE && needs[i].applies(config) && j < needs[i].n; j++)
			opening[n++] = needs[i].capabilities[j];
	rc = privilege_make_directory(&user, config->state_dir);
	if (rc < 0) {
		snprintf(error, error_size, "state_dir: %s: %s", config->state_dir, strerror(-rc));
		return rc;
	}
	rc = privilege_become(&user, opening, n, true); /* which sockets are closed shows as that user */
	if (rc < 0)
		snprintf(error, error_size, "run_as: cannot become %s: %s", user.name, strerror(-rc));
	if (user.missing)
		log_warn("agent", "the agent stays root, but drops capabilities that it does not "
		    "use: there is no user " OWN_USER "; create it, or set run_as");
	return rc;
}

/* ---- keeping capabilities ---- */

/* Lists each capability once, and only those that the process has. */
static size_t
list_kept(const struct agent_config *config, unsigned kept[N_NEEDS * CAPABILITIES_MAX])
{
	bool applies[N_NEEDS];
	size_t n = 0;

	for (size_t i = 0; i < N_NEEDS; i++)
		applies[i] = needs[i].keeping == FOR_LIFE && needs[i].applies(config);
	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		bool wanted = false;

		for (size_t i = 0; i < N_NEEDS; i++)
			for (size_t j = 0; applies[i] && j < needs[i].n; j++)
				wanted = wanted || needs[i].capabilities[j] == capability;
		if (wanted && privilege_has(capability))
			kept[n++] = capability;
	}
	return n;
}

int
agent_privilege_keep(const struct agent_config *config)
{
	unsigned kept[N_NEEDS * CAPABILITIES_MAX];
	size_t n = list_kept(config, kept);
	bool reserve = socket_is_closed(config);
	char names[TEXT_OCTETS] = "";
	int rc;

	warn_missing(config);
	rc = privilege_keep(kept, n, reserve);
	if (rc < 0)
		return rc;
	privilege_names(names, sizeof(names), kept, n);
	log_info("agent", "capabilities kept: %s%s", n > 0 ? names : "none",
	    reserve ? "; CAP_DAC_OVERRIDE only while it connects to the master" : "");
	return 0;
}
