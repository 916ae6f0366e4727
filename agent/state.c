#include "agent/state.h"

#include "agent/hal/hal_provider.h"
#include "common/log.h"
#include "common/options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TOTAL_DIGITS = 21,
	STATE_PATH_MAX = 4200,
	STATE_ROWS_MAX = 65536, /* more rows than managers can make in all tables */
};

#define PORT_AT(member) .offset = offsetof(struct state_port, member)
#define AT(member)	.offset = offsetof(struct agent_state, member)

static const struct option_row port_options[] = {
    {.name = "if_index", .type = OPTION_U32, PORT_AT(if_index), .min = 1, .max = INT32_MAX},
    {.name = "alias", .type = OPTION_STRING, PORT_AT(alias), .max = EASE_NAME_MAX},
    {.name = "enabled", .type = OPTION_BOOL, PORT_AT(enabled), .def = "true"},
    {.name = "mean_skip", .type = OPTION_U32, PORT_AT(mean_skip), .min = 1,
	.max = EASE_MEAN_SKIP_MAX, .def = "400"},
    {.name = "header_octets", .type = OPTION_U32, PORT_AT(header_octets),
	.min = EASE_HEADER_MIN_OCTETS, .max = EASE_HEADER_MAX_OCTETS, .def = "128"},
    {.name = "max_samples_per_s", .type = OPTION_U32, PORT_AT(max_samples_per_s), .min = 0,
	.max = SAMPLING_MAX_PER_SECOND, .def = "0"},
    {.name = "edge", .type = OPTION_BOOL, PORT_AT(edge), .def = "true"},
    {.name = "link_traps", .type = OPTION_BOOL, PORT_AT(link_traps), .def = "true"},
    {.name = "admin_up", .type = OPTION_BOOL, PORT_AT(admin_up), .def = "true"},
    {.name = "discontinuity_us", .type = OPTION_U64, PORT_AT(discontinuity_us), .min = 0,
	.max = INT64_MAX, .def = "0"},
    {.name = "totals", .type = OPTION_STRING, PORT_AT(totals),
	.max = HAL_MAX_COUNTER_ROWS * TOTAL_DIGITS},
    {0},
};

static const struct option_row state_options[] = {
    {.name = "agent_id", .type = OPTION_STRING, AT(agent_id), .max = 2 * EASE_AGENT_ID_LEN},
    {.name = "boot", .type = OPTION_U64, AT(boot), .min = 0, .max = UINT32_MAX - 1, .def = "0"},
    {.name = "clean", .type = OPTION_BOOL, AT(clean), .def = "false"},
    {.name = "port", .type = OPTION_SECTION, AT(ports), .max = HAL_MAX_PORTS,
	.section = port_options, .section_size = sizeof(struct state_port),
	.section_title_offset = offsetof(struct state_port, name)},
    {.name = "ageing_s", .type = OPTION_U32, AT(ageing_s), .min = 0, .max = UINT32_MAX,
	.def = "0"},
    {.name = "had_rows", .type = OPTION_BOOL, AT(had_rows), .def = "false"},
    {.name = "row", .type = OPTION_SECTION, AT(rows), .max = STATE_ROWS_MAX,
	.section = state_row_options, .section_size = sizeof(struct state_row),
	.section_title_offset = offsetof(struct state_row, name)},
    {0},
};

static void
state_path(const char *dir, const char *suffix, char *path)
{
	snprintf(path, STATE_PATH_MAX, "%s/easeagentd.state%s", dir, suffix);
}

static int
write_file(const struct agent_state *state, const char *dir)
{
	char path[STATE_PATH_MAX], fresh[STATE_PATH_MAX];
	FILE *file;
	int fd, rc = 0;

	state_path(dir, "", path);
	state_path(dir, ".new", fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (file == NULL) {
		close(fd);
		return -ENOMEM;
	}
	options_print(file, state_options, state);
	if (fflush(file) != 0 || fsync(fd) < 0)
		rc = -errno;
	if (fclose(file) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(fresh, path) < 0)
		rc = -errno;
	return rc;
}

static int
make_agent_id(struct agent_state *state)
{
	uint8_t id[EASE_AGENT_ID_LEN];

	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		return -EIO;
	free(state->agent_id);
	state->agent_id = malloc(2 * sizeof(id) + 1);
	if (state->agent_id == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(id); i++)
		sprintf(state->agent_id + 2 * i, "%02x", id[i]);
	return 0;
}

static bool
agent_id_is_good(const char *text)
{
	return text != NULL && strlen(text) == 2 * EASE_AGENT_ID_LEN &&
	    strspn(text, "0123456789abcdef") == 2 * EASE_AGENT_ID_LEN;
}

static int
load_file(const char *path, struct agent_state *state, char *error, size_t error_size)
{
	int rc;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return make_agent_id(state);
	rc = options_load(path, state_options, state, error, error_size);
	if (rc == 0 && !agent_id_is_good(state->agent_id)) {
		snprintf(error, error_size, "%s: agent_id is not 16 hexadecimal digits", path);
		rc = -EINVAL;
	}
	return rc;
}

int
state_open(const char *dir, struct agent_state *state, char *error, size_t error_size)
{
	char path[STATE_PATH_MAX];
	bool clean;
	int rc;

	memset(state, 0, sizeof(*state));
	error[0] = '\0';
	state_path(dir, "", path);
	if (mkdir(dir, 0750) < 0 && errno != EEXIST) {
		rc = -errno;
		snprintf(error, error_size, "%s: %s", dir, strerror(errno));
		return rc;
	}
	rc = load_file(path, state, error, error_size);
	if (rc == 0) {
		state->boot++;
		clean = state->clean;
		state->clean = false;
		rc = write_file(state, dir);
		state->clean = clean;
	}
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "%s: %s", path, strerror(-rc));
	if (rc < 0)
		state_free(state);
	return rc;
}

/* Whether dir can be written, or created. */
static int
check_directory(const char *dir)
{
	char parent[STATE_PATH_MAX];
	char *slash;

	if (access(dir, F_OK) == 0)
		return access(dir, W_OK | X_OK) < 0 ? -errno : 0;
	snprintf(parent, sizeof(parent), "%s", dir);
	slash = strrchr(parent, '/');
	if (slash == parent)
		slash++;
	if (slash)
		*slash = '\0';
	return access(slash ? parent : ".", W_OK | X_OK) < 0 ? -errno : 0;
}

int
state_check(const char *dir, char *error, size_t error_size)
{
	struct agent_state state = {0};
	char path[STATE_PATH_MAX];
	int rc = check_directory(dir);

	error[0] = '\0';
	state_path(dir, "", path);
	if (rc == 0)
		rc = load_file(path, &state, error, error_size);
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "%s: %s", dir, strerror(-rc));
	state_free(&state);
	return rc;
}

void
state_free(struct agent_state *state)
{
	options_free(state_options, state);
	memset(state, 0, sizeof(*state));
}

void
state_agent_id(const struct agent_state *state, uint8_t id[EASE_AGENT_ID_LEN])
{
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++) {
		char digits[3] = {state->agent_id[2 * i], state->agent_id[2 * i + 1], 0};

		id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

/* ---- ports ---- */

static const struct state_port *
find_port(const struct agent_state *state, const char *name)
{
	for (size_t i = 0; i < state->ports.n; i++)
		if (strcmp(state->ports.items[i].name, name) == 0)
			return &state->ports.items[i];
	return NULL;
}

static size_t
parse_totals(const char *text, uint64_t *totals)
{
	size_t n = 0;
	char *end;

	while (text != NULL && *text != '\0' && n < HAL_MAX_COUNTER_ROWS) {
		totals[n] = strtoull(text, &end, 10);
		if (end == text)
			break;
		n++;
		text = end + (*end == ' ');
	}
	return n;
}

/* Switches a port off again that was off before. Other ports keep the device's state. */
static void
apply_admin_status(const struct state_port *kept, struct hal *hal, uint32_t if_index)
{
	if (kept->admin_up || hal_keeps_settings(hal))
		return;
	if (hal_set_admin_status(hal, if_index, EASE_IF_DOWN) < 0)
		log_warn("state", "port %s: the device refused to switch it off as before the "
		    "restart", kept->name);
}

static void
apply_ageing(const struct agent_state *state, struct hal *hal)
{
	if (state->ageing_s == 0 || hal_keeps_settings(hal))
		return;
	if (hal_set_ageing_s(hal, state->ageing_s) < 0)
		log_warn("state", "the device refused the former ageing time of %u s",
		    (unsigned)state->ageing_s);
}

/* An alias that the device has already is newer than the one in the state. */
static void
apply_settings(const struct state_port *kept, const struct hal_port *info, struct hal *hal,
    struct sampling *sampling)
{
	uint32_t if_index = info->if_index;
	struct sampling_port_config config = {
	    .enabled = kept->enabled,
	    .mean_skip = kept->mean_skip,
	    .header_octets = kept->header_octets,
	    .max_samples_per_s = kept->max_samples_per_s,
	    .edge = kept->edge,
	};

	if (kept->alias != NULL && kept->alias[0] != '\0' && info->alias[0] == '\0' &&
	    hal_set_alias(hal, if_index, kept->alias) < 0)
		log_warn("state", "port %s: the device refused the former alias \"%s\"",
		    kept->name, kept->alias);
	hal_set_link_traps(hal, if_index, kept->link_traps);
	apply_admin_status(kept, hal, if_index);
	if (sampling_set_port(sampling, if_index, &config) < 0)
		log_warn("state", "port %s: the former sampling settings could not be set",
		    kept->name);
}

static bool
restore_totals(const struct state_port *kept, struct hal *hal, uint32_t if_index)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	size_t n = parse_totals(kept->totals, totals);

	if (n == 0 || hal_restore_totals(hal, if_index, totals, n) < 0)
		return false;
	hal_restore_discontinuity(hal, if_index, kept->discontinuity_us);
	return true;
}

void
state_apply_port(const struct agent_state *state, struct hal *hal, struct sampling *sampling,
    uint32_t if_index)
{
	const struct state_port *kept;
	struct hal_port info;

	if (hal_port_info(hal, if_index, &info) < 0)
		return;
	kept = find_port(state, info.name);
	if (kept != NULL)
		apply_settings(kept, &info, hal, sampling);
}

void
state_apply(const struct agent_state *state, bool was_clean, struct hal *hal,
    struct sampling *sampling)
{
	apply_ageing(state, hal);
	for (size_t i = 0; i < hal_n_ports(hal); i++) {
		uint32_t if_index = hal_port_if_index(hal, i);
		const struct state_port *kept;
		struct hal_port info;

		if (hal_port_info(hal, if_index, &info) < 0)
			continue;
		kept = find_port(state, info.name);
		if (kept != NULL)
			apply_settings(kept, &info, hal, sampling);
		if (state->boot > 1 && !(was_clean && kept && restore_totals(kept, hal, if_index)))
			hal_mark_discontinuity(hal, if_index);
	}
}

static char *
print_totals(const struct hal *hal, uint32_t if_index)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	char *text = calloc(HAL_MAX_COUNTER_ROWS, TOTAL_DIGITS);
	size_t n = 0, len = 0;

	if (text == NULL || hal_save_totals(hal, if_index, totals, HAL_MAX_COUNTER_ROWS, &n) < 0)
		return text;
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%s%" PRIu64, i ? " " : "", totals[i]);
	return text;
}

static int
collect_port(struct state_port *port, bool clean, const struct hal *hal,
    const struct sampling *sampling, uint32_t if_index)
{
	struct sampling_port_config config;
	struct hal_port info;
	int rc = hal_port_info(hal, if_index, &info);

	if (rc == 0)
		rc = sampling_get_port(sampling, if_index, &config);
	if (rc < 0)
		return rc;
	*port = (struct state_port){
	    .name = strdup(info.name),
	    .if_index = if_index,
	    .alias = strdup(info.alias),
	    .enabled = config.enabled,
	    .mean_skip = config.mean_skip,
	    .header_octets = config.header_octets,
	    .max_samples_per_s = config.max_samples_per_s,
	    .edge = config.edge,
	    .link_traps = info.link_traps,
	    .admin_up = info.admin_status != EASE_IF_DOWN,
	    .discontinuity_us = hal_discontinuity_wall_us(hal, if_index),
	    .totals = clean ? print_totals(hal, if_index) : strdup(""),
	};
	return port->name && port->alias && port->totals ? 0 : -ENOMEM;
}

static int
copy_port(struct state_port *port, const struct state_port *kept)
{
	*port = *kept;
	port->name = strdup(kept->name);
	port->alias = strdup(kept->alias ? kept->alias : "");
	port->totals = strdup(""); /* its counters begin anew when it is plugged in again */
	return port->name && port->alias && port->totals ? 0 : -ENOMEM;
}

/* Absent ports of earlier runs keep ifIndex and settings until they are plugged in again, as long as
 * there is room. */
static int
collect_absent_ports(struct agent_state *fresh, const struct agent_state *state)
{
	int rc = 0;

	for (size_t i = 0; i < state->ports.n && fresh->ports.n < HAL_MAX_PORTS && rc == 0; i++)
		if (find_port(fresh, state->ports.items[i].name) == NULL)
			rc = copy_port(&fresh->ports.items[fresh->ports.n++],
			    &state->ports.items[i]);
	return rc;
}

static int
collect_ports(struct agent_state *fresh, bool clean, const struct state_owners *owners,
    size_t n_before)
{
	size_t n = hal_n_ports(owners->hal);
	int rc = 0;

	fresh->ports.items = calloc(n + n_before + 1, sizeof(*fresh->ports.items));
	if (fresh->ports.items == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = collect_port(&fresh->ports.items[fresh->ports.n++], clean, owners->hal,
		    owners->sampling, hal_port_if_index(owners->hal, i));
	return rc;
}

int
state_save(struct agent_state *state, const char *dir, bool clean,
    const struct state_owners *owners)
{
	uint32_t ageing_s = hal_ageing_s(owners->hal);
	struct agent_state fresh = {
	    .boot = state->boot,
	    .clean = clean,
	    .ageing_s = hal_check_ageing_s(owners->hal, ageing_s) == 0 ? ageing_s : 0,
	    .had_rows = true,
	};
	int rc = -ENOMEM;

	fresh.agent_id = strdup(state->agent_id);
	if (fresh.agent_id != NULL)
		rc = collect_ports(&fresh, clean, owners, state->ports.n);
	if (rc == 0)
		rc = collect_absent_ports(&fresh, state);
	for (size_t i = 0; i < owners->n_managed && rc == 0; i++)
		rc = state_rows_collect(owners->managed[i], &fresh.rows);
	if (rc == 0)
		rc = write_file(&fresh, dir);
	if (rc == 0) {
		struct state_ports before = state->ports;

		state->ports = fresh.ports;
		fresh.ports = before;
	}
	state_free(&fresh);
	return rc;
}
