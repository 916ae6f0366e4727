#include "agent/state_upgrade.h"

#include "agent/hal/hal_provider.h"
#include "common/log.h"
#include "common/options.h"
#include "mibs/mib_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OLD_FILE "easeagentd.state"

enum {
	TOTAL_DIGITS = 21,
	OLD_ROWS_MAX = 65536,
	OLD_COLUMNS_MAX = 32,
	OLD_OCTETS_MAX = 64 << 20, /* 8,192 ports and all rows that managers could make */
	CELL_OCTETS_MAX = 512,
	NAME_OCTETS = 64, /* of a table's name */
};

struct old_row {
	char *name; /* table and index: "alarmTable.7" */
	struct option_list columns; /* "2=i-10", "3=g7", "4=o1.3.6", "5=x6d65" (hex) */
};

#define PORT_AT(member) .offset = offsetof(struct old_port, member)
#define AT(member)	.offset = offsetof(struct old_state, member)

static const struct option_row old_row_options[] = {
    {.name = "columns", .type = OPTION_LIST, .offset = offsetof(struct old_row, columns),
	.max = OLD_COLUMNS_MAX},
    {0},
};

static const struct option_row old_port_options[] = {
    {.name = "if_index", .type = OPTION_U32, PORT_AT(if_index), .min = 1, .max = INT32_MAX},
    {.name = "alias", .type = OPTION_STRING, PORT_AT(alias), .max = EASE_NAME_MAX},
    {.name = "enabled", .type = OPTION_BOOL, PORT_AT(enabled), .def = "true"},
    {.name = "mean_skip", .type = OPTION_U32, PORT_AT(mean_skip), .min = 1,
	.max = EASE_DRAWN_MEAN_MAX, .def = "400"},
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

static const struct option_row old_options[] = {
    {.name = "agent_id", .type = OPTION_STRING, AT(agent_id), .max = 2 * EASE_AGENT_ID_LEN},
    {.name = "boot", .type = OPTION_U64, AT(boot), .min = 0, .max = UINT32_MAX - 1, .def = "0"},
    {.name = "clean", .type = OPTION_BOOL, AT(clean), .def = "false"},
    {.name = "port", .type = OPTION_SECTION, AT(ports), .max = 2 * HAL_MAX_PORTS,
	.section = old_port_options, .section_size = sizeof(struct old_port),
	.section_title_offset = offsetof(struct old_port, name)},
    {.name = "ageing_s", .type = OPTION_U32, AT(ageing_s), .min = 0, .max = UINT32_MAX, .def = "0"},
    {.name = "had_rows", .type = OPTION_BOOL, AT(had_rows), .def = "false"},
    {.name = "row", .type = OPTION_SECTION, AT(rows), .max = OLD_ROWS_MAX,
	.section = old_row_options, .section_size = sizeof(struct old_row),
	.section_title_offset = offsetof(struct old_row, name)},
    {0},
};

/* ---- the file ---- */

static int
read_text(const char *path, char **text, char *error, size_t error_size)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;
	size_t got = 0;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	*text = NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > OLD_OCTETS_MAX)
		rc = -EFBIG;
	else if ((*text = calloc(1, (size_t)st.st_size + 1)) == NULL)
		rc = -ENOMEM;
	while (rc == 0 && n > 0 && got < (size_t)st.st_size) {
		n = read(fd, *text + got, (size_t)st.st_size - got);
		if (n < 0)
			rc = -errno;
		else
			got += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (rc < 0) {
		snprintf(error, error_size, "%s: %s", path, strerror(-rc));
		free(*text);
		*text = NULL;
	}
	return rc < 0 ? -EINVAL : 0;
}

static bool
id_is_good(const char *text)
{
	return text != NULL && strlen(text) == 2 * EASE_AGENT_ID_LEN &&
	    strspn(text, "0123456789abcdef") == 2 * EASE_AGENT_ID_LEN;
}

int
state_upgrade_load(const char *dir, struct old_state *old, char *error, size_t error_size)
{
	char path[PATH_MAX], *text;
	int rc;

	memset(old, 0, sizeof(*old));
	if (snprintf(path, sizeof(path), "%s/" OLD_FILE, dir) >= (int)sizeof(path))
		return -ENOENT;
	rc = read_text(path, &text, error, error_size);
	if (rc < 0)
		return rc;
	rc = options_parse(path, text, old_options, old, error, error_size);
	free(text);
	if (rc == 0 && !id_is_good(old->agent_id)) {
		snprintf(error, error_size, "%s: agent_id is not 16 hexadecimal digits", path);
		rc = -EINVAL;
	}
	if (rc < 0)
		state_upgrade_free(old);
	return rc < 0 ? -EINVAL : 0;
}

void
state_upgrade_free(struct old_state *old)
{
	options_free(old_options, old);
	memset(old, 0, sizeof(*old));
}

void
state_upgrade_done(const char *dir)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/" OLD_FILE, dir) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s/" OLD_FILE ".old", dir) >= (int)sizeof(to))
		return;
	if (rename(from, to) == 0)
		log_info("state", "%s is not used any more; it is now %s", from, to);
	else if (errno != ENOENT)
		log_warn("state", "%s is not used any more, but cannot be renamed: %s", from,
		    strerror(errno));
}

void
state_upgrade_identity(const struct old_state *old, struct state_identity *identity)
{
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++) {
		char digits[3] = {old->agent_id[2 * i], old->agent_id[2 * i + 1], 0};

		identity->agent_id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	identity->boot = old->boot < INT32_MAX ? (uint32_t)old->boot : INT32_MAX;
}

/* ---- settings ---- */

/* A port that had no setting of its own sampled one frame in as many as it had Mb/s, or in the default
 * of mean_skip. */
static bool
is_automatic_skip(uint32_t mean_skip)
{
	static const uint32_t speeds[] = {100, 400, 1000, 2500, 5000, 10000, 20000, 25000, 40000,
	    50000, 100000, 200000, 400000, 800000};

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		if (mean_skip == speeds[i])
			return true;
	}
	return false;
}

void
state_upgrade_settings(const struct old_port *port, const struct sampling_port_config *defaults,
    void (*set)(void *ctx, unsigned kind, int64_t number, const char *text), void *ctx)
{
	const struct {
		bool set;
		unsigned kind;
		int64_t number;
		const char *text;
	} settings[] = {
	    {port->alias && port->alias[0], MIB_SET_ALIAS, 0, port->alias},
	    {!port->link_traps, MIB_SET_LINK_TRAPS, 0, NULL},
	    {!port->admin_up, MIB_SET_ADMIN_STATUS, EASE_IF_DOWN, NULL},
	    {port->enabled != defaults->enabled, MIB_SET_SAMPLING_ADMIN, port->enabled, NULL},
	    {port->mean_skip != defaults->mean_skip && !is_automatic_skip(port->mean_skip),
		MIB_SET_MEAN_SKIP, port->mean_skip, NULL},
	    {port->header_octets != defaults->header_octets, MIB_SET_HEADER_OCTETS,
		port->header_octets, NULL},
	    {port->max_samples_per_s != defaults->max_samples_per_s, MIB_SET_MAX_SAMPLES,
		port->max_samples_per_s, NULL},
	    {port->edge != defaults->edge, MIB_SET_EDGE, port->edge, NULL},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (settings[i].set)
			set(ctx, settings[i].kind, settings[i].number, settings[i].text);
	}
}

/* ---- totals and rows ---- */

int
state_upgrade_put_totals(const struct old_port *port, int64_t id, struct state_file *file)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	const char *text = port->totals;
	size_t n = 0;
	char *end;

	while (text != NULL && *text != '\0' && n < HAL_MAX_COUNTER_ROWS) {
		totals[n] = strtoull(text, &end, 10);
		if (end == text)
			break;
		n++;
		text = end + (*end == ' ');
	}
	if (n == 0)
		return 0;
	return state_file_put(file, STATE_PUT_TOTALS, "iib", id, (int64_t)port->discontinuity_us,
	    totals, n * sizeof(totals[0]));
}

static size_t
parse_octets(const char *text, uint8_t *octets, size_t max)
{
	size_t n = strlen(text) / 2 < max ? strlen(text) / 2 : max;

	for (size_t i = 0; i < n; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

		octets[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

/* "7=i1": the checks of a SET follow when the row is made. */
static int
put_cell(const char *table, const char *index, const char *text, struct state_file *file)
{
	uint8_t octets[CELL_OCTETS_MAX];
	char *at;
	int64_t subid = strtoll(text, &at, 10);

	if (at[0] != '=' || at[1] == '\0')
		return 0;
	if (at[1] == 'o')
		return state_file_put(file, STATE_PUT_CELL, "ttit", table, index, subid, at + 2);
	if (at[1] == 'x')
		return state_file_put(file, STATE_PUT_CELL, "ttib", table, index, subid, octets,
		    parse_octets(at + 2, octets, sizeof(octets)));
	return state_file_put(file, STATE_PUT_CELL, "ttii", table, index, subid,
	    (int64_t)strtoll(at + 2, NULL, 10));
}

int
state_upgrade_put_rows(const struct old_state *old, struct state_file *file)
{
	const struct old_row *rows = old->rows.items;
	int rc = 0;

	for (size_t i = 0; i < old->rows.n && rc == 0; i++) {
		const char *index = strchr(rows[i].name, '.');
		char table[NAME_OCTETS];

		if (!index)
			continue;
		snprintf(table, sizeof(table), "%.*s", (int)(index - rows[i].name), rows[i].name);
		for (size_t j = 0; j < rows[i].columns.n && rc == 0; j++)
			rc = put_cell(table, index + 1, rows[i].columns.items[j], file);
	}
	return rc;
}
