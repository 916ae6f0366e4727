/* Captures as input: formats, what is left out and counted, order, assignment to ports, loops. */
#include "agent/sim/feed.h"
#include "agent/sim/port_assignment.h"
#include "common/log.h"
#include "tests/suite.h"
#include "tests/support/make_capture.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAC_A 0x020000000001ull
#define MAC_B 0x020000000002ull
#define MAC_C 0x020000000003ull
#define START 1700000000000000ull

static struct made_capture made, other;
static struct feed *feed;
static char error[512];
static const unsigned ports[3] = {0, 1, 2};

static int
try_open(FILE *file, int port)
{
	struct feed_source source = {.path = "made.pcap", .file = file, .port = port};
	struct feed_config config = {
	    .sources = &source, .n_sources = 1, .ports = ports, .n_ports = 3};

	feed = NULL;
	return feed_create(&config, &feed, error, sizeof(error));
}

static void
open_made(void)
{
	ck_assert_int_eq(try_open(made_open(&made), -1), 0);
}

static void
tear_down(void)
{
	feed_destroy(feed);
	feed = NULL;
}

static uint64_t
stat_of(enum feed_stat which)
{
	return stat_get(feed_stats(feed), which);
}

static struct feed_frame
next(void)
{
	struct feed_frame frame;

	ck_assert_uint_eq(feed_next_batch(feed, &frame, 1), 1);
	return frame;
}

static void
expect_end(void)
{
	struct feed_frame frame;

	ck_assert_uint_eq(feed_next_batch(feed, &frame, 1), 0);
	ck_assert_uint_eq(feed_next_batch(feed, &frame, 1), 0);
}

START_TEST(every_byte_order_and_time_unit)
{
	bool big_endian = _i & 1, nanoseconds = _i & 2;
	struct feed_frame frame;

	made_begin(&made, big_endian, nanoseconds, 1);
	made_frame(&made, START + 123456, MAC_B, MAC_A, 100);
	made_frame(&made, START + 999999, MAC_B, MAC_A, 1514);
	open_made();
	ck_assert_uint_eq(feed_first_us(feed), START + 123456);
	frame = next();
	ck_assert_uint_eq(frame.time_us, START + 123456);
	ck_assert_uint_eq(frame.wire_octets, 104);
	ck_assert_uint_eq(frame.captured_octets, 100);
	ck_assert_uint_eq(frame.data_octets, 100);
	ck_assert_uint_eq(frame.octets[11], 1);
	frame = next();
	ck_assert_uint_eq(frame.time_us, START + 999999);
	ck_assert_uint_eq(frame.wire_octets, 1518);
	expect_end();
}
END_TEST

START_TEST(short_frames_are_padded_and_runts_are_not)
{
	uint8_t octets[60] = {2};
	struct feed_frame frame;

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 14);
	made_record(&made, START, 20, 42, octets);
	made_record(&made, START, 13, 13, octets);
	made_record(&made, START, 0, 0, octets);
	open_made();
	frame = next();
	ck_assert_uint_eq(frame.wire_octets, 64);
	ck_assert_uint_eq(frame.data_octets, 60);
	ck_assert_uint_eq(frame.captured_octets, 14);
	frame = next();
	ck_assert_uint_eq(frame.wire_octets, 64);
	ck_assert_uint_eq(frame.data_octets, 20);
	ck_assert_uint_eq(next().wire_octets, 17);
	ck_assert_uint_eq(next().wire_octets, 4);
	ck_assert_uint_eq(stat_of(FEED_STAT_RUNTS), 2);
	expect_end();
}
END_TEST

START_TEST(lying_lengths_and_cut_headers_are_left_out)
{
	uint8_t octets[64] = {2};

	made_begin(&made, false, false, 1);
	made_record(&made, START, 36, 262144, octets);
	made_record(&made, START, 13, 100, octets);
	made_record(&made, START, 36, 65535, octets);
	made_record(&made, START, 64, 60, octets);
	open_made();
	ck_assert_uint_eq(next().wire_octets, 65539);
	ck_assert_uint_eq(next().captured_octets, 60);
	expect_end();
	ck_assert_uint_eq(stat_of(FEED_STAT_LYING), 1);
	ck_assert_uint_eq(stat_of(FEED_STAT_CUT_HEADERS), 1);
	ck_assert_uint_eq(stat_of(FEED_STAT_DAMAGED), 0);
}
END_TEST

/* Cut at any octet: all whole records come, and any rest is reported. */
START_TEST(a_cut_file_keeps_its_good_frames)
{
	size_t whole;

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	made_frame(&made, START + 1, MAC_B, MAC_A, 60);
	whole = made.n;
	for (made.n = 24; made.n <= whole; made.n++) {
		size_t frames = (made.n - 24) / 76, rest = (made.n - 24) % 76;

		open_made();
		for (size_t i = 0; i < frames; i++)
			next();
		expect_end();
		ck_assert_uint_eq(stat_of(FEED_STAT_DAMAGED), rest != 0);
		tear_down();
	}
}
END_TEST

START_TEST(a_record_that_claims_too_much_ends_the_file)
{
	uint8_t octets[60] = {2};

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	made_record(&made, START, 60, 60, octets);
	memcpy(made.octets + 24 + 76 + 8, "\x00\x00\x42\x7f", 4);
	open_made();
	next();
	expect_end();
	ck_assert_uint_eq(stat_of(FEED_STAT_DAMAGED), 1);
}
END_TEST

START_TEST(an_empty_capture_has_no_frames)
{
	made_begin(&made, false, false, 1);
	open_made();
	ck_assert_uint_eq(feed_first_us(feed), 0);
	expect_end();
}
END_TEST

START_TEST(other_link_types_are_refused_by_name)
{
	static const struct {
		uint32_t type;
		const char *error;
	} cases[] = {
	    {113, "made.pcap: link type 113 (Linux cooked v1) is not Ethernet"},
	    {105, "made.pcap: link type 105 (802.11) is not Ethernet"},
	    {0, "made.pcap: link type 0 (BSD loopback) is not Ethernet"},
	    {101, "made.pcap: link type 101 (Raw IP) is not Ethernet"},
	};

	made_begin(&made, false, false, cases[_i].type);
	ck_assert_int_eq(try_open(made_open(&made), -1), -EPROTONOSUPPORT);
	ck_assert_str_eq(error, cases[_i].error);
}
END_TEST
enum { LINK_CASES = 4 };

START_TEST(what_is_no_capture_is_refused_with_its_name)
{
	made.n = 0;
	made_begin(&made, false, false, 1);
	made.octets[0] = 'x';
	ck_assert_int_eq(try_open(made_open(&made), -1), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "made.pcap: "));
	made.n = 10;
	ck_assert_int_eq(try_open(made_open(&made), -1), -EINVAL);
	ck_assert_int_eq(try_open(NULL, -1), -ENOENT);
	ck_assert_str_eq(error, "made.pcap: No such file or directory");
}
END_TEST

START_TEST(stations_stay_at_the_port_they_were_dealt_to)
{
	static const uint64_t sources[] = {MAC_A, MAC_B, MAC_A, MAC_C, MAC_C + 1, MAC_B, MAC_C};
	static const unsigned expected[] = {0, 1, 0, 2, 0, 1, 2};

	made_begin(&made, false, false, 1);
	for (size_t i = 0; i < 7; i++)
		made_frame(&made, START, MAC_B, sources[i], 60);
	open_made();
	for (size_t i = 0; i < 7; i++)
		ck_assert_uint_eq(next().port, expected[i]);
}
END_TEST

/* Group and zero addresses take no station's turn and always go the same way. */
START_TEST(nobodys_addresses_are_dealt_by_hash)
{
	unsigned group, zero;

	made_begin(&made, false, false, 1);
	for (int i = 0; i < 2; i++) {
		made_frame(&made, START, MAC_B, 0x010000000001ull, 60);
		made_frame(&made, START, MAC_B, 0, 60);
	}
	made_frame(&made, START, MAC_B, MAC_A, 60);
	open_made();
	group = next().port;
	zero = next().port;
	ck_assert_uint_eq(next().port, group);
	ck_assert_uint_eq(next().port, zero);
	ck_assert_uint_eq(next().port, 0);
}
END_TEST

START_TEST(dealing_is_bounded)
{
	struct port_assignment *deal;
	bool full = false;

	ck_assert_int_eq(port_assignment_create(FEED_DEAL_ROUND_ROBIN, ports, 3, &deal), 0);
	for (uint64_t i = 0; i < FEED_DEAL_ADDRESSES; i++)
		ck_assert_uint_eq(port_of_source(deal, MAC_A + i, &full), i % 3);
	ck_assert(!full);
	ck_assert_uint_lt(port_of_source(deal, MAC_A + FEED_DEAL_ADDRESSES, &full), 3);
	ck_assert(full);
	ck_assert_uint_eq(port_of_source(deal, MAC_A + 4, &full), 1);
	port_assignment_destroy(deal);
	ck_assert_int_eq(port_assignment_create(FEED_DEAL_HASH, ports, 0, &deal), -EINVAL);
}
END_TEST

START_TEST(a_loop_goes_on_behind_its_end)
{
	struct feed_source source = {.path = error, .port = 2};
	struct feed_config config = {.sources = &source, .n_sources = 1, .loop = true};
	char path[256];

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	made_frame(&made, START + 5000, MAC_B, MAC_A, 60);
	made_write(&made, path, sizeof(path));
	source.path = path;
	ck_assert_int_eq(feed_create(&config, &feed, error, sizeof(error)), 0);
	for (uint64_t round = 0; round < 3; round++) {
		uint64_t at = START + round * (5000 + FEED_LOOP_GAP_US);
		struct feed_frame frame = next();

		ck_assert_uint_eq(frame.time_us, at);
		ck_assert_uint_eq(frame.port, 2);
		ck_assert_uint_eq(next().time_us, at + 5000);
	}
	ck_assert_uint_eq(stat_of(FEED_STAT_LOOPS), 2);
	unlink(path);
}
END_TEST

START_TEST(an_empty_loop_ends)
{
	struct feed_source source = {.port = 0};
	struct feed_config config = {.sources = &source, .n_sources = 1, .loop = true};
	char path[256];

	made_begin(&made, false, false, 1);
	made_write(&made, path, sizeof(path));
	source.path = path;
	ck_assert_int_eq(feed_create(&config, &feed, error, sizeof(error)), 0);
	expect_end();
	unlink(path);
}
END_TEST

START_TEST(several_captures_come_in_the_order_of_their_times)
{
	struct feed_source sources[2] = {{.path = "a", .port = 4}, {.path = "b", .port = 5}};
	struct feed_config config = {.sources = sources, .n_sources = 2};

	made_begin(&made, false, false, 1);
	made_begin(&other, true, false, 1);
	for (uint64_t i = 0; i < 4; i++) {
		made_frame(&made, START + 10 * i, MAC_B, MAC_A, 60);
		made_frame(&other, START + 10 * i + 5, MAC_A, MAC_B, 60);
	}
	sources[0].file = made_open(&made);
	sources[1].file = made_open(&other);
	ck_assert_int_eq(feed_create(&config, &feed, error, sizeof(error)), 0);
	for (uint64_t i = 0; i < 8; i++) {
		struct feed_frame frame = next();

		ck_assert_uint_eq(frame.time_us, START + 5 * i);
		ck_assert_uint_eq(frame.port, 4 + i % 2);
		ck_assert_uint_eq(frame.octets[11], 1 + i % 2);
	}
	expect_end();
}
END_TEST

START_TEST(a_failing_source_fails_all)
{
	struct feed_source sources[3] = {
	    {.path = "a", .port = 0}, {.path = "b", .port = 1}, {.path = "c", .port = 2}};
	struct feed_config config = {.sources = sources, .n_sources = 3};

	made_begin(&made, false, false, 1);
	made_begin(&other, false, false, 113);
	sources[0].file = made_open(&made);
	sources[1].file = made_open(&other);
	sources[2].file = made_open(&made);
	feed = NULL;
	ck_assert_int_eq(feed_create(&config, &feed, error, sizeof(error)), -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(error, "b: link type"));
}
END_TEST

/* --- batches, several sources, what happens between frames --- */

/* Everything the feed gives, in batches of `max`, with the octets added up: into `seen`. */
struct seen {
	struct feed_frame frames[40000];
	uint32_t sums[40000];
	size_t n;
};
static struct seen seen, expected;

static void
see_all(struct seen *to, size_t max)
{
	static struct feed_frame batch[512];
	size_t n;

	to->n = 0;
	while ((n = feed_next_batch(feed, batch, max)) > 0) {
		ck_assert_uint_le(n, max);
		for (size_t i = 0; i < n; i++) {
			ck_assert_uint_lt(to->n, 40000);
			to->frames[to->n] = batch[i];
			to->frames[to->n].octets = NULL;
			to->sums[to->n] = 0;
			for (uint32_t k = 0; k < batch[i].captured_octets; k++)
				to->sums[to->n] = to->sums[to->n] * 31 + batch[i].octets[k];
			to->n++;
		}
	}
}

static void
expect_same(const struct seen *a, const struct seen *b)
{
	ck_assert_uint_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		ck_assert_mem_eq(&a->frames[i], &b->frames[i], sizeof(a->frames[i]));
		ck_assert_uint_eq(a->sums[i], b->sums[i]);
	}
}

/* More than a block of the file; stations and times by arithmetic. */
static void
make_many(struct made_capture *c, size_t n, uint64_t step_us, uint64_t mac)
{
	made_begin(c, false, false, 1);
	for (size_t i = 0; i < n; i++)
		made_frame(c, START + i * step_us + i * i % 3, MAC_B, mac + i * i % 11,
		    (uint32_t)(60 + i * 37 % 1000));
}

static void
open_config(struct feed_config *config)
{
	feed_destroy(feed);
	feed = NULL;
	ck_assert_msg(feed_create(config, &feed, error, sizeof(error)) == 0, "%s", error);
}

/* Three captures that interleave, and a link that changes: the same in batches of any size and from
 * memory, in the order of times. */
START_TEST(batches_of_any_size_are_the_same)
{
	static struct made_capture third;
	static const struct feed_link_change changes[] = {
	    {2000, 2, true}, {1000, 2, false}, {1000, 1, false}};
	struct feed_source sources[] = {
	    {.path = "a", .port = -1}, {.path = "b", .port = 4}, {.path = "c", .port = 5}};
	struct feed_config config = {.sources = sources, .n_sources = 3, .ports = ports,
	    .n_ports = 3, .link_changes = changes, .n_link_changes = 3};
	static const size_t sizes[] = {1, 2, 63, 64, 65, 256, 512, 100};

	make_many(&made, 3000, 7, MAC_A);
	make_many(&other, 2000, 11, MAC_B);
	make_many(&third, 1000, 5, MAC_C);
	for (size_t i = 0; i < 8; i++) {
		sources[0].file = made_open(&made);
		sources[1].file = made_open(&other);
		sources[2].file = made_open(&third);
		config.preload = i == 7;
		open_config(&config);
		see_all(i ? &seen : &expected, sizes[i]);
		ck_assert_uint_eq(stat_of(FEED_STAT_LINK_CHANGES), 3);
		if (i > 0)
			expect_same(&seen, &expected);
	}
	ck_assert_uint_eq(seen.n, 6003);
	for (size_t i = 0, n = 0; i < seen.n; i++) {
		static const uint8_t events[] = {FEED_LINK_DOWN, FEED_LINK_DOWN, FEED_LINK_UP};
		static const unsigned on[] = {1, 2, 2};

		if (seen.frames[i].event == FEED_FRAME)
			continue;
		ck_assert_uint_eq(seen.frames[i].event, events[n]);
		ck_assert_uint_eq(seen.frames[i].port, on[n]);
		ck_assert_uint_eq(seen.frames[i].time_us, START + (n < 2 ? 1000 : 2000));
		ck_assert(i == 0 || seen.frames[i - 1].time_us <= seen.frames[i].time_us + 2);
		n++;
	}
}
END_TEST

START_TEST(a_loop_from_memory_is_the_loop_from_the_file)
{
	struct feed_source source = {.port = -1};
	struct feed_config config = {.sources = &source, .n_sources = 1, .ports = ports,
	    .n_ports = 3, .loop = true};
	struct feed_frame frame;
	char path[256];

	make_many(&made, 500, 10, MAC_A);
	made_write(&made, path, sizeof(path));
	source.path = path;
	for (int preload = 0; preload < 2; preload++) {
		config.preload = preload;
		open_config(&config);
		for (size_t i = 0; i < 1600; i++) {
			ck_assert_uint_eq(feed_next_batch(feed, &frame, 1), 1);
			frame.octets = NULL;
			(preload ? &seen : &expected)->frames[i] = frame;
		}
	}
	unlink(path);
	/* Ports are assigned on with the stations known so far, so ports agree, too. */
	ck_assert_mem_eq(seen.frames, expected.frames, 1600 * sizeof(frame));
}
END_TEST

START_TEST(sources_can_be_moved)
{
	struct feed_source sources[] = {{.path = "a", .port = 0, .moved = true, .start_us = 50},
	    {.path = "b", .port = 1}, {.path = "c", .port = 2, .moved = true}};
	struct feed_config config = {.sources = sources, .n_sources = 3};
	static const unsigned order[] = {1, 2, 0, 0, 1, 2};
	static const uint64_t at[] = {0, 0, 50, 80, 500, 500};

	made_begin(&made, false, false, 1);
	made_frame(&made, 77, MAC_B, MAC_A, 60);
	made_frame(&made, 107, MAC_B, MAC_A, 60);
	made_begin(&other, false, false, 1);
	made_frame(&other, START, MAC_B, MAC_A, 60);
	made_frame(&other, START + 500, MAC_B, MAC_A, 60);
	sources[0].file = made_open(&made);
	sources[1].file = made_open(&other);
	sources[2].file = made_open(&other);
	open_config(&config);
	ck_assert_uint_eq(feed_first_us(feed), START);
	for (size_t i = 0; i < 6; i++) {
		struct feed_frame frame = next();

		ck_assert_uint_eq(frame.port, order[i]);
		ck_assert_uint_eq(frame.time_us, START + at[i]);
	}
	expect_end();
}
END_TEST

/* Alone and moved: the feed starts before its frames. */
START_TEST(a_moved_source_keeps_the_start)
{
	struct feed_source source = {.path = "a", .port = 0, .moved = true, .start_us = 1000};
	struct feed_config config = {.sources = &source, .n_sources = 1};

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	source.file = made_open(&made);
	open_config(&config);
	ck_assert_uint_eq(feed_first_us(feed), START);
	ck_assert_uint_eq(next().time_us, START + 1000);
	expect_end();
}
END_TEST

START_TEST(interfaces_can_be_dealt_or_chosen)
{
	struct feed_source source = {.path = "made.pcapng", .port = -1};
	struct feed_config config = {.sources = &source, .n_sources = 1, .ports = ports,
	    .n_ports = 3, .deal = FEED_DEAL_INTERFACE};
	static const uint8_t octets[60] = {2};

	made_begin_ng(&made, true);
	made_interface(&made, 1, 0, 9, "eth0");
	made_interface(&made, 105, 0, 6, "wlan0");
	made_interface(&made, 1, 0, 6, "eth1");
	made_packet(&made, 0, START * 1000 + 999, 60, 60, octets);
	made_packet(&made, 1, START, 60, 60, octets);
	made_packet(&made, 2, START, 60, 60, octets);
	source.file = made_open(&made);
	open_config(&config);
	ck_assert_uint_eq(next().time_us, START);
	ck_assert_uint_eq(next().port, 2);
	expect_end();
	ck_assert_uint_eq(stat_of(FEED_STAT_OTHER_LINKS), 1);
	source = (struct feed_source){
	    .path = "made.pcapng", .port = 7, .interface = "eth1", .file = made_open(&made)};
	open_config(&config);
	ck_assert_uint_eq(next().port, 7);
	expect_end();
}
END_TEST

static const struct feed_error line_errors[] = {
    {FEED_ERROR_CRC, 0, 10}, {FEED_ERROR_GIANT, 0, 50}, {FEED_ERROR_RUNT, 1, 20},
    {FEED_ERROR_ALIGNMENT, 1, 1}, {FEED_ERROR_FRAGMENT, 2, 30}, {FEED_ERROR_JABBER, 2, 30}};

static void
see_errors(struct seen *to, uint64_t seed, size_t batch)
{
	struct feed_source source = {.path = "a", .port = -1, .file = made_open(&made)};
	struct feed_config config = {.sources = &source, .n_sources = 1, .ports = ports,
	    .n_ports = 3, .errors = line_errors, .n_errors = 6, .error_seed = seed};

	open_config(&config);
	see_all(to, batch);
}

/* What the counters say is what the frames show, and about what was asked for. */
START_TEST(errors_are_exact_and_repeat)
{
	uint64_t shown[FEED_N_ERRORS] = {0}, frames[3] = {0};

	make_many(&made, 5000, 10, MAC_A);
	see_errors(&expected, 1, 256);
	for (size_t i = 0; i < expected.n; i++) {
		const struct feed_frame *f = &expected.frames[i];

		frames[f->port]++;
		shown[FEED_ERROR_CRC] += f->port == 0 && f->faults != 0;
		shown[FEED_ERROR_GIANT] += f->port == 0 && f->wire_octets > 1533;
		shown[FEED_ERROR_RUNT] += f->port == 1 && f->wire_octets < 64;
		shown[FEED_ERROR_ALIGNMENT] += f->port == 1 && f->faults != 0;
		shown[FEED_ERROR_FRAGMENT] += f->port == 2 && f->wire_octets < 64 && f->faults;
		shown[FEED_ERROR_JABBER] += f->port == 2 && f->wire_octets > 1533 && f->faults;
		ck_assert_uint_le(f->captured_octets, f->wire_octets);
	}
	for (int kind = 0; kind < FEED_N_ERRORS; kind++)
		ck_assert_uint_eq(
		    stat_of((enum feed_stat)(FEED_STAT_INJECTED + kind)), shown[kind]);
	ck_assert_uint_eq(shown[FEED_ERROR_RUNT] + shown[FEED_ERROR_ALIGNMENT], frames[1]);
	ck_assert_double_eq_tol((double)shown[FEED_ERROR_CRC], (double)frames[0] / 10, 40);
	ck_assert_double_eq_tol((double)shown[FEED_ERROR_GIANT], (double)frames[0] / 50, 20);
	see_errors(&seen, 1, 3);
	expect_same(&seen, &expected);
	see_errors(&seen, 2, 256);
	ck_assert_mem_ne(seen.frames, expected.frames, expected.n * sizeof(seen.frames[0]));
}
END_TEST

START_TEST(no_rate_is_no_configuration)
{
	struct feed_error none = {FEED_ERROR_CRC, 0, 0};
	struct feed_source source = {.path = "a", .port = 0, .file = made_open(&made)};
	struct feed_config config = {
	    .sources = &source, .n_sources = 1, .errors = &none, .n_errors = 1};

	ck_assert_int_eq(feed_create(&config, &feed, error, sizeof(error)), -EINVAL);
	ck_assert_str_ne(error, "");
	feed = NULL;
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("feed");
	TCase *all = tcase_create("feed");

	log_open("check_feed", false, LOG_LEVEL_ERROR);
	tcase_add_checked_fixture(all, NULL, tear_down);
	tcase_add_loop_test(all, every_byte_order_and_time_unit, 0, 4);
	tcase_add_test(all, short_frames_are_padded_and_runts_are_not);
	tcase_add_test(all, lying_lengths_and_cut_headers_are_left_out);
	tcase_add_test(all, a_cut_file_keeps_its_good_frames);
	tcase_add_test(all, a_record_that_claims_too_much_ends_the_file);
	tcase_add_test(all, an_empty_capture_has_no_frames);
	tcase_add_loop_test(all, other_link_types_are_refused_by_name, 0, LINK_CASES);
	tcase_add_test(all, what_is_no_capture_is_refused_with_its_name);
	tcase_add_test(all, stations_stay_at_the_port_they_were_dealt_to);
	tcase_add_test(all, nobodys_addresses_are_dealt_by_hash);
	tcase_add_test(all, dealing_is_bounded);
	tcase_add_test(all, a_loop_goes_on_behind_its_end);
	tcase_add_test(all, an_empty_loop_ends);
	tcase_add_test(all, several_captures_come_in_the_order_of_their_times);
	tcase_add_test(all, a_failing_source_fails_all);
	tcase_add_test(all, batches_of_any_size_are_the_same);
	tcase_add_test(all, a_loop_from_memory_is_the_loop_from_the_file);
	tcase_add_test(all, sources_can_be_moved);
	tcase_add_test(all, a_moved_source_keeps_the_start);
	tcase_add_test(all, interfaces_can_be_dealt_or_chosen);
	tcase_add_test(all, errors_are_exact_and_repeat);
	tcase_add_test(all, no_rate_is_no_configuration);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
