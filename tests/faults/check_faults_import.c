/*
 * Importing a capture with each thing that it asks of the system failing once, and from there on
 * (faults.h): memory, descriptors, disk, threads, and libpcap's reading of the file. It says that
 * all is in the store, and then it is; or that something failed, and how far it came. Imported
 * again without a fault, the store has what it would have had at once.
 */
#include "collector/collector.h"
#include "common/log.h"
#include "tests/faults/faults.h"
#include "tests/faults/faults_private.h"
#include "tests/collector/port_life.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <dirent.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RUNS = 6, /* faults of one kind */
	ERROR_TEXT = 512,
	MESSAGES = 20,
	IP_UDP = 28,
	FIGURES = 1024,
};

static char dir[64], conf[96], db[96], capture[96];

/* ---- libpcap, as it is called ---- */

pcap_t *__real_pcap_open_offline(const char *path, char *why);
pcap_t *__wrap_pcap_open_offline(const char *path, char *why);
pcap_t *
__wrap_pcap_open_offline(const char *path, char *why)
{
	if (faults_hit(FAULT_OPENING, "pcap_open_offline")) {
		snprintf(why, PCAP_ERRBUF_SIZE, "%s: Too many open files", path);
		return NULL;
	}
	return __real_pcap_open_offline(path, why);
}

int __real_pcap_next_ex(pcap_t *pcap, struct pcap_pkthdr **h, const u_char **octets);
int __wrap_pcap_next_ex(pcap_t *pcap, struct pcap_pkthdr **h, const u_char **octets);
int
__wrap_pcap_next_ex(pcap_t *pcap, struct pcap_pkthdr **h, const u_char **octets)
{
	if (faults_hit(FAULT_READING, "pcap_next_ex"))
		return PCAP_ERROR;
	return __real_pcap_next_ex(pcap, h, octets);
}

/* ---- what is imported ---- */

/* IPv4 without a link header, 5 s apart: a batch for the store every other one. */
static void
write_capture(void)
{
	static uint8_t packet[IP_UDP + PORT_LIFE_OCTETS] = {0x45, [8] = 64, [9] = 17, [12] = 127, [15] = 1,
	    [16] = 127, [19] = 1, [20] = 0x9c, [21] = 0x40, [23] = 162};
	pcap_t *pcap = pcap_open_dead(DLT_RAW, sizeof(packet));
	pcap_dumper_t *out = pcap_dump_open(pcap, capture);

	ck_assert_ptr_nonnull(out);
	for (unsigned i = 0; i < MESSAGES; i++) {
		size_t n = port_life_message(i, packet + IP_UDP), all = n + IP_UDP, udp = all - 20;
		struct pcap_pkthdr h = {.caplen = (bpf_u_int32)all, .len = (bpf_u_int32)all};

		h.ts.tv_sec = (time_t)(PORT_LIFE_US / 1000000 + 5 * i);
		packet[2] = (uint8_t)(all >> 8);
		packet[3] = (uint8_t)all;
		packet[24] = (uint8_t)(udp >> 8);
		packet[25] = (uint8_t)udp;
		pcap_dump((u_char *)out, &h, packet);
	}
	pcap_dump_close(out);
	pcap_close(pcap);
}

static void
set_up(void)
{
	FILE *file;

	log_set_most(LOG_LEVEL_ERROR);
	faults_install();
	strcpy(dir, "/tmp/ease-faults-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(conf, sizeof(conf), "%s/conf", dir);
	snprintf(capture, sizeof(capture), "%s/capture", dir);
	snprintf(db, sizeof(db), "%s/ease.db", dir);
	file = fopen(conf, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "communities = {\"public\"}\nsenders = {\"127.0.0.1\"}\nhttp_listen = \"\"\n"
		      "memory = 128\nstore = \"%s\"\n", db);
	ck_assert_int_eq(fclose(file), 0);
	write_capture();
}

/* All of the last store; or the rest, too. */
static void
empty(bool all)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.' && (all || strncmp(entry->d_name, "ease", 4) == 0))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static void
tear_down(void)
{
	empty(true);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* ---- importing ---- */

/* What the store says of the capture, however often it was imported. */
static void
describe(char figures[FIGURES])
{
	static const char *const asked[] = {
	    "SELECT sum(received) FROM account", "SELECT sum(expected) FROM account",
	    "SELECT sum(n) FROM window", "SELECT sum(w) FROM window",
	    "SELECT sum(pool_pkts) FROM window", "SELECT count(*) FROM window",
	    "SELECT sum(n) FROM window_key", "SELECT sum(w * w2 + wb) FROM window_key",
	    "SELECT count(*) FROM sample", "SELECT sum(sequence * frame_octets) FROM sample",
	    "SELECT count(*) FROM counter", "SELECT sum(in_octets) FROM counter",
	    "SELECT count(*) FROM event", "SELECT count(*) FROM port",
	    "SELECT min(since_us) FROM port", "SELECT count(*) FROM agent",
	    "SELECT max(last_us) FROM agent",
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		at += (size_t)snprintf(figures + at, FIGURES - at, "%s: %.17g\n", asked[i],
		    sql_number(db, asked[i]));
	ck_assert_uint_lt(at, FIGURES);
}

static int
import(void)
{
	struct clock clock = {.manual = true, .manual_wall_us = PORT_LIFE_US + 3600000000};
	const struct collector_arguments options = {.no_sockets = true};
	struct collector_config config = {0};
	char error[ERROR_TEXT] = "";
	struct import_counts counts = {0};
	struct collector *c = NULL;
	uint64_t other;
	int rc = collector_config_load(conf, &config, error, sizeof(error));

	if (rc == 0)
		rc = collector_open(&c, &config, &options, &clock, error, sizeof(error));
	if (rc == 0)
		rc = collector_import(c, &clock, capture, &counts, &other, error, sizeof(error));
	faults_assert((rc < 0) == (error[0] != '\0'), "%d after %s failed: %s", rc, faults_last(),
	    error);
	faults_assert(rc < 0 || counts.datagrams == MESSAGES, "%s failed, %d datagrams",
	    faults_last(), (int)counts.datagrams);
	collector_close(c);
	collector_config_free(&config);
	return rc;
}

static void
expect(const char *right, const char *when)
{
	char figures[FIGURES];

	describe(figures);
	ck_assert_msg(strcmp(figures, right) == 0, "%s failed, and %s the store has\n%snot\n%s",
	    faults_last(), when, figures, right);
}

static int
import_twice(void *arg)
{
	bool planned = faults_planned();
	char *right = arg;
	int rc;

	faults_spare(true);
	empty(false);
	faults_spare(false);
	rc = import();
	faults_stop();
	if (!*right)
		describe(right);
	if (rc == 0)
		expect(right, "at once");
	if (!planned)
		return rc;
	ck_assert_int_eq(import(), 0);
	expect(right, "imported again");
	return rc;
}

static const struct {
	const char *name;
	unsigned classes;
} kinds[] = {
    {"import, memory", FAULT_BIT(FAULT_MEMORY)},
    {"import, all but memory", FAULT_ALL & ~FAULT_BIT(FAULT_MEMORY)},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

START_TEST(an_import_is_whole_or_says_so)
{
	char right[FIGURES] = "";

	faults_exhaust(kinds[_i].name, kinds[_i].classes, RUNS, import_twice, right);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_import");
	TCase *all = tcase_create("all");

	suite_keep_memory();
	tcase_set_timeout(all, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, an_import_is_whole_or_says_so, 0, KINDS);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
