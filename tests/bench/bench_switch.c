/*
 * Frames a second of one core through an emulated board in lock step, with a CPU that does nothing
 * but refill the skip counts. JSON lines.
 *
 *   bench_switch savefile CAPTURE BOARD [SKIP [SECONDS]]  looping
 *   bench_switch memory CAPTURE BOARD [SKIP [SECONDS]]    the same from memory
 *   bench_switch libpcap CAPTURE [SECONDS]                a bare libpcap loop over it
 *   bench_switch curves CAPTURE [SECONDS]  64-octet known unicast by stations, the mix by ports
 *   bench_switch loop CAPTURE FRAMES FILE  writes the capture over and over, for peers
 */
#include "agent/sim/emulated.h"
#include "tests/agent/hal/fake_hal.h"
#include "tests/support/make_capture.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_BUFFER_OCTETS = 65536, DEFAULT_SKIP = 512, CURVE_PORTS = 26 };

struct cpu {
	struct hal hal;
	struct hal_device *device;
	uint32_t skip;
};

/* A run is measured in slices: the median of their speeds is not moved by what other programs do
 * to the caches for a while; the best is what the machine does when it is left alone. */
enum { SLICE_US = 20000, MAX_SLICES = 4096 };

struct slices {
	double per_s[MAX_SLICES];
	size_t n;
	uint64_t last_us, last_count;
};

struct result {
	struct slices slices;
	uint64_t frames, board_us;
	uint64_t warm_octets, resident_octets; /* of memory, after a tenth of the time and at the end */
	size_t samples, ports;
};

/* What this process has had of a core: other programs do not disturb it. */
static uint64_t
core_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t
resident_octets(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
begin_slices(struct slices *s)
{
	*s = (struct slices){.last_us = core_us()};
}

/* So many have been done by now. */
static void
slice(struct slices *s, uint64_t count)
{
	uint64_t us = core_us() - s->last_us;

	if (us < SLICE_US || s->n == MAX_SLICES)
		return;
	s->per_s[s->n++] = (double)(count - s->last_count) * 1e6 / (double)us;
	s->last_us += us;
	s->last_count = count;
}

static int
compare_speeds(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of 100 slices so many were slower; the first tenth, in which caches warm up, does not count. */
static double
percentile(const struct slices *s, unsigned percent)
{
	double sorted[MAX_SLICES];
	size_t skip = s->n / 10, n = s->n - skip;

	if (n == 0)
		return 0;
	memcpy(sorted, s->per_s + skip, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_speeds);
	return sorted[(n - 1) * percent / 100];
}

/* --- a board --- */

static int64_t
refill(void *ctx, const struct hal_sample_event *event)
{
	(void)event;
	return ((struct cpu *)ctx)->skip;
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

static void
load_skips(struct cpu *cpu)
{
	struct hal_device *d = cpu->device;

	for (size_t i = 0; cpu->skip > 0 && i < d->ports->count(d->ports_ctx); i++)
		for (unsigned k = 0; k < d->sampling->skip_depth; k++)
			d->sampling->load_skip(d->sampling_ctx,
			    d->ports->if_index(d->ports_ctx, i), cpu->skip);
}

/* Runs the board for so long. */
static void
run_device(struct cpu *cpu, uint64_t run_us, struct result *result)
{
	struct hal_device *d = cpu->device;
	struct pollfd fd = {.fd = d->ops->fd(d->ctx), .events = POLLIN};
	uint64_t start = core_us();

	load_skips(cpu);
	if (d->ops->start(d->ctx, &cpu->hal) < 0)
		return;
	begin_slices(&result->slices);
	result->board_us = d->ops->now_us(d->ctx);
	do {
		if (poll(&fd, 1, 20) > 0)
			d->ops->dispatch(d->ctx, 0);
		slice(&result->slices, frames_of(d));
		if (result->warm_octets == 0 && core_us() - start > run_us / 10)
			result->warm_octets = resident_octets();
	} while (core_us() - start < run_us && cpu->hal.n_ended == 0);
	d->ops->stop(d->ctx);
	result->board_us = d->ops->now_us(d->ctx) - result->board_us;
	result->frames = frames_of(d);
	result->samples = cpu->hal.n_samples;
	result->ports = d->ports->count(d->ports_ctx);
	result->resident_octets = resident_octets();
}

static bool
run_board(const char *capture, const char *board, bool memory, uint32_t skip, double seconds,
    struct result *result)
{
	struct emulated_config config = {.board_file = board, .capture = capture,
	    .pace = EMULATED_PACE_LOCK_STEP, .loop = true, .preload = memory};
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	char error[512];

	if (!cpu || emulated_create(&config, &cpu->device, error, sizeof(error)) < 0) {
		fprintf(stderr, "bench_switch: %s\n", cpu ? error : "out of memory");
		free(cpu);
		return false;
	}
	cpu->skip = skip;
	cpu->hal.on_sample = refill;
	cpu->hal.ctx = cpu;
	run_device(cpu, (uint64_t)(seconds * 1e6), result);
	cpu->device->ops->destroy(cpu->device->ctx);
	free(cpu);
	return true;
}

/* --- a bare libpcap loop --- */

/* The buffer must be given: the C library takes the size of none. */
static FILE *
open_buffered(const char *path, const char *mode, char buffer[FILE_BUFFER_OCTETS])
{
	FILE *file = fopen(path, mode);

	if (file)
		setvbuf(file, buffer, _IOFBF, FILE_BUFFER_OCTETS);
	return file;
}

/* One at a time. */
static pcap_t *
open_capture(const char *path)
{
	static char buffer[FILE_BUFFER_OCTETS];
	char error[PCAP_ERRBUF_SIZE];
	FILE *file = open_buffered(path, "rbe", buffer);
	pcap_t *pcap;

	if (!file)
		return NULL;
	pcap = pcap_fopen_offline(file, error);
	if (!pcap)
		fclose(file);
	return pcap;
}

/* One round of the file. */
static uint64_t
read_round(const char *path, struct slices *slices, uint64_t frames)
{
	enum { FRAMES_A_LOOK = 4096 };
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	pcap_t *pcap = open_capture(path);

	while (pcap && pcap_next_ex(pcap, &header, &octets) == 1)
		if (++frames % FRAMES_A_LOOK == 0)
			slice(slices, frames);
	if (pcap)
		pcap_close(pcap);
	return frames;
}

static void
run_libpcap(const char *path, double seconds, struct slices *slices)
{
	uint64_t start = core_us(), frames = 0, before;

	begin_slices(slices);
	do {
		before = frames;
		frames = read_round(path, slices, frames);
	} while ((double)(core_us() - start) < seconds * 1e6 && frames > before);
}

/* --- what is measured --- */

static int
measure(const char *capture, const char *board, bool memory, uint32_t skip, double seconds)
{
	static struct result r;

	if (!run_board(capture, board, memory, skip, seconds, &r))
		return 1;
	printf("{\"bench\":\"switch\",\"from\":\"%s\",\"capture\":\"%s\",\"board\":\"%s\","
	       "\"ports\":%zu,\"skip\":%" PRIu32 ",\"frames\":%" PRIu64 ",\"samples\":%zu,"
	       "\"frames_per_s\":%.0f,\"best_frames_per_s\":%.0f,\"resident_mib\":%.1f,"
	       "\"grown_kib\":%" PRId64 ",\"board_hours\":%.1f}\n",
	    memory ? "memory" : "savefile", capture, board, r.ports, skip, r.frames, r.samples,
	    percentile(&r.slices, 50), percentile(&r.slices, 100),
	    (double)r.resident_octets / 1048576,
	    (int64_t)(r.resident_octets - r.warm_octets) / 1024, (double)r.board_us / 3.6e9);
	return 0;
}

static int
measure_libpcap(const char *capture, double seconds)
{
	static struct slices slices;

	run_libpcap(capture, seconds, &slices);
	printf("{\"bench\":\"libpcap\",\"capture\":\"%s\",\"frames_per_s\":%.0f,"
	       "\"best_frames_per_s\":%.0f}\n",
	    capture, percentile(&slices, 50), percentile(&slices, 100));
	return slices.n > 0 ? 0 : 1;
}

/* A board of n gigabit ports on GT-48001As, sleeping lines and buffers on all of them. */
static void
write_board(const char *path, unsigned n)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	for (unsigned i = 0; i < n / 8; i++)
		fprintf(f, "chip \"switch-%u\" { type = gt48001a }\n", i);
	for (unsigned i = 0; i < n % 8 / 2; i++)
		fprintf(f, "chip \"small-%u\" { type = gt48002a }\n", i);
	for (unsigned i = 0; i < (n + 3) / 4; i++)
		fprintf(f, "chip \"mac-%u\" { type = c84302 }\n", i);
	for (unsigned i = 0; i < (n + 8) / 9; i++)
		fprintf(f, "chip \"pool-%u\" { type = tnetx4090 }\n", i);
	fprintf(f, "chip \"eee\" { type = eee }\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "port \"ge-%u\" { speed = 1000  eee = on  pause = on }\n", i + 1);
	fclose(f);
}

/* Frames of 64 octets between n stations, each of which speaks once before the rest, to the one
 * before it; as many a second as a quarter of the ports' lines carries. */
static void
write_known_unicast(char *path, size_t size, unsigned n)
{
	enum { STATION = 0x020000, FRAMES_A_US = 8, LENGTH = 60 };
	struct made_capture *c = malloc(sizeof(*c));
	uint64_t random = 1;
	uint64_t base = (uint64_t)STATION << 24;

	path[0] = '\0';
	if (!c)
		return;
	made_begin(c, false, false, DLT_EN10MB);
	for (unsigned i = 0; c->n < sizeof(c->octets) - 2 * LENGTH; i++) {
		unsigned from = i, to = i > 0 ? i - 1 : 1;

		if (i >= n) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			from = (unsigned)(random >> 33) % n;
			to = (from + 1 + (unsigned)(random >> 13) % (n - 1)) % n;
		}
		made_frame(c, 1000000 + i / FRAMES_A_US, base + to, base + from, LENGTH);
	}
	made_write(c, path, size);
	free(c);
}

static void
print_point(const char *curve, unsigned at, const struct result *r, double first)
{
	double per_s = percentile(&r->slices, 50);

	printf("{\"bench\":\"switch\",\"from\":\"memory\",\"curve\":\"%s\",\"at\":%u,"
	       "\"ports\":%zu,\"samples\":%zu,\"frames_per_s\":%.0f,\"ns_per_frame\":%.1f,"
	       "\"best_ns_per_frame\":%.1f,\"of_first\":%.2f}\n",
	    curve, at, r->ports, r->samples, per_s, 1e9 / per_s,
	    1e9 / percentile(&r->slices, 100), first / per_s);
}

static void
stations_curve(const char *board, double seconds)
{
	static const unsigned stations[] = {10, 100, 1000, 8000};
	double first = 0;

	write_board(board, CURVE_PORTS);
	for (size_t i = 0; i < sizeof(stations) / sizeof(stations[0]); i++) {
		static struct result r;
		char capture[256];

		write_known_unicast(capture, sizeof(capture), stations[i]);
		if (run_board(capture, board, true, DEFAULT_SKIP, seconds, &r)) {
			first = i == 0 ? percentile(&r.slices, 50) : first;
			print_point("stations, 64-octet known unicast", stations[i], &r, first);
		}
		unlink(capture);
	}
}

static void
ports_curve(const char *capture, const char *board, double seconds)
{
	static const unsigned ports[] = {2, 8, 16, 26, 32, 48, 64};
	double first = 0;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		static struct result r;

		write_board(board, ports[i]);
		if (run_board(capture, board, true, DEFAULT_SKIP, seconds, &r)) {
			first = i == 0 ? percentile(&r.slices, 50) : first;
			print_point("ports, real mix", ports[i], &r, first);
		}
	}
}

static int
curves(const char *capture, double seconds)
{
	char board[] = "/tmp/bench-board-XXXXXX";
	int fd = mkstemp(board);

	if (fd < 0)
		return 1;
	close(fd);
	stations_curve(board, seconds);
	ports_curve(capture, board, seconds);
	unlink(board);
	return 0;
}

/* --- a long file for peers --- */

/* One more round behind what was written; *shift_us is added to its times and moves on. */
static uint64_t
append_round(const char *path, pcap_dumper_t *out, uint64_t *shift_us)
{
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	pcap_t *pcap = open_capture(path);
	uint64_t frames = 0, first_us = 0, us = 0;

	while (pcap && pcap_next_ex(pcap, &header, &octets) == 1) {
		struct pcap_pkthdr moved = *header;

		us = (uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec;
		if (frames++ == 0)
			first_us = us;
		moved.ts.tv_sec = (time_t)((us + *shift_us) / 1000000);
		moved.ts.tv_usec = (suseconds_t)((us + *shift_us) % 1000000);
		pcap_dump((uint8_t *)out, &moved, octets);
	}
	*shift_us += us - first_us + FEED_LOOP_GAP_US;
	if (pcap)
		pcap_close(pcap);
	return frames;
}

/* Written in large pieces the file lies in the page cache as one that was read from disk does; page
 * by page it would cost every reader a tenth more. */
static pcap_dumper_t *
create_capture(pcap_t *dead, const char *path)
{
	static char buffer[FILE_BUFFER_OCTETS];
	FILE *file = open_buffered(path, "wbe", buffer);
	pcap_dumper_t *out;

	if (!file)
		return NULL;
	out = pcap_dump_fopen(dead, file);
	if (!out)
		fclose(file);
	return out;
}

static int
write_loop(const char *capture, uint64_t frames, const char *file)
{
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *out = dead ? create_capture(dead, file) : NULL;
	uint64_t written = 0, round = 1, shift_us = 0;

	while (out && written < frames && round > 0) {
		round = append_round(capture, out, &shift_us);
		written += round;
	}
	if (out)
		pcap_dump_close(out);
	if (dead)
		pcap_close(dead);
	printf("%" PRIu64 "\n", written);
	return written >= frames ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	bool memory = strcmp(what, "memory") == 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if ((memory || strcmp(what, "savefile") == 0) && argc > 3)
		return measure(argv[2], argv[3], memory,
		    argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : DEFAULT_SKIP,
		    argc > 5 ? strtod(argv[5], NULL) : 2);
	if (strcmp(what, "libpcap") == 0)
		return measure_libpcap(argv[2], argc > 3 ? strtod(argv[3], NULL) : 2);
	if (strcmp(what, "curves") == 0)
		return curves(argv[2], argc > 3 ? strtod(argv[3], NULL) : 1);
	if (strcmp(what, "loop") == 0 && argc > 4)
		return write_loop(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	fprintf(stderr, "usage: bench_switch savefile|memory CAPTURE BOARD [SKIP [SECONDS]]\n"
			"       bench_switch libpcap CAPTURE [SECONDS]\n"
			"       bench_switch curves CAPTURE [SECONDS]\n"
			"       bench_switch loop CAPTURE FRAMES FILE\n");
	return 2;
}
