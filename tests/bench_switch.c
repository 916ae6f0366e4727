/*
 * bench_switch CAPTURE [BOARD [SKIP [SECONDS]]]: frames a second from a savefile through an
 * emulated board in lock step (looping, with a CPU that does nothing but refill the skip counts;
 * SKIP 0: it does not sample), and through a bare libpcap loop on the same file. One JSON line.
 */
#include "agent/device/emulated.h"
#include "tests/fake_hal.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_BUFFER_OCTETS = 65536 };

struct cpu {
	struct hal hal;
	struct hal_device *device;
	uint32_t skip;
};

static void
refill(void *ctx, uint32_t if_index)
{
	struct cpu *cpu = ctx;

	cpu->device->sampling->load_skip(cpu->device->sampling_ctx, if_index, cpu->skip);
}

static uint64_t
frames_of(const struct hal_device *device)
{
	for (size_t i = 0; emulated_stats(device, i); i++) {
		const struct stat_set *set = emulated_stats(device, i);

		for (unsigned k = 0; k < set->n; k++)
			if (strcmp(set->names[k].name, "board.frames") == 0)
				return stat_get(set, k);
	}
	return 0;
}

/* What this process has had of a core: other programs do not disturb it. */
static uint64_t
core_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Frames a second of one core through the board. */
static double
run_board(struct cpu *cpu, uint64_t run_us)
{
	struct hal_device *d = cpu->device;
	struct pollfd fd = {.fd = d->ops->fd(d->ctx), .events = POLLIN};
	uint64_t start, elapsed;

	for (size_t i = 0; cpu->skip > 0 && i < d->ports->count(d->ports_ctx); i++)
		for (unsigned k = 0; k < d->sampling->skip_depth; k++)
			refill(cpu, d->ports->if_index(d->ports_ctx, i));
	if (d->ops->start(d->ctx, &cpu->hal) < 0)
		return 0;
	start = core_us();
	do {
		if (poll(&fd, 1, 20) > 0)
			d->ops->dispatch(d->ctx, 0);
		elapsed = core_us() - start;
	} while (elapsed < run_us && cpu->hal.n_ended == 0);
	d->ops->stop(d->ctx);
	return (double)frames_of(d) * 1e6 / (double)elapsed;
}

/* Frames of one round of the file. */
static uint64_t
read_round(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	FILE *file = fopen(path, "rbe");
	pcap_t *pcap;
	uint64_t frames = 0;

	if (!file)
		return 0;
	setvbuf(file, NULL, _IOFBF, FILE_BUFFER_OCTETS);
	pcap = pcap_fopen_offline(file, error);
	if (!pcap) {
		fclose(file);
		return 0;
	}
	while (pcap_next_ex(pcap, &header, &octets) == 1)
		frames++;
	pcap_close(pcap);
	return frames;
}

static double
run_libpcap(const char *path, uint64_t run_us)
{
	uint64_t start = core_us(), frames = 0, elapsed;

	do {
		frames += read_round(path);
		elapsed = core_us() - start;
	} while (elapsed < run_us && frames > 0);
	return (double)frames * 1e6 / (double)elapsed;
}

int
main(int argc, char **argv)
{
	struct emulated_config config = {
	    .board_file = argc > 2 ? argv[2] : "conf/boards/stack-26port.conf",
	    .capture = argc > 1 ? argv[1] : NULL,
	    .pace = EMULATED_PACE_LOCK_STEP,
	    .loop = true,
	};
	uint64_t run_us = (argc > 4 ? strtoull(argv[4], NULL, 10) : 3) * 1000000;
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	double board, bare;
	char error[512];

	if (!cpu || !config.capture) {
		fprintf(stderr, "usage: bench_switch CAPTURE [BOARD [SKIP [SECONDS]]]\n");
		return 2;
	}
	cpu->skip = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 512;
	if (emulated_create(&config, &cpu->device, error, sizeof(error)) < 0) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	cpu->hal.on_refill = refill;
	cpu->hal.ctx = cpu;
	board = run_board(cpu, run_us);
	bare = run_libpcap(config.capture, run_us);
	printf("{\"bench\":\"switch\",\"capture\":\"%s\",\"board\":\"%s\",\"ports\":%zu,"
	       "\"skip\":%" PRIu32 ",\"samples\":%zu,\"frames_per_s\":%.0f,"
	       "\"libpcap_frames_per_s\":%.0f,\"ratio\":%.3f}\n",
	    config.capture, config.board_file, cpu->device->ports->count(cpu->device->ports_ctx),
	    cpu->skip, cpu->hal.n_samples, board, bare, bare > 0 ? board / bare : 0);
	cpu->device->ops->destroy(cpu->device->ctx);
	free(cpu);
	return 0;
}
