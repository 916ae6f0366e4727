#include "tests/faults/faults_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/suite.h"

enum {
	LIBRARY_OCTETS = 8192, /* what a library may keep at each start: none of ours */
	MOST_SLOWLY = 12,      /* single faults under valgrind */
	LONGER = 4,	       /* as many, with --long */
	SHORTER = 2,	       /* and half as many else, each time other ones */
	ALL_FROM_HERE = 8,     /* places from where on all calls fail, twice as many with --long */
};

/* The plan is changed while no other thread runs under it. */
static struct {
	_Atomic bool active;
	unsigned classes;
	uint64_t nth; /* 0: none */
	bool from;
	bool draws;
	pthread_t planner;
	uint64_t seed;
	unsigned one_in[2][FAULT_N_CLASSES]; /* of the thread that planned; of the others */
	unsigned number; /* of this plan */
	_Atomic unsigned streams;
	_Atomic uint64_t calls, failed;
	_Atomic(const char *) last;
} plan;

/* A thread's draws in the plan of this number. */
static _Thread_local struct {
	unsigned plan;
	uint64_t state;
} stream;
static _Thread_local bool spared;

static uint64_t
next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t
draw(void)
{
	if (stream.plan != plan.number) {
		stream.plan = plan.number;
		stream.state = plan.seed + (atomic_fetch_add(&plan.streams, 1) << 20);
	}
	return next(&stream.state);
}

bool
faults_hit(enum fault_class class, const char *name)
{
	bool fail;
	uint64_t call;

	if (spared || !atomic_load(&plan.active) || !(plan.classes & FAULT_BIT(class)))
		return false;
	call = atomic_fetch_add(&plan.calls, 1) + 1;
	if (plan.draws) {
		unsigned one_in = plan.one_in[!pthread_equal(pthread_self(), plan.planner)][class];

		fail = one_in > 0 && draw() % one_in == 0;
	} else
		fail = plan.nth != 0 && (plan.from ? call >= plan.nth : call == plan.nth);
	if (fail) {
		atomic_fetch_add(&plan.failed, 1);
		atomic_store(&plan.last, name);
	}
	return fail;
}

unsigned
faults_way(unsigned n)
{
	return (unsigned)((plan.draws ? draw() : plan.nth) % n);
}

bool
faults_go_on(void)
{
	return plan.from;
}

bool
faults_planned(void)
{
	return atomic_load(&plan.active);
}

/* ---- plans ---- */

static void
begin(void)
{
	plan.number++;
	plan.streams = 0;
	plan.calls = plan.failed = 0;
	plan.last = "nothing";
	spared = false;
	atomic_store(&plan.active, true);
}

void
faults_fail(unsigned classes, uint64_t n, bool from)
{
	faults_stop();
	plan.classes = classes;
	plan.nth = n;
	plan.from = from;
	plan.draws = false;
	begin();
}

void
faults_draw(uint64_t seed, const unsigned one_in[FAULT_N_CLASSES],
    const unsigned others[FAULT_N_CLASSES])
{
	faults_stop();
	faults_rate(one_in);
	memcpy(plan.one_in[1], others, sizeof(plan.one_in[1]));
	plan.classes = FAULT_ALL;
	plan.planner = pthread_self();
	plan.seed = seed;
	plan.draws = true;
	plan.from = false;
	begin();
}

void
faults_rate(const unsigned one_in[FAULT_N_CLASSES])
{
	memcpy(plan.one_in[0], one_in, sizeof(plan.one_in[0]));
}

void
faults_reseed(uint64_t seed)
{
	stream.plan = plan.number;
	stream.state = seed;
}

void
faults_stop(void)
{
	atomic_store(&plan.active, false);
}

void
faults_spare(bool spare)
{
	spared = spare;
}

uint64_t
faults_calls(void)
{
	return plan.calls;
}

uint64_t
faults_failed(void)
{
	return plan.failed;
}

const char *
faults_last(void)
{
	return plan.last;
}

/* ---- what is held ---- */

size_t
faults_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 3; /* ".", ".." and the folder's own */
}

/* Net-SNMP 5.9 forgets a table each time that it is started in a process. */
const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
	return "leak:netsnmp_init_mib_internals\n";
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

size_t
faults_octets(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* ---- every single fault ---- */

uint64_t
faults_seed(const char *name)
{
	const char *given = getenv("EASE_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

	printf("%s: EASE_SEED=%" PRIu64 "\n", name, seed);
	fflush(stdout);
	return seed;
}

struct exhaust {
	const char *name;
	unsigned classes;
	faults_scenario *run;
	void *arg;
	size_t usual; /* octets left behind when nothing fails: Net-SNMP keeps some at each start */
	uint64_t refused, bore; /* times the fault was said to be one; all went well */
};

/* Under the n-th fault. The octets that it left behind. */
static size_t
run_under(struct exhaust *e, uint64_t n, bool from)
{
	size_t descriptors = faults_descriptors(), octets = faults_octets();
	int rc;

	faults_fail(e->classes, n, from);
	rc = e->run(e->arg);
	faults_stop();
	if (rc < 0)
		e->refused++;
	else
		e->bore++;
	ck_assert_msg(rc == 0 || plan.failed > 0, "%s: nothing failed, and it did: %s", e->name,
	    strerror(-rc));
	ck_assert_msg(faults_descriptors() == descriptors,
	    "%s: call %" PRIu64 "%s (%s) failed: %zu descriptors became %zu", e->name, n,
	    from ? " and all after it" : "", plan.last, descriptors, faults_descriptors());
	return faults_octets() > octets ? faults_octets() - octets : 0;
}

/* What the libraries keep for good they get once: a leak comes each time. */
static void
run_once(struct exhaust *e, uint64_t n, bool from)
{
	const char *after = from ? " and all after it" : "";
	size_t left = run_under(e, n, from);
	int rc;

	if (__sanitizer_get_current_allocated_bytes && left > e->usual)
		left = run_under(e, n, from);
	ck_assert_msg(!__sanitizer_get_current_allocated_bytes || left <= e->usual,
	    "%s: call %" PRIu64 "%s (%s) failed: %zu octets are left behind", e->name, n, after,
	    plan.last, left);
	rc = e->run(e->arg);
	ck_assert_msg(rc == 0, "%s: call %" PRIu64 "%s (%s) failed, and after it: %s", e->name, n,
	    after, plan.last, strerror(-rc));
}

void
faults_exhaust(const char *name, unsigned classes, unsigned most, faults_scenario *run, void *arg)
{
	struct exhaust e = {.name = name, .classes = classes, .run = run, .arg = arg};
	const bool is_long = getenv("EASE_LONG");
	const unsigned places = is_long ? 2 * ALL_FROM_HERE : ALL_FROM_HERE;
	uint64_t calls, seed = 0;
	bool all;

	ck_assert_int_eq(run(arg), 0); /* what is made once and kept is made */
	e.usual = run_under(&e, 0, false);
	calls = faults_calls();
	ck_assert(!__sanitizer_get_current_allocated_bytes || e.usual < LIBRARY_OCTETS);
	ck_assert_msg(calls > 0, "%s: none of its calls come through here", name);
	if (suite_is_slow() && (most == FAULTS_EVERY || most > MOST_SLOWLY))
		most = MOST_SLOWLY;
	else if (is_long)
		most *= LONGER;
	else
		most = (most + SHORTER - 1) / SHORTER;
	all = most == FAULTS_EVERY || calls <= most;
	if (!all)
		seed = faults_seed(name);
	for (uint64_t i = 1; i <= (all ? calls : most); i++)
		run_once(&e, all ? i : 1 + next(&seed) % calls, false);
	for (uint64_t i = 1; i <= calls && !(classes & FAULTS_ONCE); i += 1 + calls / places)
		run_once(&e, i, true);
	printf("%s: %" PRIu64 " calls, %s; %" PRIu64 " faults were refused, %" PRIu64 " borne\n",
	    name, calls, all ? "each failed" : "some failed", e.refused, e.bore);
	fflush(stdout);
}

/* ---- libraries that let us have their memory ---- */

static sqlite3_mem_methods sqlite_memory;

static void *
sqlite_malloc(int n)
{
	return faults_hit(FAULT_MEMORY, "SQLite's malloc") ? NULL : sqlite_memory.xMalloc(n);
}

static void *
sqlite_realloc(void *p, int n)
{
	return faults_hit(FAULT_MEMORY, "SQLite's realloc") ? NULL : sqlite_memory.xRealloc(p, n);
}

static void *
jansson_malloc(size_t n)
{
	return faults_hit(FAULT_MEMORY, "Jansson's malloc") ? NULL : malloc(n);
}

void
faults_install(void)
{
	static bool installed;
	sqlite3_mem_methods ours;

	if (installed)
		return;
	installed = true;
	json_set_alloc_funcs(jansson_malloc, free);
	ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory), SQLITE_OK);
	ours = sqlite_memory;
	ours.xMalloc = sqlite_malloc;
	ours.xRealloc = sqlite_realloc;
	ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
}

void
faults_expect_same(const char *text, const char *right)
{
	size_t same = 0;

	while (text[same] && text[same] == right[same])
		same++;
	ck_assert_msg(text[same] == right[same], "after %s failed: \"%.60s\", and not \"%.60s\"",
	    faults_last(), text + same, right + same);
}
