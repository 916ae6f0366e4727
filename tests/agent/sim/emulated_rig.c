#include "tests/agent/sim/emulated_rig.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct emulated_rig rig;

const char *
rig_board_file(const char *name)
{
	static char path[512];
	const char *root = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/conf/boards/%s.conf", root ? root : "..", name);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "conf/boards/%s.conf", name);
	return path;
}

int64_t
rig_refill(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	(void)event;
	return rig.skip;
}

void
rig_load(uint32_t if_index)
{
	ck_assert_int_eq(
	    rig.device->sampling->load_skip(rig.device->sampling_ctx, if_index, rig.skip), 0);
}

/* As many as the port takes. */
void
rig_refill_both(void *ctx, uint32_t if_index)
{
	(void)ctx;
	while (rig.device->sampling->load_skip(rig.device->sampling_ctx, if_index, rig.skip) == 0)
		;
}

size_t
rig_n_ports(void)
{
	return rig.device->ports->count(rig.device->ports_ctx);
}

void
rig_open_config(const struct emulated_config *config)
{
	memset(&rig.hal, 0, sizeof(rig.hal));
	ck_assert_msg(emulated_create(config, &rig.device, rig.error, sizeof(rig.error)) == 0,
	    "%s", rig.error);
}

void
rig_open(const char *board, const char *path, enum emulated_pace pace)
{
	struct emulated_config config = {.board_file = rig_board_file(board), .capture = path,
	    .pace = pace, .times = pace == EMULATED_PACE_LOCK_STEP ? 0 : 1000000,
	    .zero = EMULATED_ZERO_CAPTURE};

	rig_open_config(&config);
}

void
rig_sample_all(uint32_t with_skip)
{
	rig.skip = with_skip;
	rig.hal.on_sample = rig_refill;
	for (size_t i = 0; i < rig_n_ports(); i++)
		for (unsigned k = 0; k < rig.device->sampling->skip_depth; k++)
			rig_load(rig.device->ports->if_index(rig.device->ports_ctx, i));
}

void
rig_run_to_end(void)
{
	struct pollfd fd = {.fd = rig.device->ops->fd(rig.device->ctx), .events = POLLIN};

	ck_assert_int_eq(rig.device->ops->start(rig.device->ctx, &rig.hal), 0);
	while (rig.hal.n_ended == 0) {
		ck_assert_int_eq(poll(&fd, 1, 30000), 1);
		ck_assert_int_ge(rig.device->ops->dispatch(rig.device->ctx, 0), 0);
	}
	rig.device->ops->stop(rig.device->ctx);
}

void
rig_close(void)
{
	if (rig.device)
		rig.device->ops->destroy(rig.device->ctx);
	rig.device = NULL;
}

struct hal_counters
rig_counters(uint32_t if_index)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	struct hal_counters c = {0};

	for (size_t row = 0; row < rig.device->counters->n_rows; row++)
		ck_assert_int_eq(rig.device->counters->read(
				     rig.device->counters_ctx, if_index, row, &totals[row]),
		    0);
	rig.device->counters->derive(totals, &c);
	return c;
}

uint64_t
rig_figure(uint32_t if_index, enum hal_figure which)
{
	return rig_counters(if_index).value[which];
}

uint64_t
rig_sum(enum hal_figure which)
{
	uint64_t total = 0;

	for (size_t i = 0; i < rig_n_ports(); i++)
		total += rig_figure((uint32_t)i + 1, which);
	return total;
}

uint64_t
rig_stat(const char *name)
{
	for (size_t i = 0; emulated_stats(rig.device, i); i++) {
		const struct stat_set *set = emulated_stats(rig.device, i);

		for (unsigned k = 0; k < set->n; k++)
			if (strcmp(set->names[k].name, name) == 0)
				return stat_get(set, k);
	}
	ck_abort_msg("no counter %s", name);
	return 0;
}
