/*
 * A day of faults: 24 simulated hours of load, on a clock that is stepped, from a fake switch
 * through HAL, sampling, packer, the notification ring and a scripted master (or past it) over the
 * network into the collector's sockets, books and store. Every ten minutes another kind of trouble,
 * drawn from a seed: memory, descriptors, disk, sockets, short reads and writes, counters that
 * cannot be read, clocks that are set, a master that is slow, refuses, closes or forgets to answer,
 * a lossy network, restarts of either end.
 *
 * Then: each sample that got a number is stored or in one named count; the collector knows how many
 * there were; and memory, descriptors and queues are as they were after the first hour.
 *
 * EASE_SEED repeats a run. Steps are of 10 s, with EASE_LONG of 1 s.
 */
#include "agent/hal/hal.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"
#include "agent/snmp/notify.h"
#include "agent/snmp/trap_sinks.h"
#include "agent/state.h"
#include "collector/collector.h"
#include "collector/collector_private.h"
#include "collector/window/sequence_jumps.h"
#include "common/log.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/faults/faults.h"
#include "tests/collector/store/faulty_vfs.h"
#include "tests/faults/soak_wire.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND_US 1000000ull
#define HOUR_US	  (3600 * SECOND_US)
#define NOON_US	  (1700000040ull * SECOND_US)

enum {
	HOURS = 24,
	DAYS_LONG = 10, /* with EASE_LONG, each from a seed of its own */
	EPISODE_S = 600,
	COUNTERS_S = 20,
	MESSAGE_OCTETS = 1400,
	RING = 64, /* small, so that it overflows */
	ERROR_TEXT = 512,
	TRIES = 20, /* to start under faults; then they are over */
	GROWTH_MAX = 4 << 20, /* octets, of what malloc keeps and SQLite's caches */
};

/* What the master does with what it is sent. */
enum master {
	MASTER_GOOD,
	MASTER_SLOW,	 /* answers one a step */
	MASTER_FROZEN,	 /* answers nothing */
	MASTER_REFUSES,	 /* one in four */
	MASTER_FORGETS,	 /* sends on, closes without an answer */
	MASTER_N,
};

static struct soak {
	uint64_t seed, random;
	uint64_t step_us;
	struct clock clock; /* of this machine: both programs run on it */
	char dir[64], conf[96], db[96], state[80], address[64];
	int relay; /* socket that the master sends on by */
	struct sockaddr_storage to;
	socklen_t to_len;
	/* the agent */
	struct fake_device fake;
	struct state *kept;
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	struct notify_ring *ring;
	struct trap_sinks *sinks;
	struct notify_source source;
	bool direct; /* past the master */
	uint32_t newest_boot;
	bool boot_again; /* an agent that could not keep its state took the boot for the second time */
	uint64_t boot_again_until_us;
	/* the collector */
	struct collector_config config;
	struct collector *collector;
	/* this episode */
	enum master master;
	unsigned lossy; /* one datagram in so many; 0: none */
	unsigned load;	/* frames a second and port */
	bool calm;
	bool delivered[NOTIFY_WINDOW]; /* has what is in that slot been sent on? */
	struct sums {
		uint64_t given_out, agent_drops, refused, lost_on_way; /* samples */
		/* Delivered with a boot that was used before, until it is clear that the numbers begin anew. */
		uint64_t boot_again;
		uint64_t late, faults, restarts, refusals, lost_batches;
	} sums;
} soak;

static uint64_t
draw(uint64_t below)
{
	soak.random = soak.random * 6364136223846793005ull + 1442695040888963407ull;
	return (soak.random >> 33) % below;
}

/* Whatever came before, a step draws the same. */
static void
begin_draws(uint64_t at_us)
{
	soak.random = soak.seed * 6364136223846793005ull + at_us;
	draw(1);
	faults_reseed(soak.random);
}

/* ---- the way ---- */

/* False: the network has lost it. */
static bool
send_on(const struct ease_notification *n)
{
	uint8_t octets[SOAK_WIRE_OCTETS];
	size_t size = soak_wire_trap(n, &soak.source, clock_mono_us(&soak.clock), octets);
	ssize_t sent;

	if (!soak.calm && soak.lossy > 0 && draw(soak.lossy) == 0)
		return false;
	faults_spare(true);
	sent = sendto(soak.relay, octets + sizeof(octets) - size, size, 0,
	    (struct sockaddr *)&soak.to, soak.to_len);
	faults_spare(soak.calm);
	faults_assert(sent == (ssize_t)size, "%s", strerror(errno));
	return true;
}

/* The collector believes that numbers begin anew when it has heard them for a while. */
static void
note_boot_again(const struct ease_notification *n)
{
	uint64_t now_us = soak.fake.now_us;

	if (soak.boot_again && soak.boot_again_until_us == 0)
		soak.boot_again_until_us = now_us + 2 * SEQUENCE_JUMPS_AGAIN_US;
	if (now_us < soak.boot_again_until_us)
		soak.sums.boot_again += n->n_samples;
}

/* One notification that the agent has handed over. False: the session is closed. */
static bool
master_takes(struct notify_item *item)
{
	enum master does = soak.calm ? MASTER_GOOD : soak.master;
	bool *delivered = &soak.delivered[item->slot];

	if (does == MASTER_REFUSES && draw(4) == 0) {
		soak.sums.refused += *delivered ? 0 : item->n.n_samples;
		*delivered = false;
		notify_ring_refused(item);
		return true;
	}
	if (send_on(&item->n) && !*delivered) {
		*delivered = true;
		note_boot_again(&item->n);
	}
	if (does == MASTER_FORGETS && draw(2) == 0) {
		notify_ring_timed_out(item);
		return false;
	}
	soak.sums.lost_on_way += *delivered ? 0 : item->n.n_samples;
	*delivered = false;
	notify_ring_acknowledged(item);
	return true;
}

static void
pump(void)
{
	unsigned most = soak.calm ? UINT32_MAX : soak.master == MASTER_SLOW ? 1
	    : soak.master == MASTER_FROZEN ? 0 : UINT32_MAX;
	struct notify_item *item;

	while (most-- > 0 && (item = notify_ring_next(soak.ring)) != NULL)
		if (!master_takes(item))
			break;
}

static int
push(void *ctx, const struct ease_notification *n)
{
	(void)ctx;
	if (soak.direct)
		note_boot_again(n);
	return soak.direct ? trap_sinks_push(soak.sinks, n) : notify_ring_push(soak.ring, n);
}

static void
lost(void *ctx, uint32_t if_index, unsigned n)
{
	(void)ctx;
	sampling_count_drops(soak.sampling, if_index, n);
}

static int
take_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	packer_sample(soak.packer, sample, snapshot);
	return 0;
}

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(soak.sampling, event);
}

static void
on_skips_lost(void *ctx, uint32_t if_index)
{
	(void)ctx;
	sampling_on_skips_lost(soak.sampling, if_index);
}

/* ---- trouble, or none ---- */

static void
be_calm(bool calm)
{
	soak.calm = calm;
	faults_spare(calm);
	if (calm) {
		faulty_vfs_fail(FAULT_NONE, 0, 0);
		soak.fake.read_error = 0;
		soak.fake.late_cpu = false;
	}
}

/* ---- the agent ---- */

static void
agent_close(void)
{
	trap_sinks_destroy(soak.sinks);
	packer_destroy(soak.packer);
	sampling_destroy(soak.sampling);
	hal_destroy(soak.hal);
	notify_ring_destroy(soak.ring);
	state_close(soak.kept);
	soak.kept = NULL;
	soak.sinks = NULL;
	soak.packer = NULL;
	soak.sampling = NULL;
	soak.hal = NULL;
	soak.ring = NULL;
}

static int
agent_try(void)
{
	struct trap_sink sink = {.address = soak.address, .community = (char *)"public",
	    .user = (char *)"", .auth_passphrase = (char *)"", .priv_passphrase = (char *)"",
	    .max_per_s = 100};
	const struct sampling_options options = {.has_seed = true, .seed = draw(UINT32_MAX),
	    .defaults = {.enabled = true, .mean_skip = 20, .header_octets = 64, .edge = true}};
	const struct sampling_sink samples = {NULL, take_sample};
	const struct packer_sink out = {NULL, push, lost};
	const struct state_options keeping = {.dir = soak.state, .clock = &soak.clock,
	    .keep_departed_days = 30};
	char error[ERROR_TEXT];
	int rc = state_open(&keeping, &soak.kept, error, sizeof(error));

	if (rc == 0)
		rc = hal_create(&soak.fake.device, &soak.clock, &soak.hal);
	if (rc == 0)
		rc = hal_start(soak.hal);
	if (rc == 0)
		rc = sampling_create(soak.hal, &options, &samples, &soak.sampling);
	if (rc == 0)
		rc = packer_create(MESSAGE_OCTETS, &out, &soak.packer);
	if (rc == 0)
		rc = notify_ring_create(RING, &soak.ring);
	if (rc < 0)
		return rc;
	state_agent_id(soak.kept, soak.source.agent_id);
	soak.source.boot = state_boot(soak.kept);
	return trap_sinks_create(&sink, 1, &soak.source, &soak.clock, &soak.sinks, error,
	    sizeof(error));
}

static void
agent_open(void)
{
	const struct hal_listener listener = {.sample = on_sample, .skips_lost = on_skips_lost};
	uint64_t now_us = soak.fake.now_us;
	int tries = 0;

	while (fake_init(&soak.fake, FAKE_PORTS), soak.fake.now_us = now_us, agent_try() < 0) {
		agent_close();
		soak.sums.refusals++;
		faults_assert(tries++ < 2 * TRIES, "the agent does not start");
		be_calm(soak.calm || tries > TRIES);
	}
	soak.boot_again = soak.source.boot <= soak.newest_boot;
	soak.boot_again_until_us = 0;
	if (!soak.boot_again)
		soak.newest_boot = soak.source.boot;
	be_calm(false);
	hal_set_listener(soak.hal, &listener);
	memset(soak.delivered, 0, sizeof(soak.delivered));
	state_restore(soak.kept,
	    &(struct settings_owners){.hal = soak.hal, .sampling = soak.sampling});
	state_started(soak.kept);
	sampling_start(soak.sampling);
}

static void
send_counters(void)
{
	for (size_t i = 0; i < hal_n_ports(soak.hal); i++) {
		struct ease_snapshot snapshot;
		struct ease_state state;

		if (sampling_snapshot(soak.sampling, hal_port_if_index(soak.hal, i), &snapshot) == 0)
			packer_counters(soak.packer, &snapshot);
		if (sampling_state(soak.sampling, hal_port_if_index(soak.hal, i), &state) == 0)
			packer_state(soak.packer, &state);
	}
	packer_flush(soak.packer);
}

/* What the numbers of this boot came to. */
static void
count_numbers(void)
{
	for (size_t i = 0; i < hal_n_ports(soak.hal); i++) {
		struct ease_snapshot snapshot;

		faults_assert(sampling_snapshot(soak.sampling, hal_port_if_index(soak.hal, i),
				  &snapshot) == 0, "a counter cannot be read");
		soak.sums.given_out += snapshot.last_sequence;
		soak.sums.agent_drops += snapshot.drops;
	}
}

static void
frames(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fake_frame(&soak.fake, 10 * (uint32_t)(1 + draw(FAKE_PORTS)),
		    draw(4) ? EASE_IN : EASE_OUT);
}

/* ---- the collector ---- */

/* The store keeps eight boots of a port: what it deletes is noted for the sums of the end. */
static void
note_deleted_boots(void)
{
	sqlite3 *db;

	faults_spare(true);
	ck_assert_int_eq(sqlite3_open(soak.db, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE IF NOT EXISTS old_account(expected, received, samples);"
	    " CREATE TRIGGER IF NOT EXISTS note_account AFTER DELETE ON account BEGIN"
	    "  INSERT INTO old_account VALUES(old.expected, old.received, 0); END;"
	    " CREATE TRIGGER IF NOT EXISTS note_gone AFTER DELETE ON gone BEGIN"
	    "  INSERT INTO old_account VALUES(0, 0, old.samples); END", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	faults_spare(false);
}

static void
open_collector(void)
{
	static const struct collector_arguments options;
	char error[ERROR_TEXT];
	int tries = 0;

	while (collector_open(&soak.collector, &soak.config, &options, &soak.clock, error, sizeof(error)) < 0) {
		soak.sums.refusals++;
		faults_assert(tries++ < 2 * TRIES, "the collector does not start: %s", error);
		be_calm(soak.calm || tries > TRIES);
	}
	note_deleted_boots();
	be_calm(false);
}

static void
close_collector(void)
{
	collector_stop(soak.collector);
	soak.sums.late += collector_stat(soak.collector, "accounting.late");
	soak.sums.lost_batches += collector_stat(soak.collector, "store.lost_batches");
	faults_assert(collector_stat(soak.collector, "input.kernel_drops") == 0, "datagrams lost by the kernel");
	collector_close(soak.collector);
	soak.collector = NULL;
}

/* The store's thread and this one take turns, so that a seed repeats exactly. */
static void
turn_collector(void)
{
	collector_turn(soak.collector);
	store_drain(soak.collector->store);
}

/* ---- trouble ---- */

/* All that is under way arrives. */
static void
settle(void)
{
	for (unsigned i = 0; i < 4; i++) {
		clock_step_us(&soak.clock, 60 * SECOND_US); /* flushes, fills the sinks' credit */
		soak.fake.now_us += SECOND_US;
		send_counters();
		while (!notify_ring_idle(soak.ring))
			pump();
		turn_collector();
	}
}

static void
restart_agent(void)
{
	be_calm(true);
	settle();
	count_numbers();
	be_calm(false);
	if (draw(2) && state_save_totals(soak.kept, soak.hal) < 0)
		soak.sums.refusals++;
	agent_close();
	agent_open();
	soak.sums.restarts++;
}

static void
restart_collector(void)
{
	be_calm(draw(2));
	close_collector();
	be_calm(false);
	open_collector();
	soak.sums.restarts++;
}

/* Of the threads that are not this one: the store's. */
static const unsigned of_others[FAULT_N_CLASSES] = {[FAULT_MEMORY] = 200000, [FAULT_DISK] = 100,
    [FAULT_READING] = 100};

static void
next_episode(void)
{
	static const enum fault disk[] = {FAULT_FULL, FAULT_ERROR, FAULT_SHORT, FAULT_SYNC};
	unsigned rates[FAULT_N_CLASSES] = {0}, restarts;
	bool direct;

	be_calm(false);
	for (size_t i = 0; i < FAULT_N_CLASSES; i++)
		rates[i] = draw(3) ? 0 : 2 + (unsigned)draw(i == FAULT_MEMORY ? 1000 : 100);
	faults_rate(rates);
	soak.master = draw(MASTER_N);
	soak.lossy = draw(3) ? 0 : 2 + (unsigned)draw(50);
	soak.load = (unsigned)draw(200);
	soak.fake.read_error = draw(8) ? 0 : -EIO;
	faulty_vfs_fail(draw(3) ? FAULT_NONE : disk[draw(4)], (int)draw(200), 1 + (int)draw(20));
	if (draw(6) == 0) /* ours is set */
		soak.clock.manual_wall_us += (int64_t)(draw(7200) * SECOND_US) - (int64_t)HOUR_US;
	if (draw(6) == 0) /* the switch's is set */
		soak.fake.now_us += (int64_t)(draw(600) * SECOND_US) - (int64_t)(300 * SECOND_US);
	direct = draw(2);
	restarts = (unsigned)draw(16);
	if (restarts % 4 == 0) {
		restart_agent();
		soak.direct = direct; /* one way only in a boot: the other would come too late */
	}
	if (restarts / 4 == 0)
		restart_collector();
}

static void
step(uint64_t at_us)
{
	uint64_t step_s = soak.step_us / SECOND_US;

	clock_step_us(&soak.clock, soak.step_us);
	for (uint64_t s = 0; s < step_s; s++) {
		soak.fake.now_us += SECOND_US;
		frames(soak.load);
		if (draw(4) == 0)
			packer_flush(soak.packer);
	}
	if (at_us / SECOND_US % COUNTERS_S == 0)
		send_counters();
	hal_refresh(soak.hal, 0);
	sampling_publish(soak.sampling);
	pump();
	turn_collector();
}

static void
run_hours(unsigned from, unsigned to)
{
	for (uint64_t at_us = from * HOUR_US; at_us < to * HOUR_US; at_us += soak.step_us) {
		if (at_us / SECOND_US % EPISODE_S == 0) {
			begin_draws(at_us + 1);
			next_episode();
		}
		begin_draws(at_us);
		step(at_us);
	}
}

/* ---- what is held ---- */

struct held {
	size_t octets, descriptors;
};

static struct held
look(const char *when)
{
	struct held held;

	/* Both anew: a collector that had no shared memory at its start has a descriptor less, and an agent that could
	 * not open its state two. */
	be_calm(true);
	settle();
	count_numbers();
	agent_close();
	agent_open();
	soak.sums.restarts++;
	be_calm(true);
	close_collector();
	open_collector();
	be_calm(true);
	settle();
	held = (struct held){faults_octets(), faults_descriptors()};
	ck_assert(notify_ring_idle(soak.ring));
	ck_assert(!packer_waits(soak.packer));
	ck_assert_uint_eq(slow_path_waiting(soak.collector->slow_path), 0);
	printf("%s: %zu octets, %zu descriptors\n", when, held.octets, held.descriptors);
	be_calm(false);
	return held;
}

static double
ask(const char *what, const char *table)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT ifnull(sum(%s), 0) FROM %s", what, table);
	return sql_number(soak.db, sql);
}

static void
expect_accounted(void)
{
	const struct sums *s = &soak.sums;
	double expected = ask("expected", "account") + ask("expected", "old_account"),
	       received = ask("received", "account") + ask("received", "old_account"),
	       gone = ask("samples", "gone") + ask("samples", "old_account");
	uint64_t told;

	printf("%" PRIu64 " samples = %.0f stored + %.0f received and gone + %" PRIu64
	       " dropped in the agent + %" PRIu64 " refused by the master + %" PRIu64
	       " lost on the way, of the others %" PRIu64 " with a boot again; %" PRIu64 " restarts, %" PRIu64
	       " refusals, %" PRIu64 " faults\n",
	    s->given_out, received, gone, s->agent_drops, s->refused, s->lost_on_way, s->boot_again, s->restarts,
	    s->refusals, faults_failed());
	fflush(stdout);
	/* The crash journal has the newest boot of each port: what an earlier one came to is lost with a batch that could
	 * not be written before a stop. */
	ck_assert_uint_le((uint64_t)expected, s->given_out);
	if (s->lost_batches == 0)
		ck_assert_uint_eq((uint64_t)expected, s->given_out);
	told = (uint64_t)(received + gone) + s->agent_drops + s->refused + s->lost_on_way;
	ck_assert_uint_le(told, s->given_out);
	if (s->lost_batches == 0)
		ck_assert_uint_ge(told + s->boot_again, s->given_out);
	ck_assert_uint_eq(s->late, 0);
}

/* ---- the day ---- */

static void
find_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	memcpy(&soak.to, &at, len);
	soak.to_len = len;
	snprintf(soak.address, sizeof(soak.address), "127.0.0.1:%d", ntohs(at.sin_port));
	soak.relay = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(soak.relay, 0);
}

static void
set_up(void)
{
	char error[ERROR_TEXT];
	FILE *file;

	memset(&soak, 0, sizeof(soak));
	log_set_most(LOG_LEVEL_ERROR);
	faults_install();
	faulty_vfs_install();
	soak.step_us = (getenv("EASE_LONG") ? 1 : 10) * SECOND_US;
	soak.clock = (struct clock){.manual = true, .manual_wall_us = NOON_US,
	    .manual_mono_us = HOUR_US};
	strcpy(soak.dir, "/tmp/ease-soak-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(soak.dir));
	snprintf(soak.conf, sizeof(soak.conf), "%s/conf", soak.dir);
	snprintf(soak.db, sizeof(soak.db), "%s/ease.db", soak.dir);
	snprintf(soak.state, sizeof(soak.state), "%s", soak.dir);
	find_port();
	file = fopen(soak.conf, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "listen = {\"%s\"}\ncommunities = {\"public\"}\nsenders = {\"127.0.0.1\"}\n"
		      "http_listen = \"\"\nreceive_buffer = 4000000\nmemory = 128\nstore = \"%s\"\n"
		      "flush_interval = 60000\n", soak.address, soak.db);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_msg(collector_config_load(soak.conf, &soak.config, error, sizeof(error)) == 0, "%s",
	    error);
}

static void
tear_down(void)
{
	char command[128];

	close(soak.relay);
	collector_config_free(&soak.config);
	snprintf(command, sizeof(command), "rm -rf %s", soak.dir);
	ck_assert_int_eq(system(command), 0);
}

static void
begin(uint64_t seed)
{
	static const unsigned none[FAULT_N_CLASSES];

	set_up();
	soak.seed = seed;
	soak.fake.now_us = NOON_US;
	begin_draws(0);
	open_collector();
	agent_open();
	faults_draw(seed, none, of_others);
}

static void
end(void)
{
	be_calm(true);
	settle();
	count_numbers();
	close_collector();
	agent_close();
	faults_stop();
	expect_accounted();
	tear_down();
}

START_TEST(a_day_of_faults)
{
	struct held first, last;

	begin(faults_seed("a day of faults"));
	run_hours(0, 2);
	first = look("after two hours");
	run_hours(2, suite_is_slow() ? 4 : HOURS);
	last = look("at the end");
	end();
	ck_assert_uint_eq(last.descriptors, first.descriptors);
	ck_assert_uint_le(last.octets, first.octets + GROWTH_MAX);
}
END_TEST

/* The same seed makes the same day, as far as it goes by what became of samples. */
START_TEST(a_seed_repeats)
{
	uint64_t seed = faults_seed("a seed repeats");
	struct sums first;

	begin(seed);
	run_hours(0, 2);
	end();
	first = soak.sums;
	begin(seed);
	run_hours(0, 2);
	end();
	ck_assert_uint_eq(soak.sums.given_out, first.given_out);
	ck_assert_uint_eq(soak.sums.agent_drops, first.agent_drops);
	ck_assert_uint_eq(soak.sums.refused, first.refused);
	ck_assert_uint_eq(soak.sums.lost_on_way, first.lost_on_way);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("soak");
	TCase *all = tcase_create("all");
	int days = getenv("EASE_LONG") && !getenv("EASE_SEED") ? DAYS_LONG : 1;

	tcase_set_timeout(all, 1800);
	tcase_add_loop_test(all, a_day_of_faults, 0, days);
	tcase_add_test(all, a_seed_repeats);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
