/* Any text as what an earlier version of the agent kept over a restart: the agent starts in any case, and
 * takes of it as much as the device and the tables allow; and its next start counts on. */
#include "agent/rmon/rmon.h"
#include "agent/state_restore.h"
#include "common/log.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sampling_port_config defaults = {.enabled = true, .mean_skip = 400,
    .header_octets = 128};

static void
apply(struct state *state)
{
	static struct fake_device fake;
	const struct sampling_options how = {.has_seed = true, .seed = 1, .defaults = defaults};
	struct rmon_options options = {.clock = &clock_system, .event_table = &rmon_mib_event_table,
	    .control_table = &rmon_mib_history_control_table, .alarm_table = &rmon_mib_alarm_table,
	    .hc_alarm_table = &hc_alarm_mib_table};
	struct sampling *sampling;
	struct rmon *rmon;

	fake_init(&fake, 2);
	if (hal_create(&fake.device, &clock_system, &options.hal) || hal_start(options.hal) ||
	    sampling_create(options.hal, &how, &(struct sampling_sink){0}, &sampling) ||
	    rmon_create(&options, &rmon))
		abort();
	state_restore(state, &(struct settings_owners){.hal = options.hal, .sampling = sampling});
	state_set_tables(state, rmon_managed(rmon), RMON_N_MANAGED);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		state_restore_rows(state, rmon_managed(rmon)[i]);
	state_started(state);
	rmon_destroy(rmon);
	sampling_destroy(sampling);
	hal_destroy(options.hal);
}

static struct state *
open_state(const char *dir)
{
	const struct state_options options = {.dir = dir, .clock = &clock_system,
	    .keep_departed_days = 30, .defaults = &defaults};
	struct state *state;
	char error[512];

	if (state_open(&options, &state, error, sizeof(error)) < 0)
		abort();
	return state;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {"db", "db-wal", "lock", "state", "state.old"};
	char dir[64], path[96];
	struct state *state;
	uint32_t boot;
	FILE *file;

	log_set_most(LOG_LEVEL_ERROR - 1);
	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_state.%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/easeagentd.state", dir);
	mkdir(dir, 0700);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		abort();
	state = open_state(dir);
	apply(state);
	boot = state_boot(state);
	state_close(state);
	state = open_state(dir);
	if (boot < STATE_BOOT_MAX && state_boot(state) != boot + 1)
		abort();
	state_close(state);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/easeagentd.%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}
