#include "agent/privilege.h"

#include "agent/linux/linux_device.h"
#include "common/log.h"

#include <cap-ng.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CAPABILITIES_MAX = 3, TEXT_OCTETS = 256 };

struct need {
	bool (*applies)(const struct agent_config *config);
	unsigned capabilities[CAPABILITIES_MAX];
	size_t n;
	bool kept; /* after what needs it is open, for interfaces come and masters go */
	const char *what;
	const char *without;
};

/* ---- when ---- */

/* What psample needs is among it. */
static bool
samples_by_any(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->sampling == LINUX_SAMPLING_AUTO;
}

static bool
samples_by_ebpf(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->sampling == LINUX_SAMPLING_EBPF;
}

static bool
samples_by_psample(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->sampling == LINUX_SAMPLING_PSAMPLE;
}

static bool
sets_linux(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_LINUX && config->allow_set;
}

static bool
listens_live(const struct agent_config *config)
{
	return config->device == AGENT_DEVICE_EMULATED && config->capture &&
	    strncmp(config->capture, "live:", strlen("live:")) == 0;
}

static int
override(capng_act_t action)
{
	if (capng_updatev(action, CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, -1) < 0)
		return -1;
	return capng_apply(CAPNG_SELECT_CAPS);
}

/* Do the permission bits alone let this user in? What is not there yet is taken for open. */
static bool
is_open(const char *path, int mode)
{
	return path[0] == '\0' || eaccess(path, mode) == 0 || errno == ENOENT;
}

static bool
needs_override(const struct agent_config *config)
{
	const char *socket = config->agentx_socket;
	bool open;

	capng_get_caps_process();
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE))
		return false; /* then it is as it is */
	if (strncmp(socket, "unix:", strlen("unix:")) == 0)
		socket += strlen("unix:");
	if (override(CAPNG_DROP) < 0)
		return true;
	open = is_open(config->state_dir, W_OK | X_OK) &&
	    (socket[0] != '/' || is_open(socket, W_OK));
	(void)override(CAPNG_ADD);
	return !open;
}

static const struct need needs[] = {
    {samples_by_any, {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN}, 3, true,
	"sampling of interfaces by eBPF", "with CAP_NET_ADMIN, psample in the kernel is tried"},
    {samples_by_ebpf, {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN}, 3, true,
	"sampling of interfaces", "they are counted, not sampled"},
    {samples_by_psample, {CAP_NET_ADMIN}, 1, true, "sampling of interfaces by psample",
	"they are counted, not sampled"},
    {sets_linux, {CAP_NET_ADMIN}, 1, true, "SET of what the kernel keeps (ifAdminStatus, ifAlias, "
	"flow control, ageing, static addresses)", "these are notWritable, all else goes on"},
    {listens_live, {CAP_NET_RAW}, 1, false, "a live interface as input",
	"the agent does not start"},
    {needs_override, {CAP_DAC_OVERRIDE}, 1, true,
	"the AgentX socket or the state directory, which belong to another user", ""},
};
enum { N_NEEDS = sizeof(needs) / sizeof(needs[0]) };

/* ---- saying ---- */

static bool
is_there(const struct need *need)
{
	for (size_t i = 0; i < need->n; i++)
		if (!capng_have_capability(CAPNG_PERMITTED, need->capabilities[i]))
			return false;
	return true;
}

/* "CAP_BPF, CAP_PERFMON" of those in the list. */
static void
add_names(char *text, size_t size, const unsigned *capabilities, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = capng_capability_to_name(capabilities[i]);
		size_t used = strlen(text);

		used += (size_t)snprintf(text + used, size - used, "%sCAP_", used > 0 ? ", " : "");
		for (; name && *name && used + 1 < size; name++)
			text[used++] = *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name;
		text[used] = '\0';
	}
}

void
privilege_print(const struct agent_config *config, FILE *out)
{
	for (size_t i = 0; i < N_NEEDS; i++) {
		char names[TEXT_OCTETS] = "";

		if (!needs[i].applies(config))
			continue;
		capng_get_caps_process();
		add_names(names, sizeof(names), needs[i].capabilities, needs[i].n);
		if (is_there(&needs[i]))
			fprintf(out, "%s: for %s; there\n", names, needs[i].what);
		else
			fprintf(out, "%s: for %s; missing: %s\n", names, needs[i].what,
			    needs[i].without);
	}
}

static void
warn_missing(const struct agent_config *config)
{
	for (size_t i = 0; i < N_NEEDS; i++) {
		char names[TEXT_OCTETS] = "";

		if (!needs[i].applies(config) || is_there(&needs[i]))
			continue;
		add_names(names, sizeof(names), needs[i].capabilities, needs[i].n);
		log_warn("agent", "no %s: %s needed; %s", needs[i].what, names, needs[i].without);
	}
}

/* ---- keeping ---- */

/* Of those it has: more cannot be had. Each once. */
static size_t
list_kept(const struct agent_config *config, unsigned kept[N_NEEDS * CAPABILITIES_MAX])
{
	bool applies[N_NEEDS];
	size_t n = 0;

	for (size_t i = 0; i < N_NEEDS; i++)
		applies[i] = needs[i].kept && needs[i].applies(config);
	capng_get_caps_process();
	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		bool wanted = false;

		for (size_t i = 0; i < N_NEEDS; i++)
			for (size_t j = 0; applies[i] && j < needs[i].n; j++)
				wanted = wanted || needs[i].capabilities[j] == capability;
		if (wanted && capng_have_capability(CAPNG_PERMITTED, capability))
			kept[n++] = capability;
	}
	return n;
}

int
privilege_keep(const struct agent_config *config)
{
	unsigned kept[N_NEEDS * CAPABILITIES_MAX];
	size_t n = list_kept(config, kept);
	bool bounds = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
	char names[TEXT_OCTETS] = "";

	warn_missing(config);
	capng_clear(CAPNG_SELECT_BOTH);
	for (size_t i = 0; i < n; i++)
		if (capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
			kept[i]) < 0)
			return -EINVAL;
	if (capng_apply(bounds ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) < 0)
		return -EPERM;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	add_names(names, sizeof(names), kept, n);
	log_info("agent", "capabilities kept: %s", n > 0 ? names : "none");
	return 0;
}
