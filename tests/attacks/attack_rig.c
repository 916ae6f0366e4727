#include "tests/attacks/attack_rig.h"

#include "collector/window/sequence_tracker.h"
#include "common/log.h"
#include "tests/sql.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ERROR_TEXT = 512, HEADER_OCTETS = 34, DIFFERENCES_PRINTED = 12 };

#define AUTH_PASSPHRASE "authentic words"
#define PRIV_PASSPHRASE "private words"

uint64_t
attack_draw(struct attack_rig *r, uint64_t below)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	return (r->random >> 33) % below;
}

/* ---- the collector ---- */

static void
open_collector(struct attack_rig *r)
{
	static const struct collector_arguments arguments = {.no_sockets = true};
	char error[ERROR_TEXT];

	ck_assert_msg(collector_open(&r->collector, &r->config, &arguments, &r->clock, error,
			  sizeof(error)) == 0, "%s", error);
}

static void
put_user(FILE *file, const struct attack_v3_user *user)
{
	fprintf(file, "user \"%s\" { engine_ids = {\"0x", user->name);
	for (size_t i = 0; i < sizeof(user->engine_id); i++)
		fprintf(file, "%02x", user->engine_id[i]);
	fprintf(file, "\"} auth_passphrase = \"" AUTH_PASSPHRASE "\" priv_passphrase = \"" PRIV_PASSPHRASE
		      "\" }\n");
}

/* Each switch sw-i at one site; whoever else is elsewhere. */
static void
write_names(const struct attack_rig *r, const char *path)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < FLEET_SWITCHES; i++)
		fprintf(file, "agent 10.0.%d.1 name sw-%d site fleet\n", (int)(r->fleet[i].address >> 8 & 0xff), i);
	fputs("agent * site elsewhere\n", file);
	ck_assert_int_eq(fclose(file), 0);
}

static void
write_config(struct attack_rig *r, const char *further)
{
	char names[sizeof(r->dir) + 8];

	FILE *file = fopen(r->conf, "w");
	char error[ERROR_TEXT];

	snprintf(names, sizeof(names), "%s/names", r->dir);
	write_names(r, names);
	ck_assert_ptr_nonnull(file);
	fprintf(file, "listen = {\"127.0.0.1:0\"}\nsflow_listen = {\"127.0.0.1:0\"}\n"
		      "communities = {\"" FLEET_COMMUNITY "\"}\nsenders = {\"10.0.0.0/8\"}\n"
		      "http_listen = \"\"\nalarms = {\"port above 1 frame/s of each port\"}\nflush_interval = 10000\nstore = \"%s\"\ndevice_names = \"%s\"\n%s\n", r->db,
	    names, further ? further : "");
	put_user(file, &r->other);
	for (int i = 0; i < FLEET_V3; i++)
		put_user(file, &r->fleet[i].user);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_msg(collector_config_load(r->conf, &r->config, error, sizeof(error)) == 0, "%s", error);
}

uint64_t
attack_stat(const struct attack_rig *r, const char *name)
{
	const struct stat_set *sets[COLLECTOR_STAT_SETS];

	collector_stat_sets(r->collector, sets);
	for (size_t s = 0; s < COLLECTOR_STAT_SETS; s++)
		for (unsigned i = 0; i < sets[s]->n; i++)
			if (strcmp(sets[s]->names[i].name, name) == 0)
				return stat_get(sets[s], i);
	ck_abort_msg("there is no counter %s", name);
}

/* ---- the fleet ---- */

/* FNV-1a of type, address and sub-agent of an sFlow agent. */
static void
old_hash(uint32_t address, uint8_t id[8])
{
	const uint8_t octets[24] = {1, 0, 0, 0, (uint8_t)(address >> 24), (uint8_t)(address >> 16), (uint8_t)(address >> 8),
	    (uint8_t)address};
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof(octets); i++)
		h = (h ^ octets[i]) * 0x100000001b3u;
	for (int i = 0; i < 8; i++)
		id[i] = (uint8_t)(h >> 8 * i);
}

/* The octets of the identity that the collector gives to data source and agent of sFlow come out of its own
 * hash, so these switches are found by their address. */
static void
make_switch(struct attack_rig *r, int i)
{
	struct fleet_switch *s = &r->fleet[i];
	static char names[FLEET_V3][16];

	s->way = i < FLEET_V3 ? FLEET_BY_V3 : i < FLEET_V3 + FLEET_SFLOW ? FLEET_BY_SFLOW : FLEET_BY_V2C;
	s->address = 0x0a000001 + (uint32_t)i * 256;
	for (int k = 0; k < 8; k++)
		s->id[k] = (uint8_t)(attack_draw(r, 256) | (k == 0)); /* no agent draws the form of common/made_id.h */
	if (i == FLEET_HASHED || i == FLEET_HASHED_V3)
		old_hash(ATTACKER + (i == FLEET_HASHED_V3), s->id);
	s->boot = 1 + (uint32_t)attack_draw(r, 50);
	s->started_us = r->clock.manual_mono_us - DAY_US;
	for (int p = 0; p < FLEET_PORTS; p++)
		s->ports[p].octets = attack_draw(r, 1ull << 40);
	if (s->way != FLEET_BY_V3)
		return;
	snprintf(names[i], sizeof(names[i]), "switch%d", i);
	attack_v3_user(&s->user, names[i], s->id, AUTH_PASSPHRASE, PRIV_PASSPHRASE);
}

static uint64_t
device_us(const struct attack_rig *r, const struct fleet_switch *s)
{
	return r->clock.manual_wall_us + (uint64_t)s->clock_off_us;
}

/* An IPv4 header: one of 200 stations to one of 50. */
static const uint8_t *
frame_of(const struct fleet_switch *s, uint32_t sequence)
{
	static uint8_t header[HEADER_OCTETS];
	static const uint8_t ipv4[] = {8, 0, 0x45, 0, 1, 222, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 1, 0, 2};

	memcpy(header + 12, ipv4, sizeof(ipv4));
	header[0] = header[6] = 2;
	header[5] = header[33] = (uint8_t)(sequence % 50);
	header[11] = header[29] = (uint8_t)((sequence + s->address / 256) % 200);
	return header;
}

struct ease_sample
fleet_sample(const struct attack_rig *r, const struct fleet_switch *s, int p, uint32_t sequence)
{
	return (struct ease_sample){
	    .time_us = device_us(r, s),
	    .if_index = (uint32_t)p + 1,
	    .sequence = sequence,
	    .direction = EASE_IN,
	    .skip = FLEET_SKIP - 1,
	    .mean_skip = FLEET_SKIP,
	    .pool_pkts = s->ports[p].pkts,
	    .frame_octets = FLEET_FRAME_OCTETS,
	    .kept_octets = HEADER_OCTETS,
	    .header = frame_of(s, sequence),
	};
}

struct ease_snapshot
fleet_snapshot(const struct attack_rig *r, const struct fleet_switch *s, int p)
{
	const struct fleet_port *port = &s->ports[p];

	return (struct ease_snapshot){
	    .if_index = (uint32_t)p + 1,
	    .time_us = device_us(r, s),
	    .in = {.octets = port->octets, .ucast_pkts = port->pkts},
	    .samples = port->sequence,
	    .last_sequence = port->sequence,
	    .pool_in_pkts = port->pkts,
	    .discontinuity_us = s->discontinuity_us,
	};
}

/* What is counted from here on the collector must have. */
static void
heard(struct fleet_port *port)
{
	if (port->heard)
		return;
	port->heard = true;
	port->first_pkts = port->pkts;
	port->first_octets = port->octets;
}

static void
send_as(struct attack_rig *r, struct fleet_switch *s, const struct trap_message *m)
{
	if (s->way == FLEET_BY_V3)
		attack_send_v3(r, s->address, &s->user, s->boot,
		    (uint32_t)((r->clock.manual_mono_us - s->started_us) / SECOND_US), m);
	else
		attack_send_trap(r, s->address, m);
}

/* Net-SNMP 5.9 forgets a table each time that it is started in a process. */
const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
	return "leak:netsnmp_init_mib_internals\n";
}

/* A number that jumps is not believed until another one goes on from it (window/sequence_jumps.h): its sample is not
 * used, and counts as lost. */
static void
note_sent(struct fleet_port *port)
{
	if (port->missing > SEQUENCE_TRACKER_NUMBERS)
		port->lost_samples++;
	else
		port->sent_samples++;
	port->missing = 0;
}

static void
send_traps(struct attack_rig *r, struct fleet_switch *s)
{
	static struct trap_message m;

	trap_start(&m, FLEET_COMMUNITY, EASE_NOTIFY_SAMPLES, s->id, s->boot);
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct ease_sample sample = fleet_sample(r, s, p, ++s->ports[p].sequence);

		trap_add_sample(&m, &sample);
		note_sent(&s->ports[p]);
	}
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct ease_snapshot snapshot = fleet_snapshot(r, s, p);

		trap_add_snapshot(&m, &snapshot);
		heard(&s->ports[p]);
	}
	send_as(r, s, &m);
	if (r->counters_second != r->second)
		return;
	trap_start(&m, FLEET_COMMUNITY, EASE_NOTIFY_COUNTERS, s->id, s->boot);
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct ease_snapshot snapshot = fleet_snapshot(r, s, p);

		trap_add_snapshot(&m, &snapshot);
	}
	send_as(r, s, &m);
}

static void
send_sflow(struct attack_rig *r, struct fleet_switch *s)
{
	static struct sflow_builder b;
	bool counters = r->counters_second == r->second;

	b.n = 0;
	built_begin(&b, s->address, 0, ++s->datagram,
	    (uint32_t)((r->clock.manual_mono_us - s->started_us) / 1000), FLEET_PORTS * (counters ? 2u : 1u));
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct fleet_port *port = &s->ports[p];
		const struct built_flow flow = {.sequence = ++port->sequence, .index = (uint32_t)p + 1,
		    .rate = FLEET_SKIP, .pool = (uint32_t)port->pkts, .input = (uint32_t)p + 1,
		    .frame_octets = FLEET_FRAME_OCTETS, .stripped = 4, .kept = HEADER_OCTETS,
		    .header = frame_of(s, port->sequence)};

		built_add_flow(&b, &flow);
		note_sent(port);
		if (!counters)
			continue;
		built_add_counters(&b, &(struct built_counters){.sequence = ++s->counters[p],
		    .index = (uint32_t)p + 1, .speed_bps = 1000000000, .status = 3,
		    .in_octets = port->octets, .in = {(uint32_t)port->pkts}});
		heard(port);
	}
	attack_send_sflow(r, s->address, &b);
}

static void
count(struct fleet_switch *s, uint64_t seconds)
{
	for (int p = 0; p < FLEET_PORTS; p++) {
		s->ports[p].pkts += FLEET_SKIP * seconds;
		s->ports[p].octets += (uint64_t)FLEET_SKIP * FLEET_FRAME_OCTETS * seconds;
	}
}

/* What a switch samples while its way is cut. Before it was first heard nobody can know of it. */
static void
lose(struct fleet_switch *s, uint32_t samples)
{
	s->datagram += samples; /* each second has one, with a sample of each port */
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct fleet_port *port = &s->ports[p];

		if (!port->heard)
			continue;
		port->sequence += samples;
		port->lost_samples += samples;
		port->missing += samples;
	}
}

void
fleet_restart(struct attack_rig *r, struct fleet_switch *s, uint32_t boot)
{
	s->boot = boot;
	s->started_us = r->clock.manual_mono_us;
	s->discontinuity_us = device_us(r, s);
	s->datagram = 0;
	for (int p = 0; p < FLEET_PORTS; p++) {
		struct fleet_port *port = &s->ports[p];

		if (port->heard) {
			port->counted_pkts += port->pkts - port->first_pkts;
			port->counted_octets += port->octets - port->first_octets;
		}
		memmove(port->sent_before + 1, port->sent_before, sizeof(port->sent_before) - sizeof(uint64_t));
		memmove(port->lost_before + 1, port->lost_before, sizeof(port->lost_before) - sizeof(uint64_t));
		port->sent_before[0] = port->sent_samples;
		port->lost_before[0] = port->lost_samples;
		port->heard = false;
		port->sequence = 0;
		port->missing = 0;
		port->pkts = port->octets = 0;
		s->counters[p] = 0;
	}
}

/* ---- sending ---- */

static uint64_t
real_us(void)
{
	return clock_mono_us(&clock_system);
}

static uint64_t
busy_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND_US + (uint64_t)t.tv_nsec / 1000;
}

/* In which nothing else is received; when it began, by both clocks. */
struct stretch {
	uint64_t real_us, busy_us;
};

/* Of a datagram no processor time: to ask for that takes as long as many a datagram. */
static void
note_longest(struct attack_rig *r, uint64_t began_us)
{
	uint64_t us = real_us() - began_us;

	if (us > r->longest_us)
		r->longest_us = us;
}

static void
note_stretch(struct attack_rig *r, const struct stretch *began)
{
	uint64_t of_it_us = busy_us() - began->busy_us;

	note_longest(r, began->real_us);
	if (of_it_us > r->longest_busy_us)
		r->longest_busy_us = of_it_us;
}

/* What collector.c's loop does with each datagram and with a batch that fills. */
static void
take(struct attack_rig *r, uint32_t from, const uint8_t *octets, size_t n, bool sflow)
{
	bool is_attacker = from == ATTACKER;
	uint32_t address = from + (is_attacker && r->scatters ? (uint32_t)r->sent % 60000 : 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(40000),
	    .sin_addr.s_addr = htonl(address)};
	struct collector *c = r->collector;
	uint64_t began_us = real_us();

	if (sflow)
		input_take_sflow(c->input, (const struct sockaddr *)&at, octets, n);
	else
		input_take(c->input, (const struct sockaddr *)&at, octets, n);
	slow_path_run(c->slow_path);
	note_longest(r, began_us);
	r->sent += is_attacker;
	if (store_batch_is_filling(c->batch)) {
		struct stretch stretch;

		store_drain(c->store);
		stretch = (struct stretch){real_us(), busy_us()};
		collector_flush(c);
		note_stretch(r, &stretch);
	}
}

void
attack_send(struct attack_rig *r, uint32_t from, const uint8_t *octets, size_t n)
{
	take(r, from, octets, n, false);
}

void
attack_send_trap(struct attack_rig *r, uint32_t from, const struct trap_message *m)
{
	static uint8_t octets[ATTACK_MESSAGE_MAX];

	take(r, from, octets, trap_build(m, octets, sizeof(octets)), false);
}

void
attack_send_v3(struct attack_rig *r, uint32_t from, struct attack_v3_user *user, uint32_t boots,
    uint32_t time_s, const struct trap_message *m)
{
	static uint8_t v2c[ATTACK_MESSAGE_MAX], octets[ATTACK_MESSAGE_MAX];
	size_t n = trap_build(m, v2c, sizeof(v2c));

	take(r, from, octets, attack_v3_message(user, boots, time_s, v2c, n, octets, sizeof(octets)), false);
}

void
attack_send_sflow(struct attack_rig *r, uint32_t from, const struct sflow_builder *b)
{
	take(r, from, b->octets, b->n, true);
}

/* ---- time ---- */

static void
turn(struct attack_rig *r)
{
	struct stretch stretch = {real_us(), busy_us()};

	collector_turn(r->collector);
	note_stretch(r, &stretch);
	ck_assert_int_eq((r->rests ? store_rest : store_drain)(r->collector->store), 0);
}

void
attack_rig_step(struct attack_rig *r, uint64_t seconds)
{
	clock_step_us(&r->clock, seconds * SECOND_US);
	r->second += seconds;
	if (r->second / FLEET_COUNTERS_S != (r->second - seconds) / FLEET_COUNTERS_S)
		r->counters_second = r->second;
	for (int i = 0; i < FLEET_SWITCHES; i++) {
		struct fleet_switch *s = &r->fleet[i];

		count(s, seconds);
		if (s->silent)
			lose(s, 1);
		else if (s->way == FLEET_BY_SFLOW)
			send_sflow(r, s);
		else
			send_traps(r, s);
	}
	turn(r);
}

void
attack_rig_night(struct attack_rig *r, uint64_t seconds)
{
	clock_step_us(&r->clock, seconds * SECOND_US);
	r->second += seconds;
	for (int i = 0; i < FLEET_SWITCHES; i++) {
		count(&r->fleet[i], seconds);
		lose(&r->fleet[i], (uint32_t)seconds);
	}
	if (r->collector)
		turn(r);
}

/* ---- opening and closing ---- */

void
attack_rig_open(struct attack_rig *r, uint64_t seed, const char *further)
{
	static const uint8_t other_id[8] = {6, 6, 6, 6, 6, 6, 6, 6};

	memset(r, 0, sizeof(*r));
	r->random = seed;
	attack_draw(r, 1);
	r->clock = (struct clock){.manual = true, .manual_wall_us = NOON_US, .manual_mono_us = 2 * DAY_US};
	strcpy(r->dir, "/tmp/ease-attacks-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(r->dir));
	snprintf(r->conf, sizeof(r->conf), "%s/conf", r->dir);
	snprintf(r->db, sizeof(r->db), "%s/ease.db", r->dir);
	snprintf(r->log, sizeof(r->log), "%s/log", r->dir);
	r->log_fd = open(r->log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(r->log_fd, 0);
	log_set_fd(r->log_fd);
	attack_v3_begin();
	attack_v3_user(&r->other, ATTACK_USER, other_id, AUTH_PASSPHRASE, PRIV_PASSPHRASE);
	for (int i = 0; i < FLEET_SWITCHES; i++)
		make_switch(r, i);
	write_config(r, further);
	open_collector(r);
}

void
attack_rig_close(struct attack_rig *r)
{
	/* The last counters, and windows that close. */
	do {
		attack_rig_step(r, 1);
	} while (r->counters_second != r->second);
	attack_rig_stop(r);
}

void
attack_rig_stop(struct attack_rig *r)
{
	ck_assert_int_eq(collector_stop(r->collector), 0);
	collector_close(r->collector);
	r->collector = NULL;
}

void
attack_rig_start(struct attack_rig *r)
{
	open_collector(r);
}

void
attack_rig_remove(struct attack_rig *r)
{
	char command[256];

	collector_config_free(&r->config);
	log_set_fd(-1);
	close(r->log_fd);
	snprintf(command, sizeof(command), "%s '%s'; rm -rf '%s'", getenv("EASE_ATTACKS_LOG") ? "cat" : ":", r->log,
	    r->dir);
	ck_assert_int_eq(system(command), 0);
}

void
attack_expect_named(const struct attack_rig *r, const char *who, const char *when)
{
	char command[256], sql[512];

	snprintf(command, sizeof(command), "grep -v ' info stat: ' '%s' | grep -qF '%s'", r->log, who);
	ck_assert_msg(system(command) == 0, "%s: no line of the log names %s", when, who);
	snprintf(sql, sizeof(sql), "SELECT (SELECT count(*) FROM agent WHERE address = '%1$s') + (SELECT count(*) FROM"
	    " agent_source WHERE source = '%1$s') + (SELECT count(*) FROM agent_refused WHERE source = '%1$s') +"
	    " (SELECT count(*) FROM refused_sender WHERE address = '%1$s')", who);
	ck_assert_msg(sql_number(r->db, sql) > 0, "%s: `agents` has nothing of %s", when, who);
}

uint64_t
attack_store_octets(const struct attack_rig *r)
{
	char wal[128];
	struct stat st;
	uint64_t n = 0;

	snprintf(wal, sizeof(wal), "%s-wal", r->db);
	if (stat(r->db, &st) == 0)
		n += (uint64_t)st.st_size;
	if (stat(wal, &st) == 0)
		n += (uint64_t)st.st_size;
	return n;
}

/* ---- what the store must have ---- */

/* One row for each agent of the store. */
struct found {
	double samples, received, expected, duplicates, pkts, octets;
};

static bool
find(sqlite3_stmt *stmt, const struct fleet_switch *s, struct found *found)
{
	char address[INET_ADDRSTRLEN];
	struct in_addr at = {htonl(s->address)};
	int rc;

	inet_ntop(AF_INET, &at, address, sizeof(address));
	sqlite3_reset(stmt);
	sqlite3_bind_blob(stmt, 1, s->id, s->way == FLEET_BY_SFLOW ? 0 : 8, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, 2, s->way == FLEET_BY_SFLOW ? address : "", -1, SQLITE_TRANSIENT);
	rc = sqlite3_step(stmt);
	ck_assert(rc == SQLITE_ROW || rc == SQLITE_DONE);
	if (rc == SQLITE_DONE)
		return false;
	*found = (struct found){sqlite3_column_double(stmt, 0), sqlite3_column_double(stmt, 1),
	    sqlite3_column_double(stmt, 2), sqlite3_column_double(stmt, 3), sqlite3_column_double(stmt, 4),
	    sqlite3_column_double(stmt, 5)};
	return true;
}

/* 1 if what was found is not what was sent; some of these are printed. */
static int
differs(const char *what, int i, double is, double must)
{
	static int printed;

	if (is == must)
		return 0;
	if (printed++ < DIFFERENCES_PRINTED)
		printf("    switch %d: %s: %.0f instead of %.0f\n", i, what, is, must);
	fflush(stdout);
	return 1;
}

void
attack_expect_fleet(const struct attack_rig *r, const char *when)
{
	static const char sql[] = "SELECT"
	    " (SELECT sum(n) FROM window w WHERE w.agent = a.id),"
	    " (SELECT sum(received) FROM account c WHERE c.agent = a.id),"
	    " (SELECT sum(expected) FROM account c WHERE c.agent = a.id),"
	    " (SELECT sum(duplicates) FROM account c WHERE c.agent = a.id),"
	    " (SELECT sum(pool_pkts) FROM window w WHERE w.agent = a.id AND direction = 1) +"
	    " (SELECT ifnull(sum(in_pkts), 0) FROM gap g WHERE g.agent = a.id),"
	    " (SELECT sum(pool_octets) FROM window w WHERE w.agent = a.id AND direction = 1) +"
	    " (SELECT ifnull(sum(in_octets), 0) FROM gap g WHERE g.agent = a.id)"
	    " FROM agent a WHERE agent_id = ?1 OR (address = ?2 AND address = (SELECT source FROM agent_source WHERE agent = a.id))";
	sqlite3 *db = unpacked_open(r->db, sql);
	sqlite3_stmt *stmt = NULL;
	int wrong = 0;

	ck_assert_ptr_nonnull(db);
	sqlite3_exec(db, "CREATE INDEX temp.window_agent ON window(agent)", NULL, NULL, NULL);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	for (int i = 0; i < FLEET_SWITCHES; i++) {
		const struct fleet_switch *s = &r->fleet[i];
		uint64_t sent = 0, lost = 0, pkts = 0, octets = 0, old = 0, old_lost = 0;
		struct found found = {0};

		if (s->exempt)
			continue;
		for (int p = 0; p < FLEET_PORTS; p++) {
			const struct fleet_port *port = &s->ports[p];

			sent += port->sent_samples;
			lost += port->lost_samples;
			old += port->sent_before[FLEET_BOOTS - 1];
			old_lost += port->lost_before[FLEET_BOOTS - 1];
			pkts += port->counted_pkts + port->pkts - port->first_pkts;
			octets += port->counted_octets + port->octets - port->first_octets;
		}
		wrong += differs("agents in the store", i, find(stmt, s, &found), 1) +
		    differs("samples in windows", i, found.samples, (double)sent) +
		    differs("samples received", i, found.received, (double)(sent - old)) +
		    differs("samples expected", i, found.expected,
			(double)(sent - old + lost - old_lost)) +
		    differs("duplicates", i, found.duplicates, 0) +
		    differs("frames counted", i, found.pkts, (double)pkts) +
		    differs("octets counted", i, found.octets, (double)octets);
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	ck_assert_msg(wrong == 0, "%s: %d figures of the honest fleet are wrong", when, wrong);
}
