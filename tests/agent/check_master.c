/*
 * easeagentd under a hostile master: two thousand requests over AgentX (twenty thousand with --long),
 * drawn from a seed. They name any object, SET anything in all phases and wrong orders, or are PDUs
 * that are damaged in any part. The agent must answer the next good request correctly, reconnect when
 * the session breaks, change no cell by a refused request, end cleanly, and not grow.
 */
#include "mibs/mibs.h"
#include "tests/agent/snmp/agentx_master.h"
#include "tests/support/fate.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REQUESTS = 2000,
	REFUSED_UNSEEN = 64, /* refusals between two looks at all cells */
	BULK = 100,	     /* varbinds asked for at once: Net-SNMP gives no more */
	RECONNECT_MS = 20000,
	/* Of resident memory, from the first tenth to the end: RMON's buckets are 8 MiB when all are
	 * granted, and Net-SNMP keeps a TestSet for ever whose CleanupSet has another number. */
	GROWTH_MAX_KIB = 16384,
};

static const uint32_t if_number[] = {1, 3, 6, 1, 2, 1, 2, 1, 0};

static char dir[] = "/tmp/ease-master-XXXXXX";
static pid_t agent;
static struct agentx_master master;
static struct agentx_pdu pdu;
static struct cells before, now;
static struct fate fate;
static struct varbind varbinds[FATE_VARBINDS_MAX];
static struct {
	unsigned gets, nexts, bulks, sets, refused, undone, taken, astray, spoilt, closed;
} did;

/* ---- the agent ---- */

static const char *
in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
write_config(void)
{
	const char *top = getenv("srcdir");
	FILE *config = fopen(in_dir("agent.conf"), "w");

	ck_assert_ptr_nonnull(config);
	fprintf(config, "device = emulated\nboard = \"%s/conf/boards/gt48001a-8port.conf\"\n"
	    "history = off\nagentx_socket = \"unix:%s/master\"\nstate_dir = \"%s/state\"\n",
	    top ? top : "..", dir, dir);
	ck_assert_int_eq(fclose(config), 0);
}

static void
start_agent(void)
{
	write_config();
	agent = fork();
	if (agent == 0) {
		int log = open(in_dir("log"), O_WRONLY | O_CREAT | O_APPEND, 0600);

		if (dup2(log, STDERR_FILENO) < 0)
			_exit(126);
		execl("agent/easeagentd", "easeagentd", "-f", "-c", in_dir("agent.conf"), NULL);
		_exit(127);
	}
	ck_assert_int_gt(agent, 0);
}

/* Its last words. */
static void
show_log(void)
{
	char command[160];

	snprintf(command, sizeof(command), "tail -n 30 %s", in_dir("log"));
	if (system(command) != 0)
		printf("no log\n");
}

static long
resident_kib(void)
{
	char path[64], line[128];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)agent);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib;
}

static void
setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(agentx_master_open(&master, in_dir("master")), 0);
	start_agent();
	ck_assert_int_eq(agentx_master_accept(&master, RECONNECT_MS), 0);
}

static void
teardown(void)
{
	char command[64];

	if (agent > 0)
		kill(agent, SIGKILL);
	agentx_master_close(&master);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- one exchange ---- */

static void
expect_works(int rc, const char *what)
{
	int status = 0;

	if (rc == 0)
		return;
	show_log();
	usleep(200000); /* for an end to become known, in the message only */
	if (waitpid(agent, &status, WNOHANG) == agent)
		agent = 0;
	ck_assert_msg(rc == 0, "PDU %llu: %s: %s; agent %s, status %#x",
	    (unsigned long long)master.n_requests, what, strerror(-rc),
	    agent ? "lives" : "has ended", status);
}

/* The agent has closed the session, or had to, and comes back. */
static void
take_it_back(const char *after)
{
	did.closed++;
	expect_works(agentx_master_accept(&master, RECONNECT_MS), after);
}

static int
exchange(const struct agentx_header *h, struct agentx_reader *answer)
{
	int rc;

	agentx_end(&pdu);
	master.n_requests++;
	rc = agentx_master_send(&master, pdu.octets, pdu.n);
	return rc < 0 ? rc : agentx_master_answer(&master, h->packet, answer);
}

/* A well formed request is answered. The error, and its varbinds are left to be read. */
static unsigned
ask(const struct agentx_header *h, struct agentx_reader *answer)
{
	unsigned error;

	expect_works(exchange(h, answer), "a good request");
	agentx_get_u32(answer);
	error = agentx_get_u16(answer);
	agentx_get_u16(answer);
	return error;
}

static struct agentx_header
begin(uint8_t type)
{
	struct agentx_header h = agentx_master_header(&master, type, fate_draw(&fate) % 2);

	agentx_begin(&pdu, &h);
	return h;
}

/* ---- all cells ---- */

/* What runs on by itself: the agent's own figures, and what RMON records for the rows that were
 * made; an alarm goes when what it watches is gone. */
static bool
is_steady(const struct mib_table *table)
{
	static const char *const running[] = {"easeSystem", "etherHistoryTable",
	    "etherHistoryHighCapacityTable", "alarmTable", "hcAlarmTable", "logTable"};

	for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++) {
		if (strcmp(table->name, running[i]) == 0)
			return false;
	}
	return true;
}

/* Time stamps move a hundredth when a new session tells sysUpTime again. */
static uint16_t
get_varbind(struct agentx_reader *r, uint32_t *oid, size_t *n, struct mib_value *value)
{
	uint16_t type = agentx_get_varbind(r, oid, n, value);

	if (value->syntax == MIB_TIMETICKS)
		value->number = 0;
	return type;
}

/* The cells behind oid up to the table's end, as many as one answer holds; false: that was all. */
static bool
walk_on(const struct mib_table *table, uint32_t *oid, size_t *n, struct cells *cells)
{
	uint32_t end[MIB_OID_ARCS];
	struct agentx_header h = begin(AGENTX_GET_BULK);
	struct agentx_reader r;

	memcpy(end, table->entry.arcs, table->entry.n * sizeof(*end));
	end[table->entry.n - 1]++;
	agentx_put_u16(&pdu, 0);
	agentx_put_u16(&pdu, BULK);
	agentx_put_range(&pdu, oid, *n, false, end, table->entry.n);
	ck_assert_uint_eq(ask(&h, &r), 0);
	while (r.at < r.n) {
		struct mib_value value;
		uint32_t next[MIB_OID_MAX];
		size_t n_next;
		struct cell *cell;

		if (get_varbind(&r, next, &n_next, &value) == AGENTX_END_OF_MIB_VIEW)
			return false;
		ck_assert(!r.failed && n_next <= CELL_ARCS);
		ck_assert_int_gt(mib_oid_compare(next, n_next, oid, *n), 0);
		if (mib_oid_compare(next, n_next, end, table->entry.n) >= 0)
			return false; /* Net-SNMP forgets the end after the first */
		cell = cells_add(cells);
		*cell = (struct cell){.table = table, .n = n_next, .value = value};
		memcpy(cell->oid, next, n_next * sizeof(*next));
		memcpy(oid, next, n_next * sizeof(*next));
		*n = n_next;
	}
	return true;
}

static void
look(struct cells *cells)
{
	cells->n = 0;
	for (size_t i = 0; i < mibs_n_tables; i++) {
		const struct mib_table *table = mibs_tables[i];
		uint32_t oid[MIB_OID_MAX];
		size_t n = table->entry.n;

		memcpy(oid, table->entry.arcs, n * sizeof(*oid));
		while (is_steady(table) && walk_on(table, oid, &n, cells))
			;
	}
}

static void
expect_same(const char *what)
{
	const struct cell *other = cells_difference(&before, &now);

	ck_assert_msg(!other, "%s: %s%s", what, cells_text(other->oid, other->n, &other->value),
	    now.n > before.n ? " is new" : now.n < before.n ? " is gone" : "");
}

static void
expect_unchanged(const char *what)
{
	look(&now);
	expect_same(what);
}

/* ---- good requests for anything ---- */

static void
get(void)
{
	struct agentx_header h = begin(AGENTX_GET);
	uint32_t oid[MIB_OID_MAX], name[MIB_OID_MAX];
	size_t n = fate_name(&fate, oid), n_name;
	const struct mib_table *table = fate_table_of(oid, n);
	const struct cell *cell = table ? cells_find(&before, table, oid, n) : NULL;
	struct agentx_reader r;
	struct mib_value value;
	uint16_t type;

	agentx_put_range(&pdu, oid, n, false, NULL, 0);
	did.gets++;
	if (ask(&h, &r) != 0) /* a name that Net-SNMP does not take apart */
		return;
	type = get_varbind(&r, name, &n_name, &value);
	/* Net-SNMP makes 0.0 of the null OID. */
	ck_assert(!r.failed && (n == 0 || mib_oid_compare(oid, n, name, n_name) == 0));
	if (table && !is_steady(table))
		return;
	if (cell)
		ck_assert_msg(cells_same_value(&cell->value, &value), "%s", cells_text(oid, n, &value));
	else if (!table || !table->time_filter)
		ck_assert_int_ge(type, AGENTX_NO_SUCH_OBJECT);
}

static void
get_next(void)
{
	struct agentx_header h = begin(AGENTX_GET_NEXT);
	uint32_t oid[MIB_OID_MAX], end[MIB_OID_MAX], name[MIB_OID_MAX];
	size_t n = fate_name(&fate, oid), n_end = fate_draw(&fate) % 4 ? fate_name(&fate, end) : 0, n_name;
	bool include = fate_draw(&fate) % 4 == 0;
	struct agentx_reader r;
	struct mib_value value;

	agentx_put_range(&pdu, oid, n, include, end, n_end);
	did.nexts++;
	if (ask(&h, &r) != 0)
		return;
	if (agentx_get_varbind(&r, name, &n_name, &value) == AGENTX_END_OF_MIB_VIEW)
		return;
	ck_assert(!r.failed);
	ck_assert_int_ge(mib_oid_compare(name, n_name, oid, n), include ? 0 : 1);
}

static void
get_bulk(void)
{
	struct agentx_header h = begin(AGENTX_GET_BULK);
	uint32_t oid[MIB_OID_MAX];
	struct agentx_reader r;

	agentx_put_u16(&pdu, (uint16_t)fate_below(&fate, 4));
	agentx_put_u16(&pdu, (uint16_t)fate_below(&fate, 20));
	for (size_t i = 1 + fate_below(&fate, 4); i > 0; i--)
		agentx_put_range(&pdu, oid, fate_name(&fate, oid), false, NULL, 0);
	ask(&h, &r);
	did.bulks++;
}

/* ---- SET ---- */

static unsigned
phase(uint8_t type)
{
	struct agentx_header h = begin(type);
	struct agentx_reader r;

	return ask(&h, &r);
}

/* No answer comes (section 7.2.4.4). */
static void
clean_up(void)
{
	begin(AGENTX_CLEANUP_SET);
	agentx_end(&pdu);
	master.n_requests++;
	agentx_master_send(&master, pdu.octets, pdu.n);
}

static unsigned
test_set(void)
{
	struct agentx_header h;
	struct agentx_reader r;
	size_t n = fate_set(&fate, varbinds);

	master.transaction++;
	h = begin(AGENTX_TEST_SET);
	for (size_t i = 0; i < n; i++)
		agentx_put_varbind(&pdu, varbinds[i].oid, varbinds[i].n, &varbinds[i].value);
	return ask(&h, &r);
}

static void
set(void)
{
	unsigned error = test_set();

	did.sets++;
	if (error || fate_draw(&fate) % 2) {
		clean_up();
		if (++did.refused % REFUSED_UNSEEN == 0)
			expect_unchanged("refused");
		return;
	}
	error = phase(AGENTX_COMMIT_SET);
	if (error || fate_draw(&fate) % 4 == 0) {
		ck_assert_uint_eq(phase(AGENTX_UNDO_SET), 0);
		clean_up();
		look(&now);
		cells_leave_out_undone(&now);
		cells_leave_out_undone(&before);
		expect_same("undone");
		look(&before);
		did.undone++;
		return;
	}
	clean_up();
	look(&before);
	did.taken++;
}

/* A phase that nothing went before, or not for this transaction. */
static void
go_astray(void)
{
	static const uint8_t types[] = {AGENTX_COMMIT_SET, AGENTX_UNDO_SET, AGENTX_CLEANUP_SET};
	uint8_t type = types[fate_below(&fate, 3)];
	bool tested = fate_draw(&fate) % 2;

	did.astray++;
	if (tested)
		test_set();
	master.transaction++;
	if (type == AGENTX_CLEANUP_SET)
		clean_up();
	else
		phase(type);
	master.transaction--;
	if (tested)
		clean_up();
	if (did.astray % REFUSED_UNSEEN == 0)
		expect_unchanged("a phase astray");
}

/* ---- spoilt PDUs ---- */

/* A request of any kind, as it should be. */
static void
any_request(void)
{
	static const uint8_t types[] = {AGENTX_GET, AGENTX_GET_NEXT, AGENTX_GET_BULK, AGENTX_TEST_SET,
	    AGENTX_TEST_SET, AGENTX_COMMIT_SET, AGENTX_PING, AGENTX_RESPONSE};
	uint8_t type = types[fate_below(&fate, sizeof(types))];
	uint32_t oid[MIB_OID_MAX], end[MIB_OID_MAX];
	size_t n;

	master.transaction++;
	begin(type);
	if (type == AGENTX_GET_BULK)
		agentx_put_u32(&pdu, (uint32_t)fate_draw(&fate));
	for (size_t i = fate_below(&fate, 4); type <= AGENTX_GET_BULK && i > 0; i--) {
		n = fate_name(&fate, oid);
		agentx_put_range(&pdu, oid, n, fate_draw(&fate) % 2, end, fate_name(&fate, end));
	}
	n = type == AGENTX_TEST_SET ? fate_set(&fate, varbinds) : 0;
	for (size_t i = 0; i < n; i++)
		agentx_put_varbind(&pdu, varbinds[i].oid, varbinds[i].n, &varbinds[i].value);
	if (type == AGENTX_RESPONSE) { /* to a packet that nobody sent */
		agentx_put_u32(&pdu, 0);
		agentx_put_u32(&pdu, (uint32_t)fate_draw(&fate));
	}
	agentx_end(&pdu);
}

static void
spoil_octets(size_t from, size_t to)
{
	static const uint8_t edges[] = {0, 1, 4, 127, 128, 254, 255};

	for (size_t i = 1 + fate_below(&fate, 8); i > 0 && to > from; i--)
		pdu.octets[from + fate_below(&fate, to - from)] = fate_draw(&fate) % 2
		    ? edges[fate_below(&fate, sizeof(edges))] : (uint8_t)fate_draw(&fate);
}

/* As far as the stream goes on in step: version and length are what they must be. */
static void
spoil(void)
{
	const size_t flags = 2, ids = 4, payload = AGENTX_HEADER_OCTETS;

	switch (fate_draw(&fate) % 4) {
	case 0: /* what the payload says of itself */
		spoil_octets(payload, pdu.n);
		break;
	case 1: /* cut, anywhere */
		pdu.n = payload + fate_below(&fate, pdu.n - payload + 1);
		agentx_end(&pdu);
		break;
	case 2: /* and gone on with */
		for (size_t i = 1 + fate_below(&fate, 64); i > 0 && pdu.n < AGENTX_PDU_MAX; i--)
			pdu.octets[pdu.n++] = (uint8_t)fate_draw(&fate);
		agentx_end(&pdu);
		break;
	default: /* whose it is, and its flags but the byte order */
		spoil_octets(ids, ids + 12);
		master.packet = (uint32_t)fate_draw(&fate); /* its number is no later one's */
		pdu.octets[flags] |= (uint8_t)(fate_draw(&fate) & 0xef);
		break;
	}
}

/* What comes after is answered as ever, or the session is a new one. */
static void
expect_answer(const char *after)
{
	struct agentx_header h;
	struct agentx_reader r;
	uint32_t oid[MIB_OID_MAX];
	struct mib_value value;
	size_t n;
	int rc;

	for (unsigned tries = 0; tries < 3; tries++) {
		master.transaction++;
		h = begin(AGENTX_GET);
		agentx_put_range(&pdu, if_number, sizeof(if_number) / sizeof(if_number[0]), false,
		    NULL, 0);
		rc = exchange(&h, &r);
		if (rc == 0)
			break;
		ck_assert_msg(rc == -EPIPE, "after %s: %s", after, strerror(-rc));
		take_it_back(after);
	}
	agentx_get_u32(&r);
	ck_assert_uint_eq(agentx_get_u32(&r), 0);
	agentx_get_varbind(&r, oid, &n, &value);
	ck_assert(!r.failed);
	ck_assert_int_eq(value.integer, 8);
}

/* It may have been a good TestSet. Its two halves must be done before CleanupSet comes, as they are
 * with any master that waits for answers: else the session would be ended. */
static void
send_spoilt(void)
{
	any_request();
	spoil();
	master.n_requests++;
	did.spoilt++;
	agentx_master_send(&master, pdu.octets, pdu.n);
	expect_answer("a spoilt PDU");
	expect_answer("a spoilt PDU");
	clean_up();
	if (did.spoilt % REFUSED_UNSEEN == 0)
		expect_unchanged("a spoilt PDU");
}

/* A TestSet, and its end before it is answered. */
static void
test_and_forget(void)
{
	size_t n = fate_set(&fate, varbinds);

	master.transaction++;
	begin(AGENTX_TEST_SET);
	for (size_t i = 0; i < n; i++)
		agentx_put_varbind(&pdu, varbinds[i].oid, varbinds[i].n, &varbinds[i].value);
	agentx_end(&pdu);
	agentx_master_send(&master, pdu.octets, pdu.n);
	begin(AGENTX_CLEANUP_SET);
	agentx_end(&pdu);
}

/* The stream is out of step for good: a wrong version, a length that is not the payload's, a Close,
 * an end in the middle, phases of a SET without a wait. */
static void
break_stream(void)
{
	any_request();
	switch (fate_draw(&fate) % 5) {
	case 3:
		test_and_forget();
		break;
	case 0:
		pdu.octets[0] = (uint8_t)fate_draw(&fate);
		break;
	case 1:
		spoil_octets(16, 20);
		break;
	case 2:
		pdu.octets[1] = AGENTX_CLOSE;
		break;
	default:
		pdu.n = fate_below(&fate, pdu.n);
		break;
	}
	master.n_requests++;
	agentx_master_send(&master, pdu.octets, pdu.n);
	take_it_back("a broken stream");
	expect_answer("a broken stream");
	expect_unchanged("a broken stream");
}

/* ---- the test ---- */

static void
end_agent(void)
{
	struct agentx_reader r;
	int status;

	kill(agent, SIGTERM);
	while (agentx_master_answer(&master, 0, &r) == 0)
		;
	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	agent = 0;
	if (status != 0)
		show_log();
	ck_assert_int_eq(status, 0);
}

static void
one_request(void)
{
	switch (fate_draw(&fate) % 16) {
	case 0: case 1: case 2:
		get();
		break;
	case 3: case 4: case 5:
		get_next();
		break;
	case 6:
		get_bulk();
		break;
	case 7:
		go_astray();
		break;
	case 8: case 9: case 10: case 11:
		set();
		break;
	default:
		send_spoilt();
		break;
	}
}

START_TEST(agent_outlives_a_bad_master)
{
	int n = suite_effort(REQUESTS);
	long early_kib = 0, grown_kib;

	fate = (struct fate){.seed = 1, .cells = &before};
	look(&before);
	for (int i = 0; i < n; i++) {
		one_request();
		if (fate_draw(&fate) % 512 == 0)
			break_stream();
		if (i == n / 10)
			early_kib = resident_kib();
	}
	expect_unchanged("all");
	grown_kib = resident_kib() - early_kib;
	end_agent();
	printf("%llu PDUs, most of them to look: %u Get, %u GetNext, %u GetBulk, %u SETs (%u refused, %u undone, %u taken), "
	       "%u phases astray, %u spoilt, %u sessions lost; %zu cells, %ld KiB more\n",
	    (unsigned long long)master.n_requests, did.gets, did.nexts, did.bulks, did.sets,
	    did.refused, did.undone, did.taken, did.astray, did.spoilt, did.closed, before.n,
	    grown_kib);
	/* A sanitizer keeps what was freed. */
	ck_assert_msg(
	    SUITE_SANITIZES || grown_kib < GROWTH_MAX_KIB, "%ld KiB more", grown_kib);
	cells_free(&before);
	cells_free(&now);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("master");
	TCase *tcase = tcase_create("bad master");

	tcase_set_timeout(tcase, getenv("EASE_LONG") ? 850 : 280); /* each lost session costs a second */
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, agent_outlives_a_bad_master);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
