/* Any text as what the agent kept over a restart: refused with a reason and left as it was, or taken as
 * far as the device and the tables allow, and then its next start counts on. */
#include "agent/rmon/rmon.h"
#include "agent/state.h"
#include "common/log.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
apply(const struct agent_state *state)
{
	static struct fake_device fake;
	const struct sampling_options how = {.has_seed = true, .seed = 1,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 128}};
	struct rmon_options options = {.clock = &clock_system, .event_table = &rmon_mib_event_table,
	    .control_table = &rmon_mib_history_control_table, .alarm_table = &rmon_mib_alarm_table};
	struct sampling *sampling;
	struct rmon *rmon;

	fake_init(&fake, 2);
	if (hal_create(&fake.device, &clock_system, &options.hal) || hal_start(options.hal) ||
	    sampling_create(options.hal, &how, &(struct sampling_sink){0}, &sampling) ||
	    rmon_create(&options, &rmon))
		abort();
	state_apply(state, true, options.hal, sampling);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		state_rows_restore(&state->rows, rmon_managed(rmon)[i]);
	rmon_destroy(rmon);
	sampling_destroy(sampling);
	hal_destroy(options.hal);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[64], path[96];
	struct agent_state state, next;
	char error[512] = "";
	FILE *file;

	log_set_most(LOG_LEVEL_ERROR);
	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_state.%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/easeagentd.state", dir);
	mkdir(dir, 0700);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		abort();
	if (state_open(dir, &state, error, sizeof(error)) == 0) {
		apply(&state);
		if (state.boot < UINT32_MAX && (state_open(dir, &next, error, sizeof(error)) < 0 ||
		    next.boot != state.boot + 1))
			abort();
		if (state.boot < UINT32_MAX)
			state_free(&next);
		state_free(&state);
	} else if (!error[0]) {
		abort();
	}
	unlink(path);
	rmdir(dir);
	return 0;
}
