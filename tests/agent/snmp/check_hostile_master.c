/*
 * The SNMP thread under a master that answers one of its requests (Open, Register, Ping, Notify)
 * slowly, wrongly, in part, never, or by hanging up, or hangs up in the middle of its own: after each
 * it must be there again, answer at once, have its notifications acknowledged each exactly once by
 * its own account and none lost, and leave nothing behind: no descriptor, no memory, no second
 * attempt to connect. All cases with --long, else a seeded part of them (EASE_SEED).
 */
#include "agent/snmp/snmp_agent.h"
#include "mibs/mibs.h"
#include "tests/agent/snmp/agentx_master.h"
#include "tests/mibs/mib_fixture.h"
#include "tests/suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	PORTS = 8,
	RING = 64,
	CASES = 4,	  /* of the ordinary run */
	HANG_UPS_S = 5,	  /* in which timers that breed would be seen */
	PING = 13,
	SLOW_US = 700000, /* below the agent's limit of a second */
	TURN_MS = 20,
	RECOVERY_US = 20000000,
	GROWTH_MAX_KIB = 4096,
	REGISTERED = 10, /* before one Register meets a fault */
};

enum fault {
	SLOW, NEVER, HANG_UP, HALF, HEADER_ONLY, OTHER_PACKET, OTHER_SESSION, OTHER_TYPE, ERROR,
	GARBAGE, OTHER_ORDER, HUGE_LENGTH, LENGTH_BEYOND, BAD_VARBIND, N_FAULTS
};
static const char *const fault_names[N_FAULTS] = {"slow", "never", "hang up", "half and hang up",
    "half a header", "another packet", "another session", "another type", "an error", "garbage",
    "the other byte order", "a huge length", "a length beyond", "a bad varbind"};
static const uint8_t phases[] = {AGENTX_OPEN, AGENTX_REGISTER, PING, AGENTX_NOTIFY};
enum { N_PHASES = sizeof(phases) };

static const uint32_t if_number[] = {1, 3, 6, 1, 2, 1, 2, 1, 0};

static char dir[] = "/tmp/ease-hostile-XXXXXX";
static struct agentx_master master;
static struct mib_fixture fixture;
static struct notify_ring *ring;
static struct snmp_agent *agent;
static struct {
	uint8_t phase; /* the type of the request that meets the fault; 0: none does */
	enum fault fault;
	unsigned skip; /* requests of the type that pass before */
} armed;
static uint32_t pushed, seen; /* notifications: the newest number, and all up to this came */
static unsigned refused;
static uint64_t slowest_us;

/* ---- the master ---- */

static uint32_t
number_in(const uint8_t *octets, size_t n)
{
	struct agentx_header h;
	struct agentx_reader r = agentx_read(octets, n, &h);
	uint32_t name[MIB_OID_MAX];
	struct mib_value value;
	size_t n_name = 0;

	while (r.at < r.n && !r.failed)
		agentx_get_varbind(&r, name, &n_name, &value);
	ck_assert(!r.failed && n_name > 0);
	return name[n_name - 1];
}

/* In order, but for those that are sent again. */
static void
note_notification(const uint8_t *octets, size_t n)
{
	uint32_t number = number_in(octets, n);

	ck_assert_uint_le(number, seen + 1);
	if (number > seen)
		seen = number;
}

static void
spoil(struct agentx_pdu *answer, enum fault fault)
{
	switch (fault) {
	case OTHER_PACKET:
		answer->octets[12] ^= 0x55;
		break;
	case OTHER_SESSION:
		answer->octets[4] ^= 0x55;
		break;
	case OTHER_TYPE:
		answer->octets[1] = AGENTX_GET;
		break;
	case ERROR: /* processingError, as the subagent's order is */
		answer->octets[AGENTX_HEADER_OCTETS + 4] = answer->big ? 1 : 12;
		answer->octets[AGENTX_HEADER_OCTETS + 5] = answer->big ? 12 : 1;
		break;
	case GARBAGE:
		memset(answer->octets, 0xa7, answer->n);
		break;
	case OTHER_ORDER:
		answer->octets[2] ^= AGENTX_BIG_ENDIAN;
		break;
	case HUGE_LENGTH:
		memset(answer->octets + 16, 0xfc, 4);
		break;
	case LENGTH_BEYOND:
		answer->octets[answer->big ? 19 : 16] = 12;
		break;
	case BAD_VARBIND:
		agentx_put_u32(answer, 0);
		agentx_put_u32(answer, UINT32_MAX);
		agentx_end(answer);
		break;
	default:
		break;
	}
}

/* What the agent waits for must not keep it from answering. */
static void expect_answer_at_once(void);

static void
misbehave(struct agentx_master *m, const struct agentx_header *h)
{
	static struct agentx_pdu answer;
	enum fault fault = armed.fault;

	agentx_master_yes(m, h, &answer);
	armed.phase = 0;
	if (fault == SLOW)
		usleep(SLOW_US);
	if ((fault == NEVER || fault == SLOW) && h->type != AGENTX_OPEN)
		expect_answer_at_once();
	if (fault == HALF || fault == HEADER_ONLY)
		answer.n = fault == HALF ? AGENTX_HEADER_OCTETS + 3 : 10;
	spoil(&answer, fault);
	if (fault != NEVER && fault != HANG_UP)
		agentx_master_send(m, answer.octets, answer.n);
	if (fault == HANG_UP || fault == HALF)
		agentx_master_hang_up(m);
}

static bool
on_request(struct agentx_master *m, const struct agentx_header *h, const uint8_t *octets, size_t n)
{
	if (h->type == AGENTX_NOTIFY)
		note_notification(octets, n);
	if (h->type != armed.phase || armed.skip-- > 0)
		return false;
	misbehave(m, h);
	return true;
}

/* ---- what must be ---- */

static int
get(struct agentx_reader *r)
{
	static struct agentx_pdu pdu;
	struct agentx_header h;
	int rc;

	master.transaction++;
	h = agentx_master_header(&master, AGENTX_GET, master.transaction % 2);
	agentx_begin(&pdu, &h);
	agentx_put_range(&pdu, if_number, sizeof(if_number) / sizeof(if_number[0]), false, NULL, 0);
	agentx_end(&pdu);
	rc = agentx_master_send(&master, pdu.octets, pdu.n);
	return rc < 0 ? rc : agentx_master_answer(&master, h.packet, r);
}

static void
expect_answer_at_once(void)
{
	uint64_t start_us = clock_mono_us(&clock_system), took_us;
	struct agentx_reader r;

	ck_assert_int_eq(get(&r), 0);
	took_us = clock_mono_us(&clock_system) - start_us;
	if (took_us > slowest_us)
		slowest_us = took_us;
	agentx_get_u32(&r);
	ck_assert_uint_eq(agentx_get_u32(&r), 0);
	/* 50 ms, on a machine that has time; said at the end */
	ck_assert_uint_lt(took_us, suite_is_slow() ? 2000000 : 500000);
}

static void
push(void)
{
	struct ease_snapshot snapshot = {.if_index = ++pushed};
	static struct ease_notification n;

	trap_wire_begin(&n, EASE_NOTIFY_COUNTERS);
	ck_assert_int_eq(trap_wire_add_snapshot(&n, &snapshot, TRAP_WIRE_MESSAGE_DEFAULT), 0);
	ck_assert_int_eq(notify_ring_push(ring, &n), 0);
}

/* Until all is acknowledged and the agent answers. */
static void
recover(const char *after)
{
	uint64_t end_us = clock_mono_us(&clock_system) + RECOVERY_US;
	struct agentx_reader r;
	int rc;

	do {
		agentx_master_turn(&master, TURN_MS);
		ck_assert_msg(clock_mono_us(&clock_system) < end_us,
		    "after %s: %u of %u notifications came, %zu unanswered, %s", after, seen, pushed,
		    notify_ring_unanswered(ring), snmp_agent_connected(agent) ? "connected" : "away");
	} while (armed.phase != 0 || !notify_ring_idle(ring) || !snmp_agent_connected(agent));
	while ((rc = get(&r)) == -EPIPE || rc == -ETIMEDOUT) {
		ck_assert_msg(clock_mono_us(&clock_system) < end_us, "after %s: no answer", after);
		while (agentx_master_turn(&master, TURN_MS) != -ETIMEDOUT || master.fd < 0)
			ck_assert_msg(clock_mono_us(&clock_system) < end_us, "after %s: away", after);
	}
	ck_assert_uint_eq(seen, pushed);
}

static uint64_t
ring_count(enum notify_stat which)
{
	return stat_get(notify_ring_stats(ring), which);
}

static void
expect_accounted(void)
{
	ck_assert_uint_eq(ring_count(NOTIFY_PUSHED), pushed);
	ck_assert_uint_eq(ring_count(NOTIFY_REFUSED), refused);
	ck_assert_uint_eq(ring_count(NOTIFY_ACKNOWLEDGED) + refused, pushed);
	ck_assert_uint_eq(ring_count(NOTIFY_OVERFLOW), 0);
}

static unsigned
descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

static long
resident_kib(void)
{
	long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * sysconf(_SC_PAGESIZE) / 1024;
}

/* How often it connects in some seconds. */
static unsigned
connects_in(unsigned seconds)
{
	uint64_t end_us = clock_mono_us(&clock_system) + seconds * 1000000ull;
	unsigned before = master.n_sessions;

	while (clock_mono_us(&clock_system) < end_us)
		agentx_master_turn(&master, TURN_MS);
	return master.n_sessions - before;
}

/* ---- set-up ---- */

static void
setup(void)
{
	static char socket[64];
	struct snmp_agent_options options = {
		.agentx_socket = socket,
		.app_name = "hostile",
		.timeout_s = 1,
		.clock = &clock_system,
		.tables = mibs_tables,
		.n_tables = mibs_n_tables,
		.snapshots = {&fixture, fixture_hold, fixture_release},
		.setter = {&fixture, fixture_apply},
	};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(socket, sizeof(socket), "%s/master", dir);
	ck_assert_int_eq(agentx_master_open(&master, socket), 0);
	master.hook = on_request;
	ck_assert_int_eq(fixture_create(PORTS, PORTS, &fixture), 0);
	ck_assert_int_eq(notify_ring_create(RING, &ring), 0);
	options.ring = ring;
	ck_assert_int_eq(snmp_agent_create(&options, &agent), 0);
	ck_assert_int_eq(snmp_agent_start(agent), 0);
	recover("the start");
}

static void
teardown(void)
{
	char command[64];

	ck_assert_int_eq(snmp_agent_stop(agent, 10000), 0);
	ck_assert(snmp_agent_destroy(agent));
	agentx_master_close(&master);
	notify_ring_destroy(ring);
	fixture_destroy(&fixture);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- the tests ---- */

/* An Open or a Register comes only when the session is a new one. */
static void
run_case(uint8_t phase, enum fault fault)
{
	char after[64];

	snprintf(after, sizeof(after), "%s to type %u", fault_names[fault], phase);
	armed.phase = phase;
	armed.fault = fault;
	armed.skip = phase == AGENTX_REGISTER ? REGISTERED : 0;
	if (phase <= AGENTX_REGISTER)
		agentx_master_hang_up(&master);
	refused += phase == AGENTX_NOTIFY && fault == ERROR;
	push();
	push();
	recover(after);
	push();
	recover(after);
	expect_accounted();
}

static bool
is_thorough(void)
{
	return getenv("EASE_LONG") && !suite_is_slow();
}

static unsigned
seed(void)
{
	const char *given = getenv("EASE_SEED");

	return given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
}

static void
each_fault_in_each_phase(void)
{
	unsigned all = N_PHASES * N_FAULTS, chosen = seed(), n = is_thorough() ? all : CASES, fds;
	long kib;

	printf("EASE_SEED=%u\n", chosen);
	run_case(AGENTX_REGISTER, HANG_UP);
	fds = descriptors();
	kib = resident_kib();
	for (unsigned i = 0; i < n; i++) {
		unsigned which = (chosen + i * 19) % all; /* 19 and 56 have no common divisor */

		run_case(phases[which % N_PHASES], which / N_PHASES);
	}
	ck_assert_uint_eq(connects_in(2), 0);
	ck_assert_uint_eq(descriptors(), fds);
	kib = resident_kib() - kib;
	printf("%u cases, %u sessions; %u notifications, %u refused; slowest answer %llu us;"
	       " %ld KiB more\n", n, master.n_sessions, pushed, refused, (unsigned long long)slowest_us, kib);
	ck_assert_msg(SUITE_SANITIZES || suite_is_slow() || kib < GROWTH_MAX_KIB, "%ld KiB more", kib);
}

static unsigned n_opens;
static bool
hang_up_at_open(struct agentx_master *m, const struct agentx_header *h, const uint8_t *octets, size_t n)
{
	(void)octets;
	(void)n;
	n_opens += h->type == AGENTX_OPEN;
	agentx_master_hang_up(m);
	return true;
}

/* Net-SNMP would make one more timer for it each time, and each timer more of them. */
static void
who_hangs_up_is_asked_once_a_second(void)
{
	master.hook = hang_up_at_open;
	agentx_master_hang_up(&master);
	connects_in(HANG_UPS_S);
	printf("%u Opens in %u s\n", n_opens, HANG_UPS_S);
	ck_assert_uint_ge(n_opens, 2);
	ck_assert_uint_le(n_opens, HANG_UPS_S + 2);
	master.hook = on_request;
	push();
	recover("many hang-ups");
	ck_assert_uint_eq(connects_in(1), 0);
	expect_accounted();
}

/* A manager's request under way, in each of its octets, when the master goes. */
static void
who_hangs_up_amid_a_request(void)
{
	static struct agentx_pdu pdu;
	struct agentx_header h;
	unsigned step = is_thorough() ? 4 : 60;

	for (size_t n = 0;; n += step) {
		master.transaction++;
		h = agentx_master_header(&master, n % 8 ? AGENTX_GET_NEXT : AGENTX_GET, n % 16 < 8);
		agentx_begin(&pdu, &h);
		agentx_put_range(&pdu, if_number, 8, false, NULL, 0);
		agentx_end(&pdu);
		agentx_master_send(&master, pdu.octets, n < pdu.n ? n : pdu.n);
		agentx_master_hang_up(&master);
		push();
		recover("half a request");
		if (n >= pdu.n)
			break;
	}
	expect_accounted();
	ck_assert_uint_eq(connects_in(1), 0);
}

/* One after the other in one test: a process starts Net-SNMP once. */
START_TEST(agent_outlives_a_hostile_master)
{
	each_fault_in_each_phase();
	who_hangs_up_is_asked_once_a_second();
	who_hangs_up_amid_a_request();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("hostile_master");
	TCase *tcase = tcase_create("faults");

	tcase_set_timeout(tcase, getenv("EASE_LONG") ? 500 : 150);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, agent_outlives_a_hostile_master);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
