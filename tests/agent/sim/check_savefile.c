/*
 * The reader of capture files beside libpcap: record by record the same, on real captures, on made
 * ones in every format, cut at every octet and garbled; and what libpcap does not do: interfaces.
 */
#include "agent/sim/file_mapping.h"
#include "agent/sim/savefile.h"
#include "common/log.h"
#include "tests/suite.h"
#include "tests/support/captures.h"
#include "tests/support/make_capture.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START 1700000000000000ull
enum { N_FORMATS = 6, BATCH = 7 };

static struct made_capture made;
static bool mapped; /* made captures are files, which are mapped, not streams in memory */
static uint8_t octets[300000];
static char error[512];
static bool garbled; /* times of a pcapng may differ: libpcap's overflow at fine resolutions */

/* --- what libpcap reads --- */

static bool
is_time(const struct timeval *ts)
{
	return ts->tv_usec >= 0 && ts->tv_usec <= 999999 && ts->tv_sec >= 0 &&
	    ts->tv_sec <= 253402300799ll;
}

/* A pcap's seconds have 32 bits; libpcap reads them as signed. */
static uint64_t
time_of(struct timeval ts, bool is_pcapng)
{
	if (!is_pcapng)
		ts.tv_sec = (uint32_t)ts.tv_sec;
	return is_time(&ts) ? (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_usec
			    : SAVEFILE_NO_TIME;
}

/* Ours goes on where libpcap refuses a second interface that differs. */
static bool
gave_up_on_interfaces(pcap_t *pcap)
{
	return strstr(pcap_geterr(pcap), "different from") != NULL;
}

/* A reader's records one by one, through batches that do not divide a block. */
struct reader {
	struct savefile *file;
	struct savefile_record records[BATCH];
	size_t next, n;
	enum savefile_state state;
};

static const struct savefile_record *
next_record(struct reader *r)
{
	while (r->next == r->n) {
		r->next = 0;
		r->n = savefile_read(r->file, r->records, BATCH);
		if (r->n > 0)
			break;
		r->state = savefile_fill(r->file);
		if (r->state != SAVEFILE_MORE)
			return NULL;
	}
	return &r->records[r->next++];
}

static void
compare_record(const char *name, size_t i, const struct savefile_record *ours,
    const struct pcap_pkthdr *header, const uint8_t *data, bool is_pcapng)
{
	ck_assert_msg(ours != NULL, "%s: record %zu is missing", name, i);
	ck_assert_msg(ours->captured_octets == header->caplen, "%s: record %zu: captured %u, %u",
	    name, i, ours->captured_octets, header->caplen);
	ck_assert_msg(ours->length_octets == header->len, "%s: record %zu: length %u, %u", name, i,
	    ours->length_octets, header->len);
	if (!is_pcapng || (!garbled && header->ts.tv_sec != 0))
		ck_assert_msg(ours->time_us == time_of(header->ts, is_pcapng),
		    "%s: record %zu: time", name, i);
	ck_assert_msg(memcmp(ours->octets, data, header->caplen) == 0, "%s: record %zu: octets",
	    name, i);
}

/* Both are open on the same file. */
static size_t
compare_records(const char *name, struct savefile *file, pcap_t *pcap, bool is_pcapng)
{
	struct reader reader = {.file = file, .state = SAVEFILE_MORE};
	struct pcap_pkthdr *header;
	const uint8_t *data;
	size_t n = 0;
	int rc;

	while ((rc = pcap_next_ex(pcap, &header, &data)) == 1)
		compare_record(name, n++, next_record(&reader), header, data, is_pcapng);
	if (rc == PCAP_ERROR && gave_up_on_interfaces(pcap))
		return n;
	ck_assert_msg(next_record(&reader) == NULL, "%s: a record more than %zu; libpcap: %s", name,
	    n, rc == PCAP_ERROR ? pcap_geterr(pcap) : "the end");
	ck_assert_msg((reader.state == SAVEFILE_DAMAGED) == (rc == PCAP_ERROR),
	    "%s: end: \"%s\", libpcap \"%s\"", name, savefile_damage(file), pcap_geterr(pcap));
	return n;
}

/* a and b are the same file, taken over. Returns the records compared. */
static size_t
compare(const char *name, FILE *a, FILE *b, bool is_pcapng)
{
	char reason[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_fopen_offline(b, reason);
	struct savefile *file = NULL;
	size_t n = 0;

	savefile_open(name, a, NULL, &file, error, sizeof(error));
	if (!pcap)
		fclose(b);
	if (pcap && !file && strstr(error, "two lengths differ")) {
		/* libpcap does not look at the second length of the first section's header */
	} else if (pcap && pcap_datalink(pcap) == DLT_EN10MB) {
		ck_assert_msg(file != NULL, "%s: refused: %s", name, error);
		n = compare_records(name, file, pcap, is_pcapng);
	} else if (!pcap && !strstr(reason, "reserved field not zero")) { /* which libpcap looks at from 1.10.5 on */
		ck_assert_msg(!file, "%s: libpcap refuses: %s", name, reason);
		ck_assert(error[0] != '\0');
	}
	savefile_close(file);
	if (pcap)
		pcap_close(pcap);
	return n;
}

static FILE *
open_octets(void)
{
	FILE *file = mapped ? tmpfile() : made_open(&made);

	ck_assert_ptr_nonnull(file);
	if (mapped) {
		ck_assert_uint_eq(fwrite(made.octets, 1, made.n, file), made.n);
		rewind(file);
	}
	return file;
}

static size_t
compare_made(const char *name, bool is_pcapng)
{
	return made.n == 0 ? 0 : compare(name, open_octets(), open_octets(), is_pcapng);
}

/* --- made captures --- */

static void
fill_octets(void)
{
	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = (uint8_t)(i * 7 + i / 251);
}

/* Formats 0 to 3: pcap, big-endian and nanoseconds by bit; 4 and 5: pcapng. Returns whether it
 * is a pcapng. */
static bool
make_format(int format)
{
	static const uint32_t lengths[] = {60, 1514, 14, 0, 61, 9000, 62, 63};

	if (format >= 4) {
		made_begin_ng(&made, format & 1);
		made_interface(&made, 1, 65535, 6, "eth0");
		made_interface(&made, 1, 65535, 9, "eth1");
		made_interface(&made, 1, 65535, 0x80 + 20, "a name of three octets more");
		made_block(&made, 5, octets, 13);
	} else {
		made_begin(&made, format & 1, format & 2, 1);
	}
	for (uint32_t i = 0; i < 8; i++) {
		if (format < 4)
			made_record(&made, START + i, lengths[i], lengths[i] + i % 3, octets);
		else
			made_packet(&made, i % 3, (START + i) << i, lengths[i], lengths[i] + i % 3,
			    octets);
	}
	return format >= 4;
}

START_TEST(every_format_reads_like_libpcap)
{
	bool is_pcapng = make_format(_i);

	ck_assert_uint_eq(compare_made("made", is_pcapng), 8);
}
END_TEST

START_TEST(a_file_cut_anywhere_ends_like_libpcap)
{
	bool is_pcapng = make_format(_i);

	for (size_t whole = made.n; made.n > 0; made.n--)
		if (made.n == whole || made.n % (mapped ? 101 : 3) == 0 || made.n < 400)
			compare_made("cut", is_pcapng);
}
END_TEST

/* Seeded: a failure repeats. Garbage is put where headers are, at most three octets of it. */
START_TEST(a_garbled_file_reads_like_libpcap)
{
	static struct made_capture good;
	bool is_pcapng = make_format(_i);
	unsigned seed = (unsigned)_i;

	good = made;
	garbled = true;
	for (int round = 0; round < (mapped ? 300 : 3000); round++) {
		char name[32];

		snprintf(name, sizeof(name), "garbled %d", round);
		memcpy(made.octets, good.octets, good.n);
		for (int k = rand_r(&seed) % 3; k >= 0; k--) {
			size_t at = (size_t)rand_r(&seed) % (round % 2 ? good.n : 300);

			made.octets[at] = (uint8_t)(rand_r(&seed) % 4 ? rand_r(&seed) : 0);
		}
		compare_made(name, is_pcapng);
	}
}
END_TEST

START_TEST(records_longer_than_a_block_of_the_file)
{
	made_begin(&made, false, false, 1);
	made.octets[16] = made.octets[17] = made.octets[18] = 0; /* snap length: the largest */
	for (uint32_t i = 0; i < 8; i++)
		made_record(&made, START, i % 2 ? 100 : 262144 - i, 262144, octets);
	ck_assert_uint_eq(compare_made("long", false), 8);
	made_record(&made, START, 262145, 262145, octets);
	ck_assert_uint_eq(compare_made("too long", false), 8);
}
END_TEST

START_TEST(lengths_of_old_versions_are_settled)
{
	made_begin(&made, false, false, 1);
	made.octets[6] = (uint8_t)_i;
	made_record(&made, START, 60, 60, octets);
	made_record(&made, START, _i < 3 ? 100 : 60, _i < 3 ? 60 : 100, octets);
	made.n -= _i < 3 ? 40 : 0;
	ck_assert_uint_eq(compare_made("old", false), 2);
}
END_TEST

/* --- what libpcap does not do --- */

static struct savefile *
open_made(const char *interface, int expected)
{
	struct savefile *file = NULL;

	ck_assert_int_eq(savefile_open("made", open_octets(), interface, &file, error,
			     sizeof(error)), expected);
	return file;
}

static size_t
count_records(struct savefile *file, uint32_t interface)
{
	struct reader reader = {.file = file};
	const struct savefile_record *record;
	size_t n = 0;

	while ((record = next_record(&reader)) != NULL) {
		ck_assert_uint_eq(record->interface, interface);
		n++;
	}
	ck_assert_int_eq(reader.state, SAVEFILE_END);
	return n;
}

static void
make_interfaces(bool big_endian)
{
	made_begin_ng(&made, big_endian);
	made_interface(&made, 113, 100, 6, "any");
	made_interface(&made, 1, 65535, 6, "eth0");
	made_interface(&made, 1, 200, 9, "eth1");
	for (uint32_t i = 0; i < 12; i++)
		made_packet(&made, i % 4 < 3 ? i % 4 : 2, START, 80, 80, octets);
}

START_TEST(one_interface_by_number_or_name)
{
	struct savefile *file;

	make_interfaces(_i);
	file = open_made("eth1", 0);
	ck_assert_uint_eq(count_records(file, 2), 6);
	ck_assert_uint_eq(savefile_other_links(file), 3);
	ck_assert_int_eq(savefile_rewind(file), 0);
	ck_assert_uint_eq(count_records(file, 2), 6);
	savefile_close(file);
	file = open_made("1", 0);
	ck_assert_uint_eq(count_records(file, 1), 3);
	savefile_close(file);
	open_made("eth2", -ENOENT);
	ck_assert_str_eq(error, "made: it has no Ethernet interface \"eth2\"");
	open_made("any", -ENOENT);
}
END_TEST

/* A file of several sections, as by concatenation, each in its own byte order. */
START_TEST(sections_have_their_own_order_and_interfaces)
{
	static struct made_capture first;
	struct savefile *file;

	make_interfaces(true);
	first = made;
	make_interfaces(false);
	memcpy(first.octets + first.n, made.octets, made.n);
	made = first;
	made.n *= 2;
	file = open_made("eth0", 0);
	ck_assert_uint_eq(count_records(file, 1), 6);
	savefile_close(file);
}
END_TEST

/* Blocks of no interest may be larger than the buffer; those of packets may not. */
START_TEST(large_blocks_are_passed_over)
{
	static uint8_t large[1 << 20];
	struct savefile *file;

	for (unsigned by = 0; by < 8; by++) {
		made_begin_ng(&made, false);
		made_interface(&made, 1, 0, 6, "eth0");
		made_packet(&made, 0, START, 60, 60, octets);
		made_block(&made, 0x40000bad, large, sizeof(large) - 4 * by * 4099);
		made_packet(&made, 0, START, 60, 60, octets);
		made_block(&made, 0x40000bad, large, sizeof(large));
		file = open_made(NULL, 0);
		ck_assert_uint_eq(count_records(file, 0), 2);
		savefile_close(file);
	}
	made_block(&made, 6, large, sizeof(large));
	file = open_made(NULL, 0);
	ck_assert_int_eq(savefile_fill(file), SAVEFILE_MORE);
	savefile_close(file);
}
END_TEST

/* --- files that are mapped --- */

static void
read_streams(void)
{
	mapped = false;
}

static void
map_files(void)
{
	mapped = true;
}

/* Records of many lengths up to about that many octets of file. */
static void
make_large(size_t file_octets)
{
	made_begin(&made, false, false, 1);
	for (uint32_t i = 0; made.n < file_octets; i++)
		made_record(&made, START + i, 60 + i * 7 % 1455, 60 + i * 7 % 1455, octets + i % 64);
}

START_TEST(a_file_of_many_windows_reads_like_libpcap)
{
	make_large(MADE_CAPTURE_MAX - 65536);
	ck_assert_uint_gt(compare_made("large", false), 4000);
}
END_TEST

/* Whole records before the new end are given, and none behind it but those of the batch that the
 * reader has; nobody is killed. */
START_TEST(a_file_that_shrinks_ends_there)
{
	enum { FILE_OCTETS = MADE_CAPTURE_MAX - 65536, BEFORE = 100 };
	/* To nothing; inside the window, at a page and not; in the next one; hardly. */
	static const size_t sizes[] = {0, 200001, 49 * 4096, 2000000, FILE_OCTETS};
	struct reader reader = {.state = SAVEFILE_MORE};
	const struct savefile_record *r;
	size_t size = sizes[_i], end = 24;
	uint32_t n = 0, n_in_batch = UINT32_MAX;
	FILE *file;

	make_large(FILE_OCTETS);
	file = open_octets();
	ck_assert_int_eq(savefile_open("made", file, NULL, &reader.file, error, sizeof(error)), 0);
	while ((r = next_record(&reader))) {
		ck_assert_uint_eq(r->time_us, START + n);
		ck_assert_uint_eq(r->captured_octets, 60 + n * 7 % 1455);
		end += 16 + r->captured_octets;
		ck_assert(end <= size || n < n_in_batch);
		if (end <= size)
			ck_assert_mem_eq(r->octets, octets + n % 64, r->captured_octets);
		if (++n == BEFORE) {
			n_in_batch = n + (uint32_t)(reader.n - reader.next);
			ck_assert_int_eq(ftruncate(fileno(file), (off_t)size), 0);
		}
	}
	if (size < FILE_OCTETS)
		ck_assert_int_eq(reader.state, SAVEFILE_DAMAGED);
	ck_assert_uint_ge(n, BEFORE);
	ck_assert_uint_ge(end + 1600, size);
	savefile_close(reader.file);
}
END_TEST

/* More files than can be mapped at a time: the rest is read. */
START_TEST(any_number_of_files_can_be_open)
{
	static struct savefile *files[FILE_MAPPING_MAX + 10];

	make_format(0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		files[i] = open_made(NULL, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ck_assert_uint_eq(count_records(files[i], 0), 8);
		savefile_close(files[i]);
	}
}
END_TEST

/* --- real captures --- */

static void
compare_directory(const char *directory, unsigned at_least)
{
	DIR *files = opendir(directory);
	struct dirent *entry;
	unsigned n = 0;

	ck_assert_ptr_nonnull(files);
	while ((entry = readdir(files))) {
		char path[1024];
		FILE *file;

		if (!strstr(entry->d_name, ".pcap"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		file = fopen(path, "rb");
		compare(path, file, fopen(path, "rb"), strstr(path, ".pcapng") != NULL);
		n++;
	}
	closedir(files);
	ck_assert_uint_ge(n, at_least);
}

START_TEST(real_captures_read_like_libpcap)
{
	compare_directory(captures_dir(), 30);
}
END_TEST

START_TEST(odd_captures_read_like_libpcap)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/odd", captures_dir());
	compare_directory(path, 11);
}
END_TEST

static void
add_made(TCase *all)
{
	tcase_set_timeout(all, 300);
	tcase_add_loop_test(all, every_format_reads_like_libpcap, 0, N_FORMATS);
	tcase_add_loop_test(all, a_file_cut_anywhere_ends_like_libpcap, 0, N_FORMATS);
	tcase_add_loop_test(all, a_garbled_file_reads_like_libpcap, 0, N_FORMATS);
	tcase_add_test(all, records_longer_than_a_block_of_the_file);
	tcase_add_loop_test(all, lengths_of_old_versions_are_settled, 2, 5);
	tcase_add_loop_test(all, one_interface_by_number_or_name, 0, 2);
	tcase_add_test(all, sections_have_their_own_order_and_interfaces);
	tcase_add_test(all, large_blocks_are_passed_over);
}

int
main(void)
{
	Suite *suite = suite_create("savefile");
	TCase *streams = tcase_create("streams"), *files = tcase_create("files");

	log_open("check_savefile", false, LOG_LEVEL_ERROR);
	fill_octets();
	tcase_add_checked_fixture(streams, read_streams, NULL);
	tcase_add_checked_fixture(files, map_files, NULL);
	add_made(streams);
	add_made(files);
	tcase_add_test(files, a_file_of_many_windows_reads_like_libpcap);
	tcase_add_loop_test(files, a_file_that_shrinks_ends_there, 0, 5);
	tcase_add_test(files, any_number_of_files_can_be_open);
	if (captures_dir()) {
		tcase_add_test(files, real_captures_read_like_libpcap);
		tcase_add_test(files, odd_captures_read_like_libpcap);
	} else {
		captures_skip("real captures beside libpcap");
	}
	suite_add_tcase(suite, streams);
	suite_add_tcase(suite, files);
	return suite_run(suite);
}
