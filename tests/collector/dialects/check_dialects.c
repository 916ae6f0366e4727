/*
 * sFlow of the field (dialects.c): each row's datagrams go through the collector and the reports, and the figures, the
 * losses, the agents and the ports must be those of the traffic that was sampled, whatever is odd about its make.
 *
 * check_dialects --write FILE writes a capture of all rows instead, for other programs to read, and prints for each row
 * the UDP port that its datagrams come from, how many flow samples of the hosts are in them, and its name.
 */
#include "tests/collector/dialects/capture.h"
#include "tests/collector/dialects/heard.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	WRONG_TEXT = 2048,
	PATH_TEXT = 64,
	SQL_TEXT = 128,
	SECONDS_A_ROW = 60,
	SLOW_ROWS = 8, /* under valgrind one row in so many */
	FIRST_PORT = 20000,
	SAMPLES_A_DATAGRAM = 4,
};

/* A total may be so far off; where nothing is counted, 3,000 samples have a standard error of 2 %. */
#define TOTAL_OFF 0.06
/* Limits hold 95 times in 100, and of so many rows some would miss by chance: half as wide again is three standard
 * errors. */
#define STRETCH 1.5
/* Limits that hold anything hold nothing: from the lower to the upper one. */
#define WIDEST 0.5
/* What is at stake at the end of a row: samples of the last datagrams, whose loss nothing has shown yet. */
#define LOSS_OFF 8

static struct heard heard;
static char wrong[WRONG_TEXT];

static void __attribute__((format(printf, 1, 2)))
object_to(const char *format, ...)
{
	size_t n = strlen(wrong);
	va_list args;

	n += (size_t)snprintf(wrong + n, sizeof(wrong) - n, "%s", n > 0 ? "; " : "");
	va_start(args, format);
	if (n < sizeof(wrong))
		vsnprintf(wrong + n, sizeof(wrong) - n, format, args);
	va_end(args);
}

static uint32_t
or_1(uint32_t n)
{
	return n ? n : 1;
}

/* ---- figures ---- */

static double
true_octets(const struct dialect *d)
{
	double octets = d->traffic.sent_part < 1 ? heard.passed.received_octets : heard.passed.sent_octets;

	return octets * (d->truth.total > 0 ? d->truth.total : 1);
}

/* Totals are of the time that data covers. */
static double
covered(const json_t *report)
{
	return heard_number(report, "seconds") / heard.passed.seconds;
}

static void
check_total(const struct dialect *d)
{
	double is = heard_number(heard.talkers, "totals.octets") * 8 / heard_number(heard.talkers, "seconds");
	double truth = true_octets(d) * 8 / heard.passed.seconds;

	if (!(fabs(is / truth - 1) <= TOTAL_OFF))
		object_to("total %.4g b/s of %.4g", is, truth);
}

static int
find_host(const char *address)
{
	char path[PATH_TEXT];

	for (size_t i = 0; i < heard_rows(heard.talkers); i++) {
		snprintf(path, sizeof(path), "rows.%zu.src", i);
		if (strcmp(heard_text(heard.talkers, path), address) == 0)
			return (int)i;
	}
	return -1;
}

static double
octets_of(int row, const char *what)
{
	char path[PATH_TEXT];

	snprintf(path, sizeof(path), "rows.%d.octets.%s", row, what);
	return heard_number(heard.talkers, path);
}

static void
check_host(const struct dialect *d, const char *address, double part)
{
	int row = find_host(address);
	double named = d->truth.hosts > 0 ? d->truth.hosts : 1;
	double truth = true_octets(d) * part * named * covered(heard.talkers);
	double is, low, high;

	if (row < 0) {
		object_to("no %s", address);
		return;
	}
	is = octets_of(row, "estimate");
	low = octets_of(row, "low");
	high = octets_of(row, "high");
	if (!(is - STRETCH * (is - low) <= truth && truth <= is + STRETCH * (high - is)))
		object_to("%s %.4g (%.4g .. %.4g) octets of %.4g", address, is, low, high, truth);
	else if (!((high - low) / truth <= WIDEST))
		object_to("%s within %.4g .. %.4g octets says nothing", address, low, high);
}

/* ---- losses ---- */

static double
sum_of(const json_t *report, const char *column)
{
	char path[PATH_TEXT];
	double sum = 0;

	for (size_t i = 0; i < heard_rows(report); i++) {
		snprintf(path, sizeof(path), "rows.%zu.%s", i, column);
		sum += heard_number(report, path);
	}
	return sum;
}

static void
check_used(const struct dialect *d)
{
	static const char *const refusals[] = {"sflow.refused_sample",
	    "sflow.refused_datagram", "sflow.foreign_source", "sflow.no_rate", "accounting.foreign_source"};
	double refused = heard_stats(&heard, sizeof(refusals) / sizeof(refusals[0]), refusals);
	double used = sum_of(heard.loss, "received"), given = (double)heard.passed.flows;

	if (!(used >= given - d->truth.unused && used <= given))
		object_to("%.0f samples used of %.0f", used, given);
	if (refused > d->truth.unused)
		object_to("%.0f refused", refused);
}

static void
check_place(const char *place, double truth)
{
	double is = heard_place(&heard, place);

	if (!(fabs(is - truth) <= (truth > 0 ? LOSS_OFF : 0)))
		object_to("%s: %.0f of %.0f", place, is, truth);
}

static void
check_losses(const struct dialect *d)
{
	check_place("network", (double)heard.passed.lost);
	check_place("agent", 0);
	if (fabs(sum_of(heard.loss, "dropped_apart") - d->truth.dropped) > (d->truth.dropped > 0 ? LOSS_OFF : 0))
		object_to("dropped by its word: %.0f of %u", sum_of(heard.loss, "dropped_apart"), d->truth.dropped);
	check_place("collector", 0);
	if (d->truth.before != DIALECT_ANY)
		check_place("before the collector", d->truth.before);
}

/* ---- agents and ports ---- */

static void
check_rows(const struct dialect *d)
{
	uint32_t agents = d->truth.agents ? d->truth.agents : or_1(d->traffic.switches);
	uint32_t ports = d->truth.ports ? d->truth.ports : or_1(d->traffic.switches) * or_1(d->traffic.ports);

	if (agents != DIALECT_ANY && heard_rows(heard.agents) != agents)
		object_to("%zu agents of %u", heard_rows(heard.agents), agents);
	if (ports != DIALECT_ANY && heard_rows(heard.load) != ports)
		object_to("%zu ports of %u", heard_rows(heard.load), ports);
}

static void
check_boots(const struct dialect *d)
{
	double boots = sql_number(heard.store, "SELECT max(n) FROM (SELECT count(DISTINCT boot) AS n FROM account"
	    " GROUP BY agent)");

	if (d->truth.boots != DIALECT_ANY && boots > or_1(d->truth.boots))
		object_to("%.0f boots of %u", boots, or_1(d->truth.boots));
}

static void
check_port(const struct dialect *d, size_t row)
{
	const char *check = d->truth.check ? d->truth.check : "ok";
	const json_t *port = json_array_get(json_object_get(heard.load, "rows"), row);
	double rx = heard_number(port, "utilization_rx"), tx = heard_number(port, "utilization_tx");

	if (rx > 100 || tx > 100)
		object_to("%s used by %.4g and %.4g %%", heard_text(port, "port"), rx, tx);
	if (d->truth.first_if > 0 && heard_number(port, "if_index") != d->truth.first_if)
		return;
	if (strncmp(heard_text(port, "check"), check, strlen(check)) != 0)
		object_to("%s \"%s\"", heard_text(port, "port"), heard_text(port, "check"));
	if (d->truth.speed_bps > 0 && heard_number(port, "speed_bps") != (double)d->truth.speed_bps)
		object_to("%s has %.4g b/s", heard_text(port, "port"), heard_number(port, "speed_bps"));
}

static void
check_verdict(const struct dialect *d)
{
	const char *is = heard_text(heard.audit, "rows.0.verdict");

	if (d->truth.verdict && strncmp(is, d->truth.verdict, strlen(d->truth.verdict)) != 0)
		object_to("audit \"%s\"", is);
	if (d->truth.no_trust && strstr(heard_text(heard.audit, "rows.0.trust_for"), d->truth.no_trust))
		object_to("audit trusts its %s", d->truth.no_trust);
}

static void
check_output(const struct dialect *d)
{
	char sql[SQL_TEXT];

	if (d->truth.output == 0)
		return;
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM sample WHERE output_if IS NOT %u", d->truth.output);
	if (sql_number(heard.store, sql) > 0)
		object_to("output interface lost");
}

static void
check_as(const struct dialect *d)
{
	char sql[SQL_TEXT];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM sample WHERE ifnull(src_as, 0) <> %u OR ifnull(dst_as, 0) <> %u",
	    d->truth.src_as, d->truth.dst_as);
	if (sql_number(heard.store, sql) > 0)
		object_to("other AS numbers");
}

/* Whoever speaks as the specification has it is not accused of anything, and others of what is so. */
static void
check_oddities(const struct dialect *d)
{
	const json_t *named = json_object_get(heard.agents, "oddities");
	uint32_t kinds = (uint32_t)sql_number(heard.store, "SELECT total(1 << kind) FROM (SELECT DISTINCT kind FROM"
	    " oddity)");

	for (size_t i = 0; kinds & ~(d->truth.odd | d->truth.may) && i < json_array_size(named); i++)
		object_to("among what is named: %s", heard_text(json_array_get(named, i), "oddity"));
	if (d->truth.odd & ~kinds)
		object_to("not named as odd: kinds %#x", d->truth.odd & ~kinds);
}

START_TEST(row)
{
	const struct dialect *d = &dialects[_i];

	if (suite_is_slow() && _i % SLOW_ROWS != 0)
		return;
	heard_run(&heard, d);
	check_total(d);
	check_host(d, "10.0.0.1", heard.passed.host_part[0]);
	check_host(d, "10.0.0.2", heard.passed.host_part[1]);
	check_used(d);
	check_losses(d);
	check_rows(d);
	check_boots(d);
	for (size_t i = 0; i < heard_rows(heard.load); i++)
		check_port(d, i);
	check_verdict(d);
	check_output(d);
	check_as(d);
	check_oddities(d);
	heard_end(&heard); /* nothing runs behind an assertion that fails */
	ck_assert_msg(*wrong == '\0', "%s: %s (%s): %s", d->make, d->odd, d->where, wrong);
}
END_TEST

static bool
accuses_one(void *arg, int64_t agent, uint64_t if_index)
{
	(void)agent;
	return if_index == *(const uint64_t *)arg;
}

#define LONG_RULE "talker above 1kb/s of each port in 10.0.0.0/8 except 192.0.2.0/24, 198.51.100.0/24 burst 1s"

/* An alarm of a port whose samples are no random choice says so, and no other one does; but where there is no room for all
 * of it, since the report finds by the text what is over. */
START_TEST(an_alarm_says_what_an_audit_found)
{
	static const struct {
		uint64_t accused;
		const char *rule, *ends;
	} cases[] = {
	    {0, "talker above 1kb/s of each port", " of each port"},
	    {7, "talker above 1kb/s of each port", " of each port; audit: its samples are not sound"},
	    {7, LONG_RULE, LONG_RULE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t accused = cases[i].accused;
		const struct collector_verdicts verdicts = {.accuses = accuses_one, .arg = &accused};
		const char *text = "", *ends = cases[i].ends;

		heard_alarms(&heard, &(struct dialect){.traffic.ports = 1}, cases[i].rule, &verdicts);
		for (size_t r = 0; r < heard_rows(heard.events) && *text == '\0'; r++) {
			const json_t *event = json_array_get(json_object_get(heard.events, "rows"), r);

			if (strcmp(heard_text(event, "event"), "alarm") == 0)
				text = heard_text(event, "text");
		}
		if (strlen(text) < strlen(ends) || strcmp(text + strlen(text) - strlen(ends), ends) != 0)
			object_to("alarm \"%s\"", text);
		heard_end(&heard);
	}
	ck_assert_msg(*wrong == '\0', "%s", wrong);
}
END_TEST

static void
set_up(void)
{
	*wrong = '\0';
}

/* Samples that name a host, for any reader; a datagram with one that is bad may end there. */
static double
readable(const struct dialect *d, const struct passed *passed)
{
	double named = d->truth.hosts > 0 ? d->truth.hosts : 1;

	return floor(named * (double)passed->flows) - SAMPLES_A_DATAGRAM * d->truth.unused;
}

static int
write_all(const char *path)
{
	struct capture *capture = capture_begin(path);

	for (size_t i = 0; i < n_dialects; i++) {
		uint16_t port = (uint16_t)(FIRST_PORT + i);
		struct passed passed;

		capture_row(capture, &dialects[i], port, &passed);
		printf("%u\t%.0f\t%s: %s\n", port, readable(&dialects[i], &passed), dialects[i].make, dialects[i].odd);
	}
	capture_end(capture);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	Suite *suite;
	TCase *all;

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_all(argv[2]);
	suite = suite_create("dialects");
	all = tcase_create("all");
	tcase_set_timeout(all, SECONDS_A_ROW);
	tcase_add_checked_fixture(all, set_up, NULL);
	tcase_add_loop_test(all, row, 0, (int)n_dialects);
	tcase_add_test(all, an_alarm_says_what_an_audit_found);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
