/*
 * The TNETX4090's flow control and statistics, against every number of the notes on its data sheet
 * (pages 24, 25, 27, 56, 57), and the driver over the model.
 */
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/tnetx4090.h"
#include "agent/sim/chip/tnetx4090_model.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

enum { BASE = 0x100000 };

static struct bus_model *bus;
static struct bus cpu;
static struct tnetx4090_model *chip;

/* 0..7 full duplex with pause at 100 Mbit/s but 2 (half duplex) and 3 (no pause); 8 gigabit. */
static struct tnetx4090_model_config
config_of(uint32_t n_buffers)
{
	struct tnetx4090_model_config config = {.bus = bus, .base = BASE, .n_buffers = n_buffers};

	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		config.partners[i] = (struct tnetx4090_partner){
		    .speed_mbps = i == 8 ? 1000 : 100, .full_duplex = i != 2, .pause = i != 3};
	return config;
}

static void
start(const struct tnetx4090_model_config *config)
{
	ck_assert_int_eq(tnetx4090_model_create(config, &chip), 0);
}

static void
poke(uint32_t address, uint32_t value)
{
	ck_assert_int_eq(bus_write(&cpu, BASE + address, value), 0);
}

static uint32_t
peek(uint32_t address)
{
	uint32_t value;

	ck_assert_int_eq(bus_read(&cpu, BASE + address, &value), 0);
	return value;
}

static uint32_t
peek_4(uint32_t address)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 4; i++)
		value |= peek(address + i) << 8 * i;
	return value;
}

static void
set_flow(bool flow, bool holb, uint32_t threshold)
{
	poke(TNETX4090_SYS_CONTROL, (flow ? TNETX4090_FLOW : 0u) | (holb ? TNETX4090_HOLB : 0u));
	poke(TNETX4090_FLOW_THRESHOLD, threshold & 0xff);
	poke(TNETX4090_FLOW_THRESHOLD + 1, threshold >> 8);
}

static void
set_up(void)
{
	ck_assert_int_eq(bus_model_create(&bus), 0);
	cpu = bus_model_cpu(bus);
	chip = NULL;
}

static void
tear_down(void)
{
	tnetx4090_model_destroy(chip);
	bus_model_destroy(bus);
}

/* A pool with so many free, all taken by a port that is not tested (1). */
static void
start_with_free(uint32_t free, uint32_t speed_of_8)
{
	struct tnetx4090_model_config config = config_of(1200);

	config.partners[8].speed_mbps = speed_of_8;
	start(&config);
	set_flow(true, false, 200);
	while (chip->free > free)
		tnetx4090_model_charge(chip, 1, 1);
	tnetx4090_model_press(chip, 0);
}

/* Section 4's table: T = 200, pool 1200. */
static const struct {
	uint32_t free;
	bool port_0, gigabit, port_8_at_100;
} thresholds[] = {
    {201, false, false, false}, {200, true, false, true}, {101, true, false, true},
    {100, true, true, true},
};

START_TEST(threshold_table)
{
	start_with_free(thresholds[_i].free, 1000);
	ck_assert_int_eq(tnetx4090_model_back_pressure(chip, 0), thresholds[_i].port_0);
	ck_assert_int_eq(tnetx4090_model_back_pressure(chip, 8), thresholds[_i].gigabit);
	tear_down();
	set_up();
	start_with_free(thresholds[_i].free, 100);
	ck_assert_int_eq(tnetx4090_model_back_pressure(chip, 8), thresholds[_i].port_8_at_100);
}
END_TEST

/* The same table's last two rows: on the way back up, and what each kind of port does. */
START_TEST(threshold_released)
{
	start_with_free(100, 1000);
	tnetx4090_model_release(chip, 1, 1, 10);
	ck_assert_uint_eq(chip->free, 101);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 0, 1, 10), TNETX4090_PAUSE);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 2, 1, 10), TNETX4090_COLLIDE);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 3, 1, 10), TNETX4090_DROP);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 8, 1, 10), TNETX4090_ACCEPT);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 8, 1, 10), TNETX4090_PAUSE);
	tnetx4090_model_release(chip, 1, 101, 20);
	ck_assert_uint_eq(chip->free, 201);
	for (unsigned port = 0; port < TNETX4090_PORTS; port++)
		ck_assert(!tnetx4090_model_back_pressure(chip, port));
	ck_assert_int_eq(tnetx4090_model_admit(chip, 0, 1, 20), TNETX4090_ACCEPT);
	ck_assert_uint_eq(peek_4(TNETX4090_STAT(3, TNETX4090_RX_OVERRUNS)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_STAT(2, TNETX4090_COLLISIONS)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_STAT(0, TNETX4090_RX_OVERRUNS)), 0);
}
END_TEST

/* An odd threshold is halved downwards. */
START_TEST(half_of_an_odd_threshold)
{
	struct tnetx4090_model_config config = config_of(1200);

	start(&config);
	set_flow(true, false, 201);
	ck_assert_uint_eq(chip->ports[8].threshold, 100);
	ck_assert_uint_eq(chip->ports[0].threshold, 201);
}
END_TEST

/* flow = 0: no back pressure at all; what finds no room is dropped at its ingress port. */
START_TEST(without_flow_control_frames_are_dropped)
{
	struct tnetx4090_model_config config = config_of(48);

	start(&config);
	set_flow(false, true, 40);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 0, 24, 0), TNETX4090_ACCEPT);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 0, 23, 0), TNETX4090_ACCEPT);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 2, 2, 0), TNETX4090_DROP);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 2, 1, 0), TNETX4090_ACCEPT);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 4, 1, 0), TNETX4090_DROP);
	ck_assert_uint_eq(chip->free, 0);
	ck_assert_uint_eq(peek_4(TNETX4090_STAT(2, TNETX4090_RX_OVERRUNS)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_STAT(4, TNETX4090_RX_OVERRUNS)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(0, TNETX4090_PRESSED_EPISODES)), 0);
}
END_TEST

/* --- fair share (section 5) --- */

/* One buffer at a time until back pressure is on; how many were charged then. */
static uint32_t
fill(unsigned port)
{
	while (tnetx4090_model_admit(chip, port, 1, 0) == TNETX4090_ACCEPT)
		;
	return chip->ports[port].charged;
}

static const struct fair_share {
	uint32_t n, a, a_free, b, b_free;
	uint32_t released_a, released_b, released_free; /* B refills at every chance */
	uint32_t alone_a, alone_free;			/* B sends nothing more */
} fair_shares[] = {
    {1200, 601, 599, 300, 299, 399, 401, 400, 450, 450},
    {1000, 501, 499, 250, 249, 333, 334, 333, 375, 375},
    {1023, 512, 511, 256, 255, 340, 342, 341, 383, 384},
    {256, 129, 127, 64, 63, 85, 86, 85, 96, 96},
    {12, 7, 5, 3, 2, 3, 5, 4, 4, 5},
};

static void
fill_both(const struct fair_share *row)
{
	struct tnetx4090_model_config config = config_of(row->n);

	start(&config);
	set_flow(true, true, 0);
	ck_assert_uint_eq(fill(0), row->a);
	ck_assert_uint_eq(chip->free, row->a_free);
	ck_assert_uint_eq(fill(1), row->b);
	ck_assert_uint_eq(chip->free, row->b_free);
}

START_TEST(fair_share_table)
{
	const struct fair_share *row = &fair_shares[_i];

	fill_both(row);
	while (tnetx4090_model_back_pressure(chip, 0)) {
		tnetx4090_model_release(chip, 0, 1, 0);
		fill(1);
	}
	ck_assert_uint_eq(chip->ports[0].charged, row->released_a);
	ck_assert_uint_eq(chip->ports[1].charged, row->released_b);
	ck_assert_uint_eq(chip->free, row->released_free);
}
END_TEST

START_TEST(fair_share_table_when_b_is_silent)
{
	const struct fair_share *row = &fair_shares[_i];

	fill_both(row);
	while (tnetx4090_model_back_pressure(chip, 0))
		tnetx4090_model_release(chip, 0, 1, 0);
	ck_assert_uint_eq(chip->ports[0].charged, row->alone_a);
	ck_assert_uint_eq(chip->free, row->alone_free);
}
END_TEST

/* Invariants 1 and 2: port k of those that fill one after the other stops at about N / 2^k, and
 * one with nothing charged is never pressed. */
START_TEST(backlogged_ports_halve_what_is_left)
{
	struct tnetx4090_model_config config = config_of(4096);

	start(&config);
	set_flow(true, true, 0);
	for (unsigned k = 1; k <= 8; k++) {
		uint32_t fair = 4096u >> k, charged;

		ck_assert(!tnetx4090_model_back_pressure(chip, k - 1));
		charged = fill(k - 1);
		ck_assert_uint_ge(charged, fair - 1);
		ck_assert_uint_le(charged, fair + 1);
	}
	ck_assert(!tnetx4090_model_back_pressure(chip, 8));
}
END_TEST

/* The fast path's shortcut is the rule: random traffic, every verdict from the rule itself. */
START_TEST(shortcut_equals_the_rule)
{
	struct tnetx4090_model_config config = config_of(300);
	uint64_t state = 88172645463325252ull + (uint64_t)_i;
	uint64_t now = 0;

	start(&config);
	set_flow(_i & 1, _i & 2, _i & 4 ? 60 : 0);
	for (int step = 0; step < 20000; step++) {
		unsigned port;
		uint32_t buffers;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		port = (state >> 8) % TNETX4090_PORTS;
		buffers = 1 + (state >> 20) % 24;
		now += (state >> 32) % 1000;
		if (state >> 63) {
			bool pressed = tnetx4090_model_back_pressure(chip, port);
			enum tnetx4090_verdict want = TNETX4090_ACCEPT;

			if (pressed)
				want = port == 2 ? TNETX4090_COLLIDE
				    : port == 3 ? TNETX4090_DROP
						: TNETX4090_PAUSE;
			else if (chip->free < buffers)
				want = TNETX4090_DROP;
			ck_assert_int_eq(tnetx4090_model_admit(chip, port, buffers, now), want);
		} else {
			if (buffers > chip->ports[port].charged)
				buffers = chip->ports[port].charged;
			tnetx4090_model_release(chip, port, buffers, now);
		}
		for (port = 0; port < TNETX4090_PORTS; port++)
			ck_assert_int_eq(chip->pressed >> port & 1,
			    tnetx4090_model_back_pressure(chip, port));
	}
}
END_TEST

/* --- the other mechanisms (page 57) --- */

START_TEST(flow_pin)
{
	struct tnetx4090_model_config config = config_of(1200);

	start(&config);
	set_flow(true, false, 200);
	tnetx4090_model_charge(chip, 0, 1000);
	ck_assert_uint_eq(chip->free, 200);
	ck_assert(!tnetx4090_model_flow_pin(chip)); /* "less than" */
	tnetx4090_model_charge(chip, 0, 1);
	ck_assert(tnetx4090_model_flow_pin(chip));
	tnetx4090_model_release(chip, 0, 301, 0);
	ck_assert_uint_eq(chip->free, 500);
	ck_assert(!tnetx4090_model_flow_pin(chip));
	poke(TNETX4090_RING_PORTS, 1 << 0); /* port 0 is in the ring and beyond its share */
	ck_assert(tnetx4090_model_flow_pin(chip));
	poke(TNETX4090_RING_PORTS + 1, TNETX4090_RING_HOLBRM >> 8);
	ck_assert(!tnetx4090_model_flow_pin(chip));
}
END_TEST

START_TEST(multicast_limit)
{
	struct tnetx4090_model_config config = config_of(1200);

	start(&config);
	poke(TNETX4090_MCAST_LIMIT, 1 << 4);
	for (unsigned step = 0; step < TNETX4090_MCAST_STEPS; step++) {
		unsigned limit = 2u << step; /* 2..256 */

		poke(TNETX4090_MCAST_LIMIT + 2, step);
		for (unsigned n = 0; n < limit; n++) {
			ck_assert_uint_eq(tnetx4090_model_mcast_full(chip), 0);
			tnetx4090_model_mcast_queued(chip, 4);
			tnetx4090_model_mcast_queued(chip, 5); /* the limit is not for it */
		}
		ck_assert_uint_eq(tnetx4090_model_mcast_full(chip), 1 << 4);
		tnetx4090_model_mcast_left_out(chip, 4);
		tnetx4090_model_mcast_sent(chip, 4);
		ck_assert_uint_eq(tnetx4090_model_mcast_full(chip), 0);
		for (unsigned n = 1; n < limit; n++)
			tnetx4090_model_mcast_sent(chip, 4);
	}
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(4, TNETX4090_MCAST_LEFT_OUT)), 8);
}
END_TEST

/* What is agreed is what both want (pages 34 and 37). */
START_TEST(negotiation)
{
	struct tnetx4090_model_config config = config_of(1200);
	const uint32_t both = TNETX4090_STATUS_DUPLEX | TNETX4090_STATUS_PAUSE |
	    TNETX4090_STATUS_SPEED | TNETX4090_STATUS_LINK;

	config.partners[7].speed_mbps = 0;
	start(&config);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 0), both);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 2), TNETX4090_STATUS_SPEED |
	    TNETX4090_STATUS_LINK);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 3), both & ~(uint32_t)TNETX4090_STATUS_PAUSE);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 7) & TNETX4090_STATUS_LINK, 0);
	poke(TNETX4090_PORT_CONTROL + 0, TNETX4090_PORT_REQNP);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 0), both); /* not before neg */
	poke(TNETX4090_PORT_CONTROL + 0, TNETX4090_PORT_REQNP | TNETX4090_PORT_NEG);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 0), both & ~(uint32_t)TNETX4090_STATUS_PAUSE);
	poke(TNETX4090_PORT_CONTROL + 0,
	    TNETX4090_PORT_REQHD | TNETX4090_PORT_REQ10 | TNETX4090_PORT_NEG);
	ck_assert_uint_eq(peek(TNETX4090_PORT_STATUS + 0), TNETX4090_STATUS_LINK);
}
END_TEST

/* --- episodes --- */

START_TEST(episodes_and_pause_frames)
{
	/* 0xffff times 512 bit times at 100 Mbit/s: 335.5 ms; asked again at half of it. */
	const uint64_t half_ns = 65535ull * 512 * 10 / 2;

	start_with_free(201, 1000);
	ck_assert_int_eq(tnetx4090_model_admit(chip, 4, 1, 5000), TNETX4090_ACCEPT);
	tnetx4090_model_settle(chip, 5000 + half_ns - 1);
	ck_assert_uint_eq(tnetx4090_model_collect_pauses(chip, 0), 1);
	tnetx4090_model_settle(chip, 5000 + 3 * half_ns);
	ck_assert_uint_eq(tnetx4090_model_collect_pauses(chip, 0), 3);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(0, TNETX4090_PRESSED_US)), 3 * half_ns / 1000);
	tnetx4090_model_release(chip, 4, 1, 5000 + 3 * half_ns + 1000000);
	ck_assert_uint_eq(tnetx4090_model_collect_pauses(chip, 0), 1); /* the last lets go */
	ck_assert_uint_eq(tnetx4090_model_collect_pauses(chip, 0), 0);
	ck_assert_uint_eq(tnetx4090_model_collect_pauses(chip, 2), 0); /* half duplex sends none */
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(0, TNETX4090_PAUSES_SENT)), 5);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(0, TNETX4090_PRESSED_EPISODES)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(2, TNETX4090_PRESSED_EPISODES)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(8, TNETX4090_PRESSED_EPISODES)), 0);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(2, TNETX4090_PRESSED_US)),
	    (3 * half_ns + 1000000) / 1000);
}
END_TEST

/* A multicast stays charged to its source until the slowest destination has sent it, whatever
 * else happens: the pool's accounts always close. */
START_TEST(pool_accounts)
{
	struct tnetx4090_model_config config = config_of(1200);

	start(&config);
	ck_assert_uint_eq(tnetx4090_model_buffers(chip, 1536), 24);
	ck_assert_uint_eq(tnetx4090_model_buffers(chip, 64), 1);
	ck_assert_uint_eq(tnetx4090_model_buffers(chip, 65), 2);
	tnetx4090_model_admit(chip, 6, 24, 0);
	tnetx4090_model_admit(chip, 6, 1, 0);
	tnetx4090_model_admit(chip, 1, 10, 0);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(6, TNETX4090_CHARGED)), 25);
	ck_assert_uint_eq(peek(TNETX4090_NM_FREEBUFFS) | peek(TNETX4090_NM_FREEBUFFS + 1) << 8,
	    1165);
	tnetx4090_model_release(chip, 6, 24, 0);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(6, TNETX4090_CHARGED)), 1);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(6, TNETX4090_MOST_CHARGED)), 25);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(9, TNETX4090_POOL_LEAST_FREE)), 1165);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(9, TNETX4090_POOL_BUFFERS)), 1200);
	ck_assert_uint_eq(peek_4(TNETX4090_POOL_AT(9, TNETX4090_POOL_BUFFER_OCTETS)), 64);
}
END_TEST

/* --- statistics (section 7) --- */

/* Table 3: where ports 0, 1, 7 and 8 have each statistic, as printed but for the doubtful rows. */
static const struct {
	enum tnetx4090_stat stat;
	uint32_t port_0, port_1, port_7, port_8;
} table_3[] = {
    {TNETX4090_RX_OCTETS, 0x8000, 0x8080, 0x8380, 0x8400},
    {TNETX4090_RX_GOOD, 0x8004, 0x8084, 0x8384, 0x8404},
    {TNETX4090_RX_BROADCAST, 0x8008, 0x8088, 0x8388, 0x8408},
    {TNETX4090_RX_MULTICAST, 0x800c, 0x808c, 0x838c, 0x840c},
    {TNETX4090_RX_CRC_ERRORS, 0x8010, 0x8090, 0x8390, 0x8410},
    {TNETX4090_RX_ALIGN_CODE_ERRORS, 0x8014, 0x8094, 0x8394, 0x8414},
    {TNETX4090_RX_OVERSIZED, 0x8018, 0x8098, 0x8398, 0x8418},
    {TNETX4090_RX_JABBERS, 0x801c, 0x809c, 0x839c, 0x841c},
    {TNETX4090_RX_UNDERSIZED, 0x8020, 0x80a0, 0x83a0, 0x8420},
    {TNETX4090_RX_FRAGMENTS, 0x8024, 0x80a4, 0x83a4, 0x8424},
    {TNETX4090_64_OCTETS, 0x8028, 0x80a8, 0x83a8, 0x8428},
    {TNETX4090_65_127_OCTETS, 0x802c, 0x80ac, 0x83ac, 0x842c},
    {TNETX4090_128_255_OCTETS, 0x8030, 0x80b0, 0x83b0, 0x8430},
    {TNETX4090_256_511_OCTETS, 0x8034, 0x80b4, 0x83b4, 0x8434},
    {TNETX4090_512_1023_OCTETS, 0x8038, 0x80b8, 0x83b8, 0x8438},
    {TNETX4090_1024_1518_OCTETS, 0x803c, 0x80bc, 0x83bc, 0x843c},
    {TNETX4090_NET_OCTETS, 0x8040, 0x80c0, 0x83c0, 0x8440},
    {TNETX4090_SQE_TEST_ERRORS, 0x8044, 0x80c4, 0x83c4, 0x8444},
    {TNETX4090_TX_OCTETS, 0x8048, 0x80c8, 0x83c8, 0x8448},
    {TNETX4090_TX_GOOD, 0x804c, 0x80cc, 0x83cc, 0x844c},
    {TNETX4090_TX_SINGLE_COLLISION, 0x8050, 0x80d0, 0x83d0, 0x8450},
    {TNETX4090_TX_MULTIPLE_COLLISION, 0x8054, 0x80d4, 0x83d4, 0x8454},
    {TNETX4090_CARRIER_SENSE_ERRORS, 0x8058, 0x80d8, 0x83d8, 0x8458},
    {TNETX4090_TX_DEFERRED, 0x805c, 0x80dc, 0x83dc, 0x845c},
    {TNETX4090_LATE_COLLISIONS, 0x8060, 0x80e0, 0x83e0, 0x8460},
    {TNETX4090_EXCESSIVE_COLLISIONS, 0x8064, 0x80e4, 0x83e4, 0x8464},
    {TNETX4090_TX_BROADCAST, 0x8068, 0x80e8, 0x83e8, 0x8468},
    {TNETX4090_TX_MULTICAST, 0x806c, 0x80ec, 0x83ec, 0x846c},
    {TNETX4090_RX_FILTERED, 0x8070, 0x80f0, 0x83f0, 0x8470},
    {TNETX4090_TX_DATA_ERRORS, 0x8074, 0x80f4, 0x83f4, 0x8474},
    {TNETX4090_COLLISIONS, 0x8078, 0x80f8, 0x83f8, 0x8478},
    {TNETX4090_RX_OVERRUNS, 0x807c, 0x80fc, 0x83fc, 0x847c},
};

START_TEST(statistics_are_where_table_3_has_them)
{
	struct tnetx4090_model_config config = config_of(1200);

	start(&config);
	for (uint32_t i = 0; i < sizeof(table_3) / sizeof(table_3[0]); i++) {
		tnetx4090_model_count(chip, 0, table_3[i].stat, 0x10000 + i);
		tnetx4090_model_count(chip, 1, table_3[i].stat, 0x20000 + i);
		tnetx4090_model_count(chip, 7, table_3[i].stat, 0x30000 + i);
		tnetx4090_model_count(chip, 8, table_3[i].stat, 0x40000 + i);
		ck_assert_uint_eq(peek_4(table_3[i].port_0), 0x10000 + i);
		ck_assert_uint_eq(peek_4(table_3[i].port_1), 0x20000 + i);
		ck_assert_uint_eq(peek_4(table_3[i].port_7), 0x30000 + i);
		ck_assert_uint_eq(peek_4(table_3[i].port_8), 0x40000 + i);
	}
	tnetx4090_model_count(chip, TNETX4090_NM_PORT, TNETX4090_RX_GOOD, 3);
	ck_assert_uint_eq(peek_4(0x8484), 3);
	ck_assert_int_eq(bus_read(&cpu, BASE + 0x8500, &(uint32_t){0}), -ENXIO); /* reserved */
}
END_TEST

/* Section 7.4's test of the holding register. */
START_TEST(statistics_are_read_whole)
{
	struct tnetx4090_model_config config = config_of(1200);
	const uint32_t at = TNETX4090_STAT(0, TNETX4090_RX_GOOD);
	uint32_t value;

	start(&config);
	tnetx4090_model_count(chip, 0, TNETX4090_RX_GOOD, 0xff);
	value = peek(at);
	tnetx4090_model_count(chip, 0, TNETX4090_RX_GOOD, 1);
	value |= peek(at + 1) << 8 | peek(at + 2) << 16 | peek(at + 3) << 24;
	ck_assert_uint_eq(value, 0x000000ff);
	ck_assert_uint_eq(peek_4(at), 0x00000100);
	tnetx4090_model_count(chip, 0, TNETX4090_RX_GOOD, 0xaa000000);
	ck_assert_uint_eq(peek(at + 3), 0); /* byte 3 first latches nothing */
	ck_assert_uint_eq(peek_4(at), 0xaa000100);
	poke(TNETX4090_STAT_CONTROL, TNETX4090_STAT_BIG_ENDIAN);
	ck_assert_uint_eq(peek_4(at), 0x000100aa);
	poke(TNETX4090_STAT_CONTROL, 0);
	tnetx4090_model_count(chip, 0, TNETX4090_RX_GOOD, 0x55ffff00); /* wraps, is not cleared */
	ck_assert_uint_eq(peek_4(at), 0);
	tnetx4090_model_count(chip, 0, TNETX4090_RX_GOOD, 5);
	ck_assert_uint_eq(peek_4(at), 5);
	ck_assert_uint_eq(peek_4(at), 5);
}
END_TEST

START_TEST(bad_configurations)
{
	struct tnetx4090_model_config config = config_of(65536);

	ck_assert_int_eq(tnetx4090_model_create(&config, &chip), -EINVAL);
	config.n_buffers = 100;
	config.buffer_octets = 100;
	ck_assert_int_eq(tnetx4090_model_create(&config, &chip), -EINVAL);
}
END_TEST

/* --- the driver --- */

static struct tnetx4090 *
start_driver(const struct tnetx4090_config *wanted)
{
	struct tnetx4090_config config = *wanted;
	struct tnetx4090 *driver;

	config.bus = &cpu;
	config.base = BASE;
	ck_assert_int_eq(tnetx4090_create(&config, &driver), 0);
	return driver;
}

START_TEST(driver_sets_the_rules)
{
	struct tnetx4090_model_config model = config_of(1200);
	struct tnetx4090_config config = {.n_ports = 9, .flow = true, .max_octets = 1518,
	    .mcast_limit = 64, .no_pause = {[1] = true}, .half_duplex = {[5] = true}};
	struct tnetx4090 *driver;

	start(&model);
	driver = start_driver(&config);
	ck_assert(chip->flow && !chip->holb);
	ck_assert_uint_eq(chip->ports[0].threshold, 9 * 24);
	ck_assert_uint_eq(chip->ports[8].threshold, 9 * 12);
	ck_assert_uint_eq(chip->mcast_max, 64);
	ck_assert_uint_eq(chip->mcast_limited, 0x1ff);
	ck_assert_int_eq(chip->ports[0].when_pressed, TNETX4090_PAUSE);
	ck_assert_int_eq(chip->ports[1].when_pressed, TNETX4090_DROP);
	ck_assert_int_eq(chip->ports[5].when_pressed, TNETX4090_COLLIDE);
	tnetx4090_destroy(driver);
	config.mcast_limit = 63;
	config.bus = &cpu;
	config.base = BASE;
	ck_assert_int_eq(tnetx4090_create(&config, &driver), -EINVAL);
	config.mcast_limit = 0;
	config.threshold = 1200; /* the whole pool: never anything else than back pressure */
	ck_assert_int_eq(tnetx4090_create(&config, &driver), -EINVAL);
}
END_TEST

START_TEST(driver_reads_the_pool)
{
	struct tnetx4090_model_config model = config_of(1200);
	struct tnetx4090_config config = {.n_ports = 8, .flow = true, .holb = true,
	    .threshold = 100, .max_octets = 1518};
	struct hal_buffers b;
	struct tnetx4090 *driver;

	start(&model);
	driver = start_driver(&config);
	ck_assert_int_eq(tnetx4090_read(driver, 8, &b), -ENODEV);
	fill(3); /* 601, then a drop */
	tnetx4090_model_settle(chip, 5000000);
	ck_assert_int_eq(tnetx4090_read(driver, 3, &b), 0);
	ck_assert_uint_eq(b.pool_buffers, 1200);
	ck_assert_uint_eq(b.pool_free, 599);
	ck_assert_uint_eq(b.pool_least_free, 599);
	ck_assert_uint_eq(b.buffer_octets, 64);
	ck_assert_uint_eq(b.charged, 601);
	ck_assert_uint_eq(b.most_charged, 601);
	ck_assert_uint_eq(b.pressed_episodes, 1);
	ck_assert_uint_eq(b.pressed_us, 5000);
	ck_assert_uint_eq(b.ingress_drops, 1);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_DROP);
	ck_assert_int_eq(tnetx4090_read(driver, 2, &b), 0);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_COLLIDE);
	ck_assert_int_eq(tnetx4090_read(driver, 0, &b), 0);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_PAUSE);
	tnetx4090_destroy(driver);
}
END_TEST

/* The chip's figures have 32 bits; the driver's do not. */
START_TEST(driver_widens_what_wraps)
{
	struct tnetx4090_model_config model = config_of(1200);
	struct tnetx4090_config config = {.n_ports = 9, .max_octets = 1518};
	struct tnetx4090 *driver;
	struct hal_buffers b;

	start(&model);
	driver = start_driver(&config);
	for (uint64_t i = 1; i <= 5; i++) {
		tnetx4090_model_count(chip, 4, TNETX4090_RX_OVERRUNS, 0xf0000000);
		ck_assert_int_eq(tnetx4090_read(driver, 4, &b), 0);
		ck_assert_uint_eq(b.ingress_drops, i * 0xf0000000ull);
	}
	tnetx4090_destroy(driver);
}
END_TEST

static Suite *
suite(void)
{
	const int n_fair = sizeof(fair_shares) / sizeof(fair_shares[0]);
	Suite *s = suite_create("tnetx4090");
	TCase *t = tcase_create("tnetx4090");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, threshold_table, 0, 4);
	tcase_add_test(t, threshold_released);
	tcase_add_test(t, half_of_an_odd_threshold);
	tcase_add_test(t, without_flow_control_frames_are_dropped);
	tcase_add_loop_test(t, fair_share_table, 0, n_fair);
	tcase_add_loop_test(t, fair_share_table_when_b_is_silent, 0, n_fair);
	tcase_add_test(t, backlogged_ports_halve_what_is_left);
	tcase_add_loop_test(t, shortcut_equals_the_rule, 0, 8);
	tcase_add_test(t, flow_pin);
	tcase_add_test(t, multicast_limit);
	tcase_add_test(t, negotiation);
	tcase_add_test(t, episodes_and_pause_frames);
	tcase_add_test(t, pool_accounts);
	tcase_add_test(t, statistics_are_where_table_3_has_them);
	tcase_add_test(t, statistics_are_read_whole);
	tcase_add_test(t, bad_configurations);
	tcase_add_test(t, driver_sets_the_rules);
	tcase_add_test(t, driver_reads_the_pool);
	tcase_add_test(t, driver_widens_what_wraps);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
