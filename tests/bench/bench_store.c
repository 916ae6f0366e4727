/*
 * bench_store [FLUSHES [SAMPLES [READERS]]]: does the writer wait for readers? Flushes of so many
 * samples each, 48 ports and 2,000 pairs, go into one store, in turns alone and while readers run
 * easetop over all of it without a pause. One JSON object a line: how long a flush took until it
 * was written, how much of that the writing thread ran, waited for a core (readers have these too), and
 * was blocked by a lock or the disk, which is what a reader must not add to; how often the readers
 * finished, and how long the log beside the store got. Runs where the build is (collector/easetop).
 */
#include "collector/store/store.h"
#include "collector/window/accounting.h"
#include "tests/bench/bench_load.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PORTS = 48,
	PAIRS = 2000,
	TURNS = 3, /* of each kind, so that a busy machine is busy for both */
	WARM_FLUSHES = 30,
	READERS_MAX = 16,
	HEADER = 34,
};

#define START_US 1700000040000000ull
#define FLUSH_US 1000000ull /* device's time that a flush covers */

struct bench {
	char dir[BENCH_PATH_MAX], path[BENCH_PATH_MAX + 16], log[BENCH_PATH_MAX + 24];
	struct clock clock;
	struct store *store;
	struct accounting *accounting;
	struct store_batch *batch;
	char schedstat[320]; /* of the store's thread */
	uint32_t sequences[PORTS];
	uint64_t flushes;
	_Atomic uint64_t *reads; /* shared with the readers */
};

/* What a flush took, or a sum of such. */
struct times {
	double all_ms, ran_ms, core_ms;
};

static void
find_thread(struct bench *b)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)) != NULL) {
		char path[320], name[32] = "";
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(path, "r");
		if (comm && fgets(name, sizeof(name), comm) && strcmp(name, "store\n") == 0)
			snprintf(b->schedstat, sizeof(b->schedstat),
			    "/proc/self/task/%s/schedstat", entry->d_name);
		if (comm)
			fclose(comm);
	}
	if (tasks)
		closedir(tasks);
}

/* Up to now. */
static struct times
times_of_thread(const struct bench *b)
{
	FILE *file = fopen(b->schedstat, "r");
	double ran_ns = 0, core_ns = 0;

	if (file && fscanf(file, "%lf %lf", &ran_ns, &core_ns) != 2)
		ran_ns = core_ns = 0;
	if (file)
		fclose(file);
	return (struct times){bench_now_s() * 1e3, ran_ns / 1e6, core_ns / 1e6};
}

static void
open_store(struct bench *b)
{
	struct store_room room[STORE_N_TABLES] = {0};
	char error[256];

	bench_make_dir(b->dir);
	snprintf(b->path, sizeof(b->path), "%s/ease.db", b->dir);
	snprintf(b->log, sizeof(b->log), "%s-wal", b->path);
	accounting_room(&accounting_default_limits, room);
	if (accounting_new(&b->accounting, &accounting_default_limits, &b->clock, 1) < 0 ||
	    store_open(&b->store, b->path, NULL, error, sizeof(error)) < 0 ||
	    store_start(b->store, room) < 0)
		bench_die("opening the store");
	b->batch = store_take(b->store);
	find_thread(b);
}

static void
take_sample(struct bench *b, uint32_t i, uint64_t time_us)
{
	uint32_t port = i % PORTS, pair = i * 2654435761u % PAIRS;
	uint8_t header[HEADER] = {2, 0, 0, 0, (uint8_t)(pair >> 8), (uint8_t)pair, 2, 1, 0, 0,
	    (uint8_t)(pair >> 4), (uint8_t)(pair % 16), 8, 0, 0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0,
	    0, 10, 0, (uint8_t)(pair >> 8), (uint8_t)pair, 10, 1, 0, (uint8_t)(pair % 16)};
	struct ease_record r = {
	    .kind = EASE_PART_SAMPLE,
	    .agent_id = {1},
	    .boot = 1,
	    .sender = "192.0.2.1",
	    .received_us = time_us,
	    .sample =
		{
		    .time_us = time_us,
		    .if_index = port + 1,
		    .sequence = ++b->sequences[port],
		    .direction = EASE_IN,
		    .skip = 99,
		    .mean_skip = 100,
		    .frame_octets = 64 + i % 1400,
		    .kept_octets = HEADER,
		    .header = header,
		},
	};

	accounting_add_records(b->accounting, b->batch, &r, 1);
}

/* From when it was handed over until it was written. */
static struct times
flush(struct bench *b, uint32_t samples)
{
	uint64_t start_us = START_US + b->flushes++ * FLUSH_US;
	struct times before, after;

	b->clock.manual_wall_us = b->clock.manual_mono_us = start_us;
	for (uint32_t i = 0; i < samples; i++)
		take_sample(b, i, start_us + i * FLUSH_US / samples);
	if (accounting_flush(b->accounting, b->batch) < 0)
		bench_die("cutting");
	before = times_of_thread(b);
	store_submit(b->store, b->batch);
	if (store_drain(b->store) < 0)
		bench_die("writing");
	after = times_of_thread(b);
	b->batch = store_take(b->store);
	return (struct times){after.all_ms - before.all_ms, after.ran_ms - before.ran_ms,
	    after.core_ms - before.core_ms};
}

static void
read_for_ever(const struct bench *b)
{
	char url[BENCH_PATH_MAX + 32];

	snprintf(url, sizeof(url), "sqlite:%s", b->path);
	for (;;) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(1);
			execl("collector/easetop", "easetop", "talkers", "--last", "all", "--layer",
			    "eth", "--top", "100", "--store", url, (char *)NULL);
			_exit(1);
		}
		waitpid(child, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			(*b->reads)++;
	}
}

static int
by_time(const void *a, const void *b)
{
	const struct times *x = a, *y = b;

	return (x->all_ms > y->all_ms) - (x->all_ms < y->all_ms);
}

static void
run_turns(struct bench *b, int flushes, uint32_t samples, int readers,
    struct times *took)
{
	pid_t pids[READERS_MAX];
	struct stat st = {0};
	struct times sum = {0}, *slowest = &took[flushes - 1];
	uint64_t reads = *b->reads;

	for (int i = 0; i < readers; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			read_for_ever(b);
	}
	for (int i = 0; i < flushes; i++) {
		took[i] = flush(b, samples);
		sum.all_ms += took[i].all_ms / flushes;
		sum.ran_ms += took[i].ran_ms / flushes;
		sum.core_ms += took[i].core_ms / flushes;
	}
	for (int i = 0; i < readers; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	qsort(took, (size_t)flushes, sizeof(*took), by_time);
	stat(b->log, &st);
	printf("{\"bench\":\"store\",\"readers\":%d,\"flushes\":%d,\"samples\":%u,"
	       "\"median_ms\":%.2f,\"mean_ms\":%.2f,\"of_it_ran_ms\":%.2f,"
	       "\"for_a_core_ms\":%.2f,\"blocked_ms\":%.2f,\"slowest_ms\":%.2f,"
	       "\"slowest_blocked_ms\":%.2f,\"reads\":%llu,\"log_mib\":%.1f}\n",
	    readers, flushes, samples, took[flushes / 2].all_ms, sum.all_ms, sum.ran_ms,
	    sum.core_ms, sum.all_ms - sum.ran_ms - sum.core_ms, slowest->all_ms,
	    slowest->all_ms - slowest->ran_ms - slowest->core_ms,
	    (unsigned long long)(*b->reads - reads), (double)st.st_size / (1 << 20));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int flushes = argc > 1 ? atoi(argv[1]) : 60, readers = argc > 3 ? atoi(argv[3]) : 2;
	uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : 5000;
	struct bench b = {.clock = {.manual = true}};
	struct times *took;

	if (flushes < 1 || samples < 1 || readers < 0 || readers > READERS_MAX) {
		fputs("usage: bench_store [FLUSHES [SAMPLES [READERS]]]\n", stderr);
		return EXIT_FAILURE;
	}
	took = calloc((size_t)flushes, sizeof(*took));
	b.reads = mmap(NULL, sizeof(*b.reads), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	open_store(&b);
	for (int i = 0; i < WARM_FLUSHES; i++)
		flush(&b, samples);
	for (int turn = 0; turn < TURNS; turn++) {
		run_turns(&b, flushes, samples, 0, took);
		run_turns(&b, flushes, samples, readers, took);
	}
	store_close(b.store);
	accounting_free(b.accounting);
	bench_remove_dir(b.dir);
	free(took);
	return EXIT_SUCCESS;
}
