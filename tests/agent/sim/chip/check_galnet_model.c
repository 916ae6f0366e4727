/*
 * The GalNet chips at the model's registers: EASE, receive buffers, learning and forwarding as the
 * notes on the data sheets state them (GT-48002A pages 24 and 59-64, GT-48001A pages 16-23 and
 * 59-62).
 */
#include "tests/agent/sim/chip/galnet_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <endian.h>
#include <string.h>

static struct galnet_rig rig;

static void
set_up(void)
{
	rig_create(&rig, GALNET_GT48001A);
}

static void
set_up_48002a(void)
{
	rig_create(&rig, GALNET_GT48002A);
}

static void
tear_down(void)
{
	rig_destroy(&rig);
}

/* A group-addressed source is never learned, so the table stays as it is. */
static struct galnet_route
send_one_way(unsigned port)
{
	return rig_send(&rig, port, MAC_C, BROADCAST);
}

static uint8_t *area[3];
static uint32_t area_bus[3];

static void
give_buffers(unsigned n)
{
	for (unsigned i = 0; i < 3; i++)
		area[i] = rig.cpu.ops->alloc_shared(rig.cpu.ctx, GALNET_AREA_OCTETS, &area_bus[i]);
	for (unsigned i = 0; i < n; i++)
		rig_put(&rig, GALNET_BUFFER_BASE, area_bus[i]);
	rig_put(
	    &rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
}

static uint32_t
word(const uint8_t *memory)
{
	uint32_t value;

	memcpy(&value, memory, 4);
	return le32toh(value);
}

static uint32_t
block_word(unsigned a, unsigned block)
{
	return word(area[a] + block * GALNET_BLOCK_OCTETS);
}

static void
load(unsigned port, uint32_t skip)
{
	rig_put(&rig, GALNET_EASE_REGISTER + 4 * port, skip);
}

/* Received frames of a port until one is sampled into this block. */
static unsigned
frames_to_sample(unsigned port, unsigned block)
{
	unsigned n = 0;

	do {
		rig_send(&rig, port, RESERVED_GROUP, BROADCAST);
		n++;
	} while (block_word(0, block) == 0 && n < 1000);
	return n;
}

START_TEST(skip_lets_n_packets_pass_and_takes_the_next)
{
	static const uint32_t skips[] = {0, 1, 7, 300};

	give_buffers(1);
	for (unsigned i = 0; i < 4; i++) {
		load(1, skips[i]);
		ck_assert_uint_eq(frames_to_sample(1, i), skips[i] + 1);
	}
}
END_TEST

START_TEST(upper_bits_of_a_skip_are_reserved)
{
	give_buffers(1);
	load(0, 0xfff00002);
	ck_assert_uint_eq(frames_to_sample(0, 0), 3);
}
END_TEST

START_TEST(shadow_follows_and_empty_stops)
{
	give_buffers(1);
	load(0, 2);
	load(0, 5);
	ck_assert_uint_eq(rig_get(&rig, GALNET_EASE_REGISTER), 2);
	ck_assert_uint_eq(frames_to_sample(0, 0), 3);
	ck_assert_uint_eq(rig_get(&rig, GALNET_EASE_REGISTER), 5);
	ck_assert_uint_eq(frames_to_sample(0, 1), 6);
	ck_assert_uint_eq(frames_to_sample(0, 2), 1000);
	load(0, 4);
	ck_assert_uint_eq(frames_to_sample(0, 2), 5);
}
END_TEST

START_TEST(full_shadow_is_replaced_in_silence)
{
	give_buffers(1);
	load(0, 0);
	load(0, 9);
	load(0, 3);
	ck_assert_uint_eq(frames_to_sample(0, 0), 1);
	ck_assert_uint_eq(frames_to_sample(0, 1), 4);
	ck_assert_uint_eq(frames_to_sample(0, 2), 1000);
}
END_TEST

static const uint32_t EMPTY_BITS = GALNET_EASE_BIT_WHEN_EMPTY ? 0xff : 0;

/* The status bit of the GT-48001A's port 5 over a value's life, and its interrupt. */
START_TEST(status_shows_full_and_interrupts_when_moved_on)
{
	give_buffers(1);
	rig_put(&rig, GT48001A_EASE_MASK, 0xff);
	ck_assert_uint_eq(rig_get(&rig, GT48001A_EASE_CAUSE), EMPTY_BITS);
	load(5, 0);
	ck_assert_uint_eq(rig_get(&rig, GT48001A_EASE_CAUSE), EMPTY_BITS);
	ck_assert_uint_eq(bus_model_lines(rig.board), 0);
	load(5, 1);
	ck_assert_uint_eq(rig_get(&rig, GT48001A_EASE_CAUSE), EMPTY_BITS ^ 1u << 5);
	send_one_way(5);
	ck_assert_uint_eq(rig_get(&rig, GT48001A_EASE_CAUSE), EMPTY_BITS);
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	rig_put(&rig, GT48001A_EASE_CAUSE, 1u << 4);
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	rig_put(&rig, GT48001A_EASE_CAUSE, 1u << 5);
	ck_assert_uint_eq(bus_model_lines(rig.board), 0);
}
END_TEST

START_TEST(masked_ease_interrupt_stays_down)
{
	give_buffers(1);
	load(5, 0);
	load(5, 0);
	send_one_way(5);
	ck_assert_uint_eq(bus_model_lines(rig.board), 0);
	rig_put(&rig, GT48001A_EASE_MASK, 1u << 5);
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
}
END_TEST

START_TEST(gt48002a_has_its_ease_bits_in_the_common_cause)
{
	give_buffers(1);
	rig_put(&rig, GALNET_CAUSE, UINT32_MAX);
	rig_put(&rig, GALNET_MASK, 1u << (GT48002A_EASE_SHIFT + 1));
	load(1, 0);
	load(1, 0);
	ck_assert_uint_eq(rig_get(&rig, GALNET_CAUSE) >> GT48002A_EASE_SHIFT & 2,
	    GALNET_EASE_BIT_WHEN_EMPTY ? 0 : 2);
	send_one_way(1);
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	ck_assert_uint_eq(rig_get(&rig, GALNET_CAUSE) & 0x3f, GALNET_CAUSE_PACKET);
	rig_put(&rig, GALNET_CAUSE, 1u << (GT48002A_EASE_SHIFT + 1));
	ck_assert_uint_eq(bus_model_lines(rig.board), 0);
	ck_assert_uint_eq(block_word(0, 0) >> GALNET_WORD0_EASE_SHIFT & 0xff, 2);
}
END_TEST

START_TEST(word_0_tells_ports_source_and_length)
{
	struct galnet_frame f = rig_frame(&rig, BROADCAST, BROADCAST);

	give_buffers(1);
	load(2, 0);
	load(6, 0);
	galnet_model_receive(rig.model, 6, &f);
	ck_assert_uint_eq(block_word(0, 0), (1u << 6 | 1u << 2) << 16 | 1u << 15 | 6u << 12 |
		100u << 1 | 1);
	ck_assert_mem_eq(area[0] + 32, rig.octets, 96);
	ck_assert_uint_eq(word(area[0] + GALNET_BLOCK_REAL_OCTETS), 0);
	ck_assert_uint_eq(block_word(0, 1), 0);
}
END_TEST

START_TEST(a_packet_seen_over_pci_is_a_pure_sample)
{
	struct galnet_frame f = rig_frame(&rig, MAC_A, MAC_B);

	give_buffers(1);
	load(2, 0);
	load(3, 0);
	galnet_model_receive_pci(rig.model, 1u << 3, &f);
	ck_assert_uint_eq(block_word(0, 0), 1u << (16 + 3) | 100u << 1 | 1);
}
END_TEST

START_TEST(padding_is_zeros_and_a_cut_frame_tells_so)
{
	struct galnet_frame f = rig_frame(&rig, BROADCAST, BROADCAST);

	give_buffers(1);
	memset(area[0], 0xaa, 2 * GALNET_BLOCK_OCTETS);
	f.captured_octets = 42;
	f.data_octets = 60;
	f.wire_octets = 64;
	load(0, 0);
	galnet_model_receive(rig.model, 0, &f);
	for (int i = 42; i < 60; i++)
		ck_assert_uint_eq(area[0][32 + i], 0);
	ck_assert_uint_eq(area[0][32 + 60], 0xaa);
	f.data_octets = 42;
	f.wire_octets = 1000;
	load(0, 0);
	galnet_model_receive(rig.model, 0, &f);
	ck_assert_uint_eq(word(area[0] + GALNET_BLOCK_OCTETS + GALNET_BLOCK_REAL_OCTETS), 42);
	ck_assert_uint_eq(block_word(0, 1) >> 1 & 0x7ff, 1000);
}
END_TEST

/* CBA, then CBAS; sixteen packets move CBAS into CBA; a later write is CBAS again. */
START_TEST(buffer_areas_hand_over_after_sixteen_packets)
{
	give_buffers(2);
	for (int i = 0; i < 17; i++) {
		load(0, 0);
		send_one_way(0);
		ck_assert_int_eq(
		    (rig_get(&rig, GALNET_CAUSE) & GALNET_CAUSE_BUF_WRAP) != 0, i >= 15);
	}
	ck_assert_uint_ne(block_word(0, 15), 0);
	ck_assert_uint_ne(block_word(1, 0), 0);
	rig_put(&rig, GALNET_BUFFER_BASE, area_bus[2]);
	for (int i = 0; i < 16; i++) {
		load(0, 0);
		send_one_way(0);
	}
	ck_assert_uint_ne(block_word(2, 0), 0);
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 0);
	for (int i = 0; i < 16; i++) {
		load(0, 0);
		send_one_way(0);
	}
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 1);
}
END_TEST

START_TEST(a_buffer_base_outside_shared_memory_loses_samples_only)
{
	rig_put(&rig, GALNET_BUFFER_BASE, 0x1000);
	rig_put(
	    &rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
	load(0, 0);
	send_one_way(0);
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 1);
	ck_assert_uint_eq(bus_model_refused(rig.board), 1);
}
END_TEST

START_TEST(disabling_ease_empties_counters_and_shadows)
{
	give_buffers(1);
	load(0, 3);
	load(0, 3);
	rig_put(&rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT);
	rig_put(
	    &rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
	ck_assert_uint_eq(frames_to_sample(0, 0), 1000);
	load(0, 1);
	ck_assert_uint_eq(frames_to_sample(0, 0), 2);
}
END_TEST

START_TEST(without_a_cpu_nothing_is_sampled)
{
	give_buffers(1);
	rig_put(&rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_EASE_ENABLE);
	load(0, 0);
	ck_assert_uint_eq(frames_to_sample(0, 0), 1000);
}
END_TEST

/* A locally switched packet counts where it leaves, too; a flooded one on every port. */
START_TEST(egress_ports_count)
{
	give_buffers(1);
	rig_send(&rig, 1, BROADCAST, MAC_A);
	load(1, 1);
	load(0, 0);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(block_word(0, 0) >> 16, 1);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(block_word(0, 1) >> 16, 2);
	for (unsigned port = 0; port < 8; port++)
		load(port, port < 4 ? 0 : 1);
	rig_send(&rig, 0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 2) >> 16, 0x0f);
	rig_send(&rig, 0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 3) >> 16, 0xf0);
}
END_TEST

/* --- learning and forwarding --- */

START_TEST(forwards_by_what_it_has_learned)
{
	struct galnet_route to;

	ck_assert_int_eq(rig_send(&rig, 0, MAC_B, MAC_A).verdict, GALNET_FLOOD);
	to = rig_send(&rig, 1, MAC_A, MAC_B);
	ck_assert_int_eq(to.verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(to.port, 0);
	ck_assert_int_eq(rig_send(&rig, 1, MAC_B, MAC_C).verdict, GALNET_DISCARD);
	ck_assert_int_eq(rig_send(&rig, 0, BROADCAST, MAC_A).verdict, GALNET_FLOOD);
	ck_assert_int_eq(rig_send(&rig, 0, 0x01005e000001ull, MAC_A).verdict, GALNET_FLOOD);
	ck_assert_uint_eq(rig.n_pci_new_addresses, 3);
}
END_TEST

START_TEST(reserved_groups_and_control_frames_stay)
{
	struct galnet_frame pause = rig_frame(&rig, MAC_B, MAC_A);

	for (unsigned i = 0; i <= 0x10; i++)
		ck_assert_int_eq(rig_send(&rig, 0, RESERVED_GROUP + i, MAC_A).verdict,
		    i < 0x10 ? GALNET_DISCARD : GALNET_FLOOD);
	pause.control = true;
	ck_assert_int_eq(galnet_model_receive(rig.model, 0, &pause).verdict, GALNET_DISCARD);
}
END_TEST

START_TEST(a_station_that_moves_is_followed)
{
	rig_send(&rig, 0, BROADCAST, MAC_A);
	rig_send(&rig, 4, BROADCAST, MAC_A);
	ck_assert_uint_eq(rig_send(&rig, 1, MAC_A, MAC_B).port, 4);
	ck_assert_uint_eq(rig.n_pci_new_addresses, 3);
}
END_TEST

START_TEST(group_and_zero_sources_are_not_learned)
{
	rig_send(&rig, 0, BROADCAST, 0x030000000001ull);
	rig_send(&rig, 0, BROADCAST, 0);
	ck_assert_uint_eq(rig.n_pci_new_addresses, 0);
	ck_assert_int_eq(rig_send(&rig, 1, 0, MAC_A).verdict, GALNET_FLOOD);
}
END_TEST

/* The table word of an address, by the layout both sides share. */
static uint32_t
table_offset(uint64_t mac)
{
	uint32_t first = GALNET_ADDRESS_TABLE +
	    galnet_bucket(mac) * GALNET_BUCKET_ENTRIES * GALNET_ENTRY_OCTETS;

	for (uint32_t i = first; i < first + GALNET_BUCKET_ENTRIES * GALNET_ENTRY_OCTETS;
	     i += GALNET_ENTRY_OCTETS)
		if (rig_get(&rig, i) == galnet_entry_word_0(mac) &&
		    rig_get(&rig, i + 4) >> 16 == (mac & 0xffff))
			return i + 4;
	return 0;
}

START_TEST(a_static_address_stays_where_it_is)
{
	uint32_t at;

	rig_send(&rig, 0, BROADCAST, MAC_A);
	at = table_offset(MAC_A);
	rig_put(
	    &rig, at, (rig_get(&rig, at) | GALNET_ENTRY_STATIC) & ~(uint32_t)GALNET_ENTRY_AGING);
	rig_send(&rig, 4, BROADCAST, MAC_A);
	ck_assert_uint_eq(rig_send(&rig, 1, MAC_A, MAC_B).port, 0);
	ck_assert(rig_get(&rig, at) & GALNET_ENTRY_AGING);
	galnet_model_learn_remote(rig.model, RIG_OTHER_DEVICE, MAC_A, 1);
	ck_assert_uint_eq(rig_send(&rig, 1, MAC_A, MAC_B).port, 0);
}
END_TEST

START_TEST(addresses_of_other_chips_are_reached_over_pci)
{
	struct galnet_route to;

	galnet_model_learn_remote(rig.model, RIG_OTHER_DEVICE, MAC_A, 1);
	to = rig_send(&rig, 0, MAC_A, MAC_B);
	ck_assert_int_eq(to.verdict, GALNET_TO_DEVICE);
	ck_assert_uint_eq(to.device, RIG_OTHER_DEVICE);
	ck_assert_uint_eq(to.port, 1);
	rig_send(&rig, 5, BROADCAST, MAC_A);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
}
END_TEST

START_TEST(a_full_bucket_leaves_addresses_unknown_and_counts)
{
	unsigned learned = 0, bucket = galnet_bucket(MAC_A);

	rig_put(&rig, GALNET_MASK, GALNET_CAUSE_RECOGNITION);
	for (uint64_t mac = MAC_A; learned < GALNET_BUCKET_ENTRIES + 3; mac++) {
		if (galnet_bucket(mac) != bucket)
			continue;
		rig_send(&rig, 0, BROADCAST, mac);
		ck_assert_int_eq(rig_send(&rig, 1, mac, BROADCAST).verdict,
		    learned < GALNET_BUCKET_ENTRIES ? GALNET_TO_PORT : GALNET_FLOOD);
		learned++;
	}
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	ck_assert_uint_eq(rig_get(&rig, GALNET_ADDRESS_DISCARDS), 3);
	ck_assert_uint_eq(rig_get(&rig, GALNET_ADDRESS_DISCARDS), 0);
}
END_TEST

START_TEST(a_port_that_is_down_gets_nothing)
{
	give_buffers(1);
	rig_send(&rig, 1, BROADCAST, MAC_A);
	rig_put(&rig, GALNET_PORT_CONTROL + 4, 0);
	ck_assert_uint_eq(galnet_model_ports_up(rig.model), 0xfd);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_DISCARD);
	load(1, 0);
	rig_send(&rig, 0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 0), 0);
	rig_put(&rig, GALNET_PORT_CONTROL + 4, GALNET_PORT_CONTROL_ENABLE);
	galnet_model_set_link(rig.model, 2, false);
	ck_assert_uint_eq(galnet_model_ports_up(rig.model), 0xfb);
	ck_assert_uint_eq(rig_get(&rig, GALNET_PORT_STATUS + 8), 0);
	ck_assert(rig_get(&rig, GALNET_CAUSE) & GALNET_CAUSE_LINK);
}
END_TEST

/* --- recovery, messages, packets for the CPU --- */

/* Tables disagree: who does not know an address asks all, and its owner alone answers. */
START_TEST(an_unknown_address_is_asked_for_and_its_owner_answers)
{
	unsigned port;

	rig_send(&rig, 0, BROADCAST, MAC_B);
	ck_assert_uint_eq(rig.asked_for, 0);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_FLOOD);
	ck_assert_uint_eq(rig.asked_for, MAC_A);
	ck_assert(!galnet_model_owns(rig.model, MAC_A, &port));
	galnet_model_learn_remote(rig.model, RIG_OTHER_DEVICE, MAC_A, 1);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_A, MAC_B).verdict, GALNET_TO_DEVICE);
	ck_assert(!galnet_model_owns(rig.model, MAC_A, &port));
	ck_assert(galnet_model_owns(rig.model, MAC_B, &port));
	ck_assert_uint_eq(port, 0);
}
END_TEST

static uint8_t *
give_ring(uint32_t base_register)
{
	uint32_t bus_address;
	uint8_t *ring =
	    rig.cpu.ops->alloc_shared(rig.cpu.ctx, GALNET_RING_OCTETS, &bus_address);

	rig_put(&rig, base_register, bus_address);
	return ring;
}

/* Global Control bits 10 and 7, both; other devices are told in any case. */
START_TEST(new_addresses_reach_the_cpu_that_wants_them)
{
	static const uint32_t not_enough[] = {0, GALNET_CONTROL_CPU_PRESENT,
	    GALNET_CONTROL_NEW_ADDRESS_TO_CPU};
	uint8_t *ring = give_ring(GALNET_NEW_ADDRESS_BASE);

	rig_put(&rig, GALNET_MASK, GALNET_CAUSE_NEW_ADDRESS);
	for (unsigned i = 0; i < 3; i++) {
		rig_put(&rig, GALNET_GLOBAL_CONTROL, not_enough[i]);
		rig_send(&rig, 5, BROADCAST, MAC_A + 0x100 * i);
		ck_assert_uint_eq(rig.n_pci_new_addresses, i + 1);
		ck_assert_uint_eq(word(ring + 4), 0);
		ck_assert_uint_eq(bus_model_lines(rig.board), 0);
	}
	rig_put(&rig, GALNET_GLOBAL_CONTROL,
	    GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU);
	rig_send(&rig, 5, BROADCAST, MAC_B);
	ck_assert_uint_eq(word(ring), galnet_entry_word_0(MAC_B));
	ck_assert_uint_eq(word(ring + 4),
	    galnet_entry_word_1(MAC_B, RIG_DEVICE, 5, GALNET_ENTRY_VALID));
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	rig_send(&rig, 5, BROADCAST, MAC_B); /* known by now */
	ck_assert_uint_eq(word(ring + GALNET_RING_ENTRY_OCTETS + 4), 0);
	ck_assert_uint_eq(rig.n_pci_new_addresses, 4);
}
END_TEST

/* Error_Source: not without EASE; 32 entries, then the newest are lost and counted. */
START_TEST(error_sources_fill_their_area_and_no_more)
{
	uint8_t *ring = give_ring(GALNET_ERROR_SOURCE_BASE);

	rig_put(&rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT);
	galnet_model_error_source(rig.model, 7, MAC_A, true);
	ck_assert_uint_eq(word(ring + 4), 0);
	ck_assert_uint_eq(rig_get(&rig, GALNET_CAUSE) & GALNET_CAUSE_ERROR_SOURCE, 0);
	rig_put(
	    &rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
	for (unsigned i = 0; i < GALNET_RING_ENTRIES + 5; i++)
		galnet_model_error_source(rig.model, i % 8, MAC_A + i, i % 2);
	for (unsigned i = 0; i < GALNET_RING_ENTRIES; i++)
		ck_assert_uint_eq(word(ring + i * GALNET_RING_ENTRY_OCTETS + 4),
		    galnet_entry_word_1(MAC_A + i, RIG_DEVICE, i % 8,
			GALNET_ENTRY_VALID | (i % 2 ? GALNET_ENTRY_TOO_LONG : 0)));
	ck_assert_uint_eq(rig_get(&rig, GALNET_ERROR_SOURCE_LOST), 5);
	ck_assert_uint_eq(rig_get(&rig, GALNET_ERROR_SOURCE_LOST), 0);
	ck_assert(rig_get(&rig, GALNET_CAUSE) & GALNET_CAUSE_ERROR_SOURCE);
}
END_TEST

/* Both reasons for a copy make one copy. */
START_TEST(a_packet_for_the_cpu_that_is_a_sample_comes_once)
{
	uint32_t at;

	give_buffers(1);
	rig_send(&rig, 2, BROADCAST, MAC_A);
	at = table_offset(MAC_A);
	rig_put(&rig, at, rig_get(&rig, at) | GALNET_ENTRY_INTERVENTION);
	load(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(rig_send(&rig, 1, MAC_A, MAC_B).verdict, GALNET_TO_CPU);
		ck_assert_uint_eq(block_word(0, i),
		    i << (16 + 1) | 1u << 15 | 1u << 12 | 100u << 1 | 1);
	}
	ck_assert_uint_eq(block_word(0, 2), 0);
}
END_TEST

/* Command bit 4 of a port. */
START_TEST(unknown_packets_leave_by_ports_that_take_them)
{
	struct galnet_route to;

	rig_put(&rig, GALNET_COMMAND + 4 * 3, 0);
	to = rig_send(&rig, 0, MAC_A, MAC_B);
	ck_assert_int_eq(to.verdict, GALNET_SPREAD);
	ck_assert(to.unknown);
	ck_assert_uint_eq(to.ports, 0xff & ~(1u << 3 | 1u << 0));
	to = rig_send(&rig, 0, BROADCAST, MAC_B);
	ck_assert(!to.unknown);
	ck_assert_uint_eq(to.ports, 0xfe);
}
END_TEST

/* A base that comes too late is CBA again; what came before is lost and counted. */
START_TEST(a_late_cpu_loses_packets_not_the_order)
{
	give_buffers(1);
	for (int i = 0; i < 20; i++) {
		load(0, 0);
		send_one_way(0);
	}
	rig_put(&rig, GALNET_BUFFER_BASE, area_bus[1]);
	load(0, 0);
	send_one_way(0);
	ck_assert_uint_ne(block_word(1, 0), 0);
	ck_assert_uint_eq(block_word(1, 1), 0);
	ck_assert_uint_eq(rig_get(&rig, GALNET_PACKETS_LOST), 4);
	ck_assert_uint_eq(rig_get(&rig, GALNET_PACKETS_LOST), 0);
}
END_TEST

/* MIBClrMode, Global Control bit 30. */
START_TEST(a_read_zeroes_a_mib_counter_unless_it_is_kept)
{
	uint32_t frames = GALNET_MIB + 4 * GALNET_MIB_FRAMES_RECEIVED;

	rig.mib_events = 7;
	ck_assert_uint_eq(rig_get(&rig, frames), 7);
	rig.mib_events = 10;
	ck_assert_uint_eq(rig_get(&rig, frames), 3);
	rig_put(&rig, GALNET_GLOBAL_CONTROL, GALNET_CONTROL_MIB_KEEP);
	rig.mib_events = 11;
	ck_assert_uint_eq(rig_get(&rig, frames), 1);
	ck_assert_uint_eq(rig_get(&rig, frames), 1);
}
END_TEST

static void
add_message_tests(TCase *c)
{
	tcase_add_test(c, an_unknown_address_is_asked_for_and_its_owner_answers);
	tcase_add_test(c, new_addresses_reach_the_cpu_that_wants_them);
	tcase_add_test(c, error_sources_fill_their_area_and_no_more);
	tcase_add_test(c, a_packet_for_the_cpu_that_is_a_sample_comes_once);
	tcase_add_test(c, unknown_packets_leave_by_ports_that_take_them);
	tcase_add_test(c, a_late_cpu_loses_packets_not_the_order);
	tcase_add_test(c, a_read_zeroes_a_mib_counter_unless_it_is_kept);
}

static void
add_model_tests(TCase *c)
{
	tcase_add_test(c, skip_lets_n_packets_pass_and_takes_the_next);
	tcase_add_test(c, upper_bits_of_a_skip_are_reserved);
	tcase_add_test(c, shadow_follows_and_empty_stops);
	tcase_add_test(c, full_shadow_is_replaced_in_silence);
	tcase_add_test(c, status_shows_full_and_interrupts_when_moved_on);
	tcase_add_test(c, masked_ease_interrupt_stays_down);
	tcase_add_test(c, word_0_tells_ports_source_and_length);
	tcase_add_test(c, a_packet_seen_over_pci_is_a_pure_sample);
	tcase_add_test(c, padding_is_zeros_and_a_cut_frame_tells_so);
	tcase_add_test(c, buffer_areas_hand_over_after_sixteen_packets);
	tcase_add_test(c, a_buffer_base_outside_shared_memory_loses_samples_only);
	tcase_add_test(c, disabling_ease_empties_counters_and_shadows);
	tcase_add_test(c, without_a_cpu_nothing_is_sampled);
	tcase_add_test(c, egress_ports_count);
	tcase_add_test(c, forwards_by_what_it_has_learned);
	tcase_add_test(c, reserved_groups_and_control_frames_stay);
	tcase_add_test(c, a_station_that_moves_is_followed);
	tcase_add_test(c, group_and_zero_sources_are_not_learned);
	tcase_add_test(c, a_static_address_stays_where_it_is);
	tcase_add_test(c, addresses_of_other_chips_are_reached_over_pci);
	tcase_add_test(c, a_full_bucket_leaves_addresses_unknown_and_counts);
	tcase_add_test(c, a_port_that_is_down_gets_nothing);
}

int
main(void)
{
	Suite *suite = suite_create("galnet model");
	TCase *eight = tcase_create("GT-48001A"), *two = tcase_create("GT-48002A");

	tcase_add_checked_fixture(eight, set_up, tear_down);
	add_model_tests(eight);
	add_message_tests(eight);
	tcase_add_checked_fixture(two, set_up_48002a, tear_down);
	tcase_add_test(two, gt48002a_has_its_ease_bits_in_the_common_cause);
	suite_add_tcase(suite, eight);
	suite_add_tcase(suite, two);
	return suite_run(suite);
}
