/*
 * What an attack is tried against: a whole collector without sockets, on a clock that is stepped, and an honest
 * fleet of switches that send by SNMPv2c, SNMPv3 and sFlow, each from its own address. The fleet remembers what it
 * sent; afterwards the collector's store must have exactly that, whoever else sent beside it: each sample, each
 * octet that was counted, and no number that was never given out. The store is drained whenever it has work, as
 * one that keeps up; so a run depends on its seed alone, and hours take seconds.
 */
#ifndef EASE_TESTS_ATTACK_RIG_H
#define EASE_TESTS_ATTACK_RIG_H

#include "collector/collector.h"
#include "collector/collector_private.h"
#include "tests/attacks/attack_v3.h"
#include "tests/collector/input/trap_builder.h"
#include "tests/common/sflow_builder.h"

#define SECOND_US 1000000ull
#define HOUR_US	  (3600 * SECOND_US)
#define DAY_US	  (24 * HOUR_US)
#define NOON_US	  (1700000040ull * SECOND_US)

enum {
	FLEET_SWITCHES = 100,
	FLEET_PORTS = 2,
	FLEET_BOOTS = 8, /* of which the store keeps accounts */
	FLEET_V3 = 10,	  /* the first of them use SNMPv3, */
	FLEET_SFLOW = 10, /* the next sFlow, the others SNMPv2c */
	FLEET_SKIP = 100,
	FLEET_FRAME_OCTETS = 500,
	FLEET_COUNTERS_S = 20,
	ATTACKER = 0x0a420001, /* 10.66.0.1, which senders allows like the others */
	/* switches whose ids are what version 25 made of sFlow from the attacker and from the address after it */
	FLEET_HASHED = 51,
	FLEET_HASHED_V3 = 4,
	ATTACK_MESSAGE_MAX = 9216,
};

#define FLEET_COMMUNITY "fleet"
#define ATTACK_USER	"other" /* an SNMPv3 user with keys of its own, of an engine that is no switch's */

enum fleet_way { FLEET_BY_V2C, FLEET_BY_V3, FLEET_BY_SFLOW };

struct fleet_port {
	uint32_t sequence; /* of the newest sample of this boot */
	uint64_t pkts, octets; /* received, since the switch began to count */
	uint64_t first_pkts, first_octets; /* when the collector first heard the counters */
	/* Of the newest boots, newest first, what had been sent and lost before each. */
	uint64_t sent_before[FLEET_BOOTS], lost_before[FLEET_BOOTS];
	uint64_t sent_samples, lost_samples; /* in all boots; lost: given out while the way was cut */
	uint64_t missing; /* of these, since the newest that was sent */
	uint64_t counted_pkts, counted_octets; /* in boots before this one, since the first was heard */
	bool heard;
};

struct fleet_switch {
	enum fleet_way way;
	uint32_t address; /* host order */
	uint8_t id[8];	  /* by sFlow: as the collector makes it */
	uint32_t boot;
	int64_t clock_off_us; /* its clock less ours */
	bool exempt;	      /* its own figures are not looked at */
	bool silent;	      /* the way from it is cut: it counts and samples on */
	uint32_t datagram;    /* sFlow's sequence numbers */
	uint32_t flow[FLEET_PORTS], counters[FLEET_PORTS];
	uint64_t started_us; /* by the monotonic clock */
	uint64_t discontinuity_us; /* of its counters, by its own clock; 0: none */
	struct attack_v3_user user;
	struct fleet_port ports[FLEET_PORTS];
};

struct attack_rig {
	bool rests; /* each step waits for the store's upkeep, too, as hours pass in seconds */
	char dir[64], conf[96], db[96], log[96];
	int log_fd; /* of the collector's log, in which an attacker must be named */
	struct clock clock;
	struct collector_config config;
	struct collector *collector;
	uint64_t random;
	struct fleet_switch fleet[FLEET_SWITCHES];
	struct attack_v3_user other;
	uint64_t sent; /* datagrams of attackers */
	bool scatters; /* the attacker has another address for each datagram */
	/* the longest that a datagram, a flush or a turn took, in which nothing else is received: by the real clock, and
	 * of this thread's processor time; for people */
	uint64_t longest_us, longest_busy_us;
	uint64_t second; /* since the start */
	uint64_t counters_second; /* when the fleet sent counters last */
};

/* Opens collector and fleet. further: lines of the configuration, or NULL. */
void attack_rig_open(struct attack_rig *r, uint64_t seed, const char *further);

/* Stops the collector, which writes everything; opens another on the same store. In between nobody may send. */
void attack_rig_stop(struct attack_rig *r);
void attack_rig_start(struct attack_rig *r);

/* Stops the collector; the store's file stays until attack_rig_remove. */
void attack_rig_close(struct attack_rig *r);
void attack_rig_remove(struct attack_rig *r);

uint64_t attack_draw(struct attack_rig *r, uint64_t below);

/* So many seconds: the clock steps, each switch that is not silent sends a sample of each port, and its counters
 * if 20 s have begun; then the collector takes its turn. */
void attack_rig_step(struct attack_rig *r, uint64_t seconds);

/* So many seconds in which every way is cut: one step. */
void attack_rig_night(struct attack_rig *r, uint64_t seconds);

/* The agent of the switch begins anew, with that boot, and its counters and numbers with it. By sFlow the
 * boot is not sent. */
void fleet_restart(struct attack_rig *r, struct fleet_switch *s, uint32_t boot);

/* A notification, or a datagram of sFlow, from an address (host order). */
void attack_send(struct attack_rig *r, uint32_t from, const uint8_t *octets, size_t n);
void attack_send_trap(struct attack_rig *r, uint32_t from, const struct trap_message *m);
void attack_send_v3(struct attack_rig *r, uint32_t from, struct attack_v3_user *user, uint32_t boots,
    uint32_t time_s, const struct trap_message *m);
void attack_send_sflow(struct attack_rig *r, uint32_t from, const struct sflow_builder *b);

/* What switch i says of port p now, by its own clock. */
struct ease_snapshot fleet_snapshot(const struct attack_rig *r, const struct fleet_switch *s, int p);
struct ease_sample fleet_sample(const struct attack_rig *r, const struct fleet_switch *s, int p,
    uint32_t sequence);

uint64_t attack_stat(const struct attack_rig *r, const char *name);

/* After attack_rig_close: the store has what the fleet sent, and nothing else in its name. */
void attack_expect_fleet(const struct attack_rig *r, const char *when);

/* After attack_rig_close: the log has a line with that text, and `agents` shows it as an agent, a source or a sender
 * that was refused. */
void attack_expect_named(const struct attack_rig *r, const char *who, const char *when);

/* Octets of the store's files. */
uint64_t attack_store_octets(const struct attack_rig *r);

#endif
