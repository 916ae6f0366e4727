/*
 * Captures with a ground truth (EASE_CAPTURES) through the emulated switch: every counter that the
 * truth knows, of the composed one on every board of the project, of each other one on one of them, or with
 * EASE_LONG on all; and the odd files, each handled or refused.
 */
#include "common/log.h"
#include "tests/support/captures.h"
#include "tests/agent/sim/emulated_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
truth(const json_t *root, const char *group, const char *name, const char *field)
{
	const json_t *value = json_object_get(json_object_get(root, group), name);

	if (field)
		value = json_object_get(value, field);
	ck_assert_msg(json_is_integer(value), "no %s.%s in the truth", group, name);
	return (uint64_t)json_integer_value(value);
}

static void
compare(const char *name, const char *what, uint64_t counted, uint64_t true_value)
{
	ck_assert_msg(counted == true_value, "%s: %s is %llu, not %llu", name, what,
	    (unsigned long long)counted, (unsigned long long)true_value);
}

static void
compare_with_truth(const char *name, const json_t *root)
{
	static const struct {
		const char *bucket;
		enum hal_figure figure;
	} buckets[] = {
	    {"64", HAL_RMON_64},
	    {"65_127", HAL_RMON_65_127},
	    {"128_255", HAL_RMON_128_255},
	    {"256_511", HAL_RMON_256_511},
	    {"512_1023", HAL_RMON_512_1023},
	    {"1024_1518", HAL_RMON_1024_MAX},
	    {"over_1518", HAL_RMON_OVERSIZE},
	    {"below_64", HAL_RMON_UNDERSIZE},
	};

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++)
		compare(name, buckets[i].bucket, rig_sum(buckets[i].figure),
		    truth(root, "size_buckets_short_frames_padded", buckets[i].bucket, NULL));
	compare(name, "packets", rig_sum(HAL_RMON_PKTS), truth(root, "totals", "packets", NULL));
	compare(name, "octets", rig_sum(HAL_RMON_OCTETS),
	    truth(root, "totals", "octets_padded_to_60_plus_fcs", NULL));
	compare(name, "broadcast", rig_sum(HAL_RMON_BCAST_PKTS),
	    truth(root, "destination_kind", "broadcast", "packets"));
	compare(name, "multicast", rig_sum(HAL_RMON_MCAST_PKTS),
	    truth(root, "destination_kind", "multicast", "packets"));
	compare(name, "good", rig_sum(HAL_POOL_IN_PKTS) + rig_sum(HAL_RMON_OVERSIZE),
	    rig_sum(HAL_RMON_PKTS));
}

/* A broadcast leaves by every port but its own, however many chips the board has. */
static void
compare_floods(const char *name)
{
	uint64_t in = rig_sum(HAL_IN_BCAST_PKTS);

	for (uint32_t port = 1; port <= rig_n_ports(); port++)
		compare(name, "broadcasts out", rig_figure(port, HAL_OUT_BCAST_PKTS),
		    in - rig_figure(port, HAL_IN_BCAST_PKTS));
}

static void
run_capture(const char *directory, const char *name, const char *board)
{
	char path[1024], truth_path[1024];
	json_error_t json_error;
	json_t *root;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(truth_path, sizeof(truth_path), "%s/%.*s.truth.json", directory,
	    (int)(strrchr(name, '.') - name), name);
	root = json_load_file(truth_path, 0, &json_error);
	ck_assert_msg(root != NULL, "%s: %s", truth_path, json_error.text);
	rig_open(board, path, EMULATED_PACE_LOCK_STEP);
	rig_sample_all(1000);
	rig_run_to_end();
	compare_with_truth(name, root);
	compare_floods(name);
	rig_close();
	json_decref(root);
}

static bool
is_capture(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".pcap") == 0 || strcmp(dot, ".pcapng") == 0);
}

static const char *const boards[] = {"gt48002a-2port", "gt48001a-8port", "eee-8port",
    "gigabit-9port", "stack-26port", "full-26port", "stack-64port"};
enum { BOARDS = sizeof(boards) / sizeof(boards[0]) };

/* The others have one each. */
static bool
is_for_all_boards(const char *name)
{
	return getenv("EASE_LONG") || strcmp(name, "composed-a.pcap") == 0;
}

START_TEST(captures_give_exactly_the_truth)
{
	const char *board = boards[_i];
	DIR *directory = opendir(captures_dir());
	struct dirent *entry;
	unsigned n = 0;

	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory))) {
		if (!is_capture(entry->d_name))
			continue;
		if (n++ % BOARDS == (unsigned)_i || is_for_all_boards(entry->d_name))
			run_capture(captures_dir(), entry->d_name, board);
	}
	closedir(directory);
	ck_assert_uint_gt(n, 30);
}
END_TEST

/* Those that hold Ethernet run to their end with every good frame; the others are refused. */
START_TEST(odd_captures_are_handled_or_refused)
{
	static const struct {
		const char *name, *reason;
		uint64_t packets, damaged, lying;
	} odd[] = {
	    {"corrupt-record-tls_DER-incomplete-header.pcap", NULL, 6, 1, 0},
	    {"cut-off-file-http-fault-post.pcap", NULL, 25, 1, 0},
	    {"empty-empty.pcap", NULL, 0, 0, 0},
	    {"lying-lengths-hoobr_lookup_nsap.pcap", NULL, 0, 0, 9},
	    {"nanosecond-telegram_videocall.pcap", NULL, 889, 0, 0},
	    {"several-interfaces-rtp.pcapng", NULL, 112, 0, 0},
	    {"linux-cooked-KakaoTalk_chat.pcap", "link type 113", 0, 0, 0},
	    {"ppp-hdlc-null-tls-duplicate-hello.pcap", "link type 0", 0, 0, 0},
	    {"raw-ip-bets.pcapng", "link type 101", 0, 0, 0},
	    {"wlan-SuccessfulWEPAuth.pcap", "link type 105", 0, 0, 0},
	    {"mixed-link-types.pcapng", NULL, 500, 0, 0},
	};
	struct emulated_config config = {.board_file = rig_board_file("gt48001a-8port"),
	    .capture = rig.error, .pace = EMULATED_PACE_LOCK_STEP};
	char path[1024];

	snprintf(path, sizeof(path), "%s/odd/%s", captures_dir(), odd[_i].name);
	config.capture = path;
	memset(&rig.hal, 0, sizeof(rig.hal));
	if (odd[_i].reason) {
		ck_assert_int_lt(
		    emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), 0);
		ck_assert_msg(strstr(rig.error, odd[_i].name) && strstr(rig.error, odd[_i].reason),
		    "%s", rig.error);
		rig.device = NULL;
		return;
	}
	ck_assert_msg(emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)) == 0,
	    "%s", rig.error);
	rig_sample_all(1);
	rig_run_to_end();
	ck_assert_uint_eq(rig_sum(HAL_RMON_PKTS), odd[_i].packets);
	ck_assert_uint_eq(rig_stat("feed.damaged"), odd[_i].damaged);
	ck_assert_uint_eq(rig_stat("feed.lying_lengths"), odd[_i].lying);
}
END_TEST
enum { ODD = 11 };

int
main(void)
{
	Suite *suite;
	TCase *real;

	if (!captures_dir()) {
		captures_skip("captures through the emulated switch");
		return 0;
	}
	suite = suite_create("board truth");
	real = tcase_create("captures");
	log_open("check_board_truth", false, LOG_LEVEL_ERROR);
	tcase_add_checked_fixture(real, NULL, rig_close);
	tcase_set_timeout(real, 300);
	tcase_add_loop_test(real, captures_give_exactly_the_truth, 0, BOARDS);
	tcase_add_loop_test(real, odd_captures_are_handled_or_refused, 0, ODD);
	suite_add_tcase(suite, real);
	return suite_run(suite);
}
