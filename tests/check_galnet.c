/*
 * The GalNet chips: EASE, receive buffers, messages, learning and forwarding as the notes on the
 * data sheets state them (GT-48002A pages 24 and 59-64, GT-48001A pages 16-23 and 59-62), first at
 * the model's registers, then through the driver.
 */
#include "agent/bus/bus_record.h"
#include "agent/chip/galnet.h"
#include "agent/chip/galnet_model.h"
#include "tests/fake_hal.h"

#include <check.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

enum { DEVICE = 3, LINE = 2, OTHER_DEVICE = 4 };
#define BASE (GALNET_REGION + DEVICE * GALNET_SLICE)

#define MAC_A 0x020000000001ull
#define MAC_B 0x020000000002ull
#define MAC_C 0x020000000003ull
#define BROADCAST 0xffffffffffffull

static struct bus_model *board;
static struct galnet_model *model;
static struct bus cpu;
static struct hal hal;
static unsigned n_pci_new_addresses;
static uint8_t octets[1600];

static void
pci_new_address(void *ctx, unsigned device, uint64_t mac, unsigned port)
{
	(void)ctx;
	(void)mac;
	(void)port;
	ck_assert_uint_eq(device, DEVICE);
	n_pci_new_addresses++;
}

static void
create(enum galnet_chip chip)
{
	struct galnet_model_config config = {
	    .chip = chip, .device = DEVICE, .line = LINE, .new_address = pci_new_address};

	ck_assert_int_eq(bus_model_create(&board), 0);
	config.bus = board;
	ck_assert_int_eq(galnet_model_create(&config, &model), 0);
	for (unsigned i = 0; i < galnet_model_n_ports(model); i++)
		galnet_model_set_link(model, i, true);
	cpu = bus_model_cpu(board);
	memset(&hal, 0, sizeof(hal));
	n_pci_new_addresses = 0;
}

static void
set_up(void)
{
	create(GALNET_GT48001A);
}

static void
set_up_48002a(void)
{
	create(GALNET_GT48002A);
}

static void
tear_down(void)
{
	galnet_model_destroy(model);
	bus_model_destroy(board);
}

static uint32_t
get(uint32_t offset)
{
	uint32_t value = 0xdeadbeef;

	ck_assert_int_eq(bus_read(&cpu, BASE + offset, &value), 0);
	return value;
}

static void
put(uint32_t offset, uint32_t value)
{
	ck_assert_int_eq(bus_write(&cpu, BASE + offset, value), 0);
}

static struct galnet_frame
frame(uint64_t destination, uint64_t source)
{
	struct galnet_frame f = {.destination = destination, .source = source, .octets = octets,
	    .captured_octets = 96, .data_octets = 96, .wire_octets = 100};

	for (int i = 0; i < 6; i++) {
		octets[i] = (uint8_t)(destination >> 8 * (5 - i));
		octets[6 + i] = (uint8_t)(source >> 8 * (5 - i));
	}
	for (int i = 12; i < 96; i++)
		octets[i] = (uint8_t)i;
	return f;
}

static struct galnet_route
send(unsigned port, uint64_t destination, uint64_t source)
{
	struct galnet_frame f = frame(destination, source);

	return galnet_model_receive(model, port, &f);
}

/* A group-addressed source is never learned, so the table stays as it is. */
static struct galnet_route
send_one_way(unsigned port)
{
	return send(port, MAC_C, BROADCAST);
}

/* --- the model at its registers: receive buffers and EASE without a driver --- */

static uint8_t *area[3];
static uint32_t area_bus[3];

static void
give_buffers(unsigned n)
{
	for (unsigned i = 0; i < 3; i++)
		area[i] = cpu.ops->alloc_shared(cpu.ctx, GALNET_AREA_OCTETS, &area_bus[i]);
	for (unsigned i = 0; i < n; i++)
		put(GALNET_BUFFER_BASE, area_bus[i]);
	put(GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
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
	put(GALNET_EASE_REGISTER + 4 * port, skip);
}

/* Received frames of a port until one is sampled into this block. */
static unsigned
frames_to_sample(unsigned port, unsigned block)
{
	unsigned n = 0;

	do {
		send(port, 0x0180c2000000ull, BROADCAST);
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
	ck_assert_uint_eq(get(GALNET_EASE_REGISTER), 2);
	ck_assert_uint_eq(frames_to_sample(0, 0), 3);
	ck_assert_uint_eq(get(GALNET_EASE_REGISTER), 5);
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
	put(GT48001A_EASE_MASK, 0xff);
	ck_assert_uint_eq(get(GT48001A_EASE_CAUSE), EMPTY_BITS);
	load(5, 0);
	ck_assert_uint_eq(get(GT48001A_EASE_CAUSE), EMPTY_BITS);
	ck_assert_uint_eq(bus_model_lines(board), 0);
	load(5, 1);
	ck_assert_uint_eq(get(GT48001A_EASE_CAUSE), EMPTY_BITS ^ 1u << 5);
	send_one_way(5);
	ck_assert_uint_eq(get(GT48001A_EASE_CAUSE), EMPTY_BITS);
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
	put(GT48001A_EASE_CAUSE, 1u << 4);
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
	put(GT48001A_EASE_CAUSE, 1u << 5);
	ck_assert_uint_eq(bus_model_lines(board), 0);
}
END_TEST

START_TEST(masked_ease_interrupt_stays_down)
{
	give_buffers(1);
	load(5, 0);
	load(5, 0);
	send_one_way(5);
	ck_assert_uint_eq(bus_model_lines(board), 0);
	put(GT48001A_EASE_MASK, 1u << 5);
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
}
END_TEST

START_TEST(gt48002a_has_its_ease_bits_in_the_common_cause)
{
	give_buffers(1);
	put(GALNET_CAUSE, UINT32_MAX);
	put(GALNET_MASK, 1u << (GT48002A_EASE_SHIFT + 1));
	load(1, 0);
	load(1, 0);
	ck_assert_uint_eq(get(GALNET_CAUSE) >> GT48002A_EASE_SHIFT & 2,
	    GALNET_EASE_BIT_WHEN_EMPTY ? 0 : 2);
	send_one_way(1);
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
	ck_assert_uint_eq(get(GALNET_CAUSE) & 0x3f, GALNET_CAUSE_PACKET);
	put(GALNET_CAUSE, 1u << (GT48002A_EASE_SHIFT + 1));
	ck_assert_uint_eq(bus_model_lines(board), 0);
	ck_assert_uint_eq(block_word(0, 0) >> GALNET_WORD0_EASE_SHIFT & 0xff, 2);
}
END_TEST

START_TEST(word_0_tells_ports_source_and_length)
{
	struct galnet_frame f = frame(BROADCAST, BROADCAST);

	give_buffers(1);
	load(2, 0);
	load(6, 0);
	galnet_model_receive(model, 6, &f);
	ck_assert_uint_eq(block_word(0, 0), (1u << 6 | 1u << 2) << 16 | 1u << 15 | 6u << 12 |
		100u << 1 | 1);
	ck_assert_mem_eq(area[0] + 32, octets, 96);
	ck_assert_uint_eq(word(area[0] + GALNET_BLOCK_REAL_OCTETS), 0);
	ck_assert_uint_eq(block_word(0, 1), 0);
}
END_TEST

START_TEST(a_packet_seen_over_pci_is_a_pure_sample)
{
	struct galnet_frame f = frame(MAC_A, MAC_B);

	give_buffers(1);
	load(2, 0);
	load(3, 0);
	galnet_model_receive_pci(model, 1u << 3, &f);
	ck_assert_uint_eq(block_word(0, 0), 1u << (16 + 3) | 100u << 1 | 1);
}
END_TEST

START_TEST(padding_is_zeros_and_a_cut_frame_tells_so)
{
	struct galnet_frame f = frame(BROADCAST, BROADCAST);

	give_buffers(1);
	memset(area[0], 0xaa, 2 * GALNET_BLOCK_OCTETS);
	f.captured_octets = 42;
	f.data_octets = 60;
	f.wire_octets = 64;
	load(0, 0);
	galnet_model_receive(model, 0, &f);
	for (int i = 42; i < 60; i++)
		ck_assert_uint_eq(area[0][32 + i], 0);
	ck_assert_uint_eq(area[0][32 + 60], 0xaa);
	f.data_octets = 42;
	f.wire_octets = 1000;
	load(0, 0);
	galnet_model_receive(model, 0, &f);
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
		ck_assert_int_eq((get(GALNET_CAUSE) & GALNET_CAUSE_BUF_WRAP) != 0, i >= 15);
	}
	ck_assert_uint_ne(block_word(0, 15), 0);
	ck_assert_uint_ne(block_word(1, 0), 0);
	put(GALNET_BUFFER_BASE, area_bus[2]);
	for (int i = 0; i < 16; i++) {
		load(0, 0);
		send_one_way(0);
	}
	ck_assert_uint_ne(block_word(2, 0), 0);
	ck_assert_uint_eq(galnet_model_samples_lost(model), 0);
	for (int i = 0; i < 16; i++) {
		load(0, 0);
		send_one_way(0);
	}
	ck_assert_uint_eq(galnet_model_samples_lost(model), 1);
}
END_TEST

START_TEST(a_buffer_base_outside_shared_memory_loses_samples_only)
{
	put(GALNET_BUFFER_BASE, 0x1000);
	put(GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
	load(0, 0);
	send_one_way(0);
	ck_assert_uint_eq(galnet_model_samples_lost(model), 1);
	ck_assert_uint_eq(bus_model_refused(board), 1);
}
END_TEST

START_TEST(disabling_ease_empties_counters_and_shadows)
{
	give_buffers(1);
	load(0, 3);
	load(0, 3);
	put(GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT);
	put(GALNET_GLOBAL_CONTROL, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE);
	ck_assert_uint_eq(frames_to_sample(0, 0), 1000);
	load(0, 1);
	ck_assert_uint_eq(frames_to_sample(0, 0), 2);
}
END_TEST

START_TEST(without_a_cpu_nothing_is_sampled)
{
	give_buffers(1);
	put(GALNET_GLOBAL_CONTROL, GALNET_CONTROL_EASE_ENABLE);
	load(0, 0);
	ck_assert_uint_eq(frames_to_sample(0, 0), 1000);
}
END_TEST

/* A locally switched packet counts where it leaves, too; a flooded one on every port. */
START_TEST(egress_ports_count)
{
	give_buffers(1);
	send(1, BROADCAST, MAC_A);
	load(1, 1);
	load(0, 0);
	ck_assert_int_eq(send(0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(block_word(0, 0) >> 16, 1);
	ck_assert_int_eq(send(0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(block_word(0, 1) >> 16, 2);
	for (unsigned port = 0; port < 8; port++)
		load(port, port < 4 ? 0 : 1);
	send(0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 2) >> 16, 0x0f);
	send(0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 3) >> 16, 0xf0);
}
END_TEST

/* --- learning and forwarding --- */

START_TEST(forwards_by_what_it_has_learned)
{
	struct galnet_route to;

	ck_assert_int_eq(send(0, MAC_B, MAC_A).verdict, GALNET_FLOOD);
	to = send(1, MAC_A, MAC_B);
	ck_assert_int_eq(to.verdict, GALNET_TO_PORT);
	ck_assert_uint_eq(to.port, 0);
	ck_assert_int_eq(send(1, MAC_B, MAC_C).verdict, GALNET_DISCARD);
	ck_assert_int_eq(send(0, BROADCAST, MAC_A).verdict, GALNET_FLOOD);
	ck_assert_int_eq(send(0, 0x01005e000001ull, MAC_A).verdict, GALNET_FLOOD);
	ck_assert_uint_eq(n_pci_new_addresses, 3);
}
END_TEST

START_TEST(reserved_groups_and_control_frames_stay)
{
	struct galnet_frame pause = frame(MAC_B, MAC_A);

	for (unsigned i = 0; i <= 0x10; i++)
		ck_assert_int_eq(send(0, 0x0180c2000000ull + i, MAC_A).verdict,
		    i < 0x10 ? GALNET_DISCARD : GALNET_FLOOD);
	pause.control = true;
	ck_assert_int_eq(galnet_model_receive(model, 0, &pause).verdict, GALNET_DISCARD);
}
END_TEST

START_TEST(a_station_that_moves_is_followed)
{
	send(0, BROADCAST, MAC_A);
	send(4, BROADCAST, MAC_A);
	ck_assert_uint_eq(send(1, MAC_A, MAC_B).port, 4);
	ck_assert_uint_eq(n_pci_new_addresses, 3);
}
END_TEST

START_TEST(group_and_zero_sources_are_not_learned)
{
	send(0, BROADCAST, 0x030000000001ull);
	send(0, BROADCAST, 0);
	ck_assert_uint_eq(n_pci_new_addresses, 0);
	ck_assert_int_eq(send(1, 0, MAC_A).verdict, GALNET_FLOOD);
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
		if (get(i) == galnet_entry_word_0(mac) && get(i + 4) >> 16 == (mac & 0xffff))
			return i + 4;
	return 0;
}

START_TEST(a_static_address_stays_where_it_is)
{
	uint32_t at;

	send(0, BROADCAST, MAC_A);
	at = table_offset(MAC_A);
	put(at, (get(at) | GALNET_ENTRY_STATIC) & ~(uint32_t)GALNET_ENTRY_AGING);
	send(4, BROADCAST, MAC_A);
	ck_assert_uint_eq(send(1, MAC_A, MAC_B).port, 0);
	ck_assert(get(at) & GALNET_ENTRY_AGING);
	galnet_model_learn_remote(model, OTHER_DEVICE, MAC_A, 1);
	ck_assert_uint_eq(send(1, MAC_A, MAC_B).port, 0);
}
END_TEST

START_TEST(addresses_of_other_chips_are_reached_over_pci)
{
	struct galnet_route to;

	galnet_model_learn_remote(model, OTHER_DEVICE, MAC_A, 1);
	to = send(0, MAC_A, MAC_B);
	ck_assert_int_eq(to.verdict, GALNET_TO_DEVICE);
	ck_assert_uint_eq(to.device, OTHER_DEVICE);
	ck_assert_uint_eq(to.port, 1);
	send(5, BROADCAST, MAC_A);
	ck_assert_int_eq(send(0, MAC_A, MAC_B).verdict, GALNET_TO_PORT);
}
END_TEST

START_TEST(a_full_bucket_leaves_addresses_unknown_and_counts)
{
	unsigned learned = 0, bucket = galnet_bucket(MAC_A);

	put(GALNET_MASK, GALNET_CAUSE_RECOGNITION);
	for (uint64_t mac = MAC_A; learned < GALNET_BUCKET_ENTRIES + 3; mac++) {
		if (galnet_bucket(mac) != bucket)
			continue;
		send(0, BROADCAST, mac);
		ck_assert_int_eq(send(1, mac, BROADCAST).verdict,
		    learned < GALNET_BUCKET_ENTRIES ? GALNET_TO_PORT : GALNET_FLOOD);
		learned++;
	}
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
	ck_assert_uint_eq(get(GALNET_ADDRESS_DISCARDS), 3);
	ck_assert_uint_eq(get(GALNET_ADDRESS_DISCARDS), 0);
}
END_TEST

START_TEST(a_port_that_is_down_gets_nothing)
{
	give_buffers(1);
	send(1, BROADCAST, MAC_A);
	put(GALNET_PORT_CONTROL + 4, 0);
	ck_assert_uint_eq(galnet_model_ports_up(model), 0xfd);
	ck_assert_int_eq(send(0, MAC_A, MAC_B).verdict, GALNET_DISCARD);
	load(1, 0);
	send(0, BROADCAST, MAC_B);
	ck_assert_uint_eq(block_word(0, 0), 0);
	put(GALNET_PORT_CONTROL + 4, GALNET_PORT_CONTROL_ENABLE);
	galnet_model_set_link(model, 2, false);
	ck_assert_uint_eq(galnet_model_ports_up(model), 0xfb);
	ck_assert_uint_eq(get(GALNET_PORT_STATUS + 8), 0);
	ck_assert(get(GALNET_CAUSE) & GALNET_CAUSE_LINK);
}
END_TEST

/* --- the driver over the model --- */

static struct galnet *chip;

static void
create_driver(const struct galnet_info *info)
{
	struct galnet_config config = {.info = info, .bus = &cpu, .device = DEVICE};

	for (unsigned i = 0; i < info->n_ports; i++)
		config.if_index[i] = 101 + i;
	ck_assert_int_eq(galnet_create(&config, &chip), 0);
}

static void
set_up_driver(void)
{
	bool more;

	set_up();
	create_driver(&galnet_gt48001a);
	galnet_dispatch(chip, &hal, 0, 0, &more);
	memset(&hal, 0, sizeof(hal));
}

static void
set_up_driver_48002a(void)
{
	set_up_48002a();
	create_driver(&galnet_gt48002a);
}

static void
tear_down_driver(void)
{
	galnet_destroy(chip);
	tear_down();
}

static int
dispatch(unsigned budget)
{
	bool more;
	int handled = galnet_dispatch(chip, &hal, 777, budget, &more);

	ck_assert_int_ge(handled, 0);
	ck_assert_int_eq(bus_model_lines(board), 0);
	return more ? -handled : handled;
}

START_TEST(driver_never_overwrites_a_skip)
{
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), -EBUSY);
	ck_assert_int_eq(galnet_load_skip(chip, 1, 0x100000), -EINVAL);
	ck_assert_int_eq(galnet_load_skip(chip, 8, 0), -EINVAL);
	send_one_way(0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), -EBUSY);
	ck_assert_int_eq(dispatch(0), 2);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
}
END_TEST

START_TEST(driver_reports_one_sample_a_port_named)
{
	struct galnet_frame f = frame(BROADCAST, MAC_B);

	for (unsigned port = 0; port < 3; port++)
		galnet_load_skip(chip, port, 0);
	galnet_load_skip(chip, 2, 50);
	galnet_model_receive(model, 1, &f);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 3);
	ck_assert_uint_eq(hal.n_refills, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct hal_sample_event *s = &hal.samples[i].event;

		ck_assert_uint_eq(s->if_index, 101 + i);
		ck_assert_uint_eq(s->direction, i == 1 ? EASE_IN : EASE_OUT);
		ck_assert_uint_eq(s->input_if, 102);
		ck_assert_uint_eq(s->output_if, i == 1 ? EASE_IF_MANY : 101 + i);
		ck_assert_uint_eq(s->time_us, 777);
		ck_assert_uint_eq(s->frame_octets, 100);
		ck_assert_uint_eq(s->kept_octets, 96);
		ck_assert_mem_eq(s->octets, octets, FAKE_HAL_KEPT_OCTETS);
		ck_assert_int_eq(s->counter_empty, i != 2);
	}
}
END_TEST

START_TEST(driver_keeps_what_is_real_of_a_cut_frame)
{
	struct galnet_frame f = frame(BROADCAST, MAC_B);

	f.captured_octets = f.data_octets = 40;
	f.wire_octets = 1400;
	galnet_load_skip(chip, 0, 0);
	galnet_model_receive(model, 0, &f);
	dispatch(0);
	ck_assert_uint_eq(hal.samples[0].event.frame_octets, 1400);
	ck_assert_uint_eq(hal.samples[0].event.kept_octets, 40);
}
END_TEST

static void
reload(void *ctx, uint32_t if_index)
{
	(void)ctx;
	ck_assert_int_eq(galnet_load_skip(chip, if_index - 101, 0), 0);
}

/* Every frame sampled on every port, over many times the buffers: none is lost or late. */
START_TEST(driver_keeps_up_when_every_frame_is_a_sample)
{
	hal.on_refill = reload;
	for (unsigned port = 0; port < 8; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 0);
	for (int i = 0; i < 200; i++) {
		send_one_way(3);
		if (i % 2 == 1)
			dispatch(0);
	}
	ck_assert_uint_eq(hal.n_samples, 1600);
	ck_assert_uint_eq(hal.n_refills, 1600);
	ck_assert_uint_eq(galnet_model_samples_lost(model), 0);
}
END_TEST

/* The most that can be on its way without a refill fits the buffers from any starting block. */
START_TEST(driver_can_be_late_by_all_its_skips)
{
	hal.on_refill = reload;
	for (unsigned port = 0; port < 8; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 0);
	for (int round = 0; round < 50; round++) {
		for (unsigned port = 0; port < 8; port++)
			for (int i = 0; i < 4; i++)
				send(port, 0x0180c2000000ull, BROADCAST);
		dispatch(0);
		ck_assert_uint_eq(hal.n_samples, 16 * (round + 1));
	}
	ck_assert_uint_eq(galnet_model_samples_lost(model), 0);
}
END_TEST

START_TEST(driver_honours_its_budget)
{
	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 1, 0);
	send_one_way(0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(dispatch(1), -1);
	ck_assert_uint_eq(hal.n_samples + hal.n_refills, 3);
	ck_assert_int_eq(dispatch(1), 1);
	ck_assert_uint_eq(hal.n_refills, 2);
	ck_assert_int_eq(dispatch(1), 0);
}
END_TEST

/* The port forgets its skips; the others neither lose a skip nor begin one again. */
START_TEST(driver_restarts_one_port)
{
	for (unsigned port = 0; port < 2; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 20 + (uint32_t)i);
	for (int i = 0; i < 15; i++)
		send(1, 0x0180c2000000ull, BROADCAST);
	ck_assert_int_eq(galnet_restart(chip, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 5), -EBUSY);
	ck_assert_int_gt(dispatch(0), 0);
	ck_assert_uint_eq(hal.n_refills, 1);
	ck_assert_uint_eq(hal.refills[0], 101);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	send(0, 0x0180c2000000ull, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 1);
	ck_assert(hal.samples[0].event.counter_empty);
	for (unsigned n = 16; n <= 21 + 22; n++) {
		send(1, 0x0180c2000000ull, BROADCAST);
		dispatch(0);
		ck_assert_uint_eq(hal.n_samples, 1 + (n >= 21) + (n >= 21 + 22));
	}
	ck_assert_int_eq(galnet_restart(chip, 8), -EINVAL);
}
END_TEST

static struct {
	uint32_t skips[2];
	unsigned n, n_full; /* refills that found it full: its skips were lost */
} fifo;

static void
refill_fifo(void *ctx, uint32_t if_index)
{
	(void)ctx;
	if (if_index != 101)
		return;
	if (fifo.n == 2) {
		fifo.n = 0;
		fifo.n_full++;
	}
	for (; fifo.n < 2; fifo.n++) {
		fifo.skips[fifo.n] = 50;
		ck_assert_int_eq(galnet_load_skip(chip, 0, 50), 0);
	}
}

static void
sample_fifo(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	ck_assert_uint_eq(event->if_index, 101);
	ck_assert_uint_gt(fifo.n, 0);
	fifo.skips[0] = fifo.skips[1];
	fifo.n--;
}

/* Who keeps a list of the skips loaded stays in step with the chip, also when samples are on
 * their way at the restart: they come first, with their refills. */
START_TEST(driver_restarts_with_samples_on_their_way)
{
	fifo.n = fifo.n_full = 0;
	hal.on_refill = refill_fifo;
	hal.on_sample = sample_fifo;
	for (; fifo.n < 2; fifo.n++) {
		fifo.skips[fifo.n] = 0;
		galnet_load_skip(chip, 0, 0);
	}
	for (int i = 0; i <= _i; i++)
		send(0, 0x0180c2000000ull, BROADCAST);
	ck_assert_int_eq(galnet_restart(chip, 0), 0);
	while (dispatch(1) < 0)
		;
	ck_assert_uint_eq(hal.n_samples, _i + 1);
	ck_assert_uint_eq(fifo.n_full, 1);
	ck_assert_uint_eq(fifo.n, 2);
	for (int i = 0; i < 51; i++)
		send(0, 0x0180c2000000ull, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, _i + 2);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 0);
}
END_TEST

/* A sample without a buffer must not leave the driver waiting for it. */
START_TEST(driver_notices_a_lost_sample)
{
	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 0, 1000);
	for (int i = 0; i < 2; i++)
		put(GALNET_BUFFER_BASE, 0);
	for (int i = 0; i < 16; i++) {
		galnet_load_skip(chip, 1, 0);
		send(1, 0x0180c2000000ull, BROADCAST);
		dispatch(0);
	}
	memset(&hal, 0, sizeof(hal));
	send(0, 0x0180c2000000ull, BROADCAST);
	ck_assert_uint_eq(galnet_model_samples_lost(model), 1);
	dispatch(0);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 1);
	ck_assert_uint_eq(hal.n_samples, 0);
	ck_assert_uint_eq(hal.n_refills, 1);
}
END_TEST

START_TEST(driver_reports_new_addresses)
{
	send(2, BROADCAST, MAC_A);
	send(3, BROADCAST, MAC_A);
	ck_assert_int_eq(dispatch(0), 2);
	ck_assert_uint_eq(hal.n_new_addresses, 2);
	ck_assert_uint_eq(hal.new_addresses[0].if_index, 103);
	ck_assert_uint_eq(hal.new_addresses[1].if_index, 104);
	ck_assert_mem_eq(hal.new_addresses[0].mac, "\x02\0\0\0\0\x01", 6);
}
END_TEST

START_TEST(overrun_new_addresses_are_counted)
{
	uint64_t discards;

	for (unsigned i = 0; i < GALNET_RING_ENTRIES + 5; i++)
		send(0, BROADCAST, MAC_A + i);
	dispatch(0);
	ck_assert_uint_eq(hal.n_new_addresses, GALNET_RING_ENTRIES);
	ck_assert_int_eq(galnet_address_discards(chip, &discards), 0);
	ck_assert_uint_eq(discards, 0);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_NEW_ADDRESS_LOST), 5);
	send(0, BROADCAST, MAC_A + 1000);
	ck_assert_int_eq(dispatch(0), 1);
}
END_TEST

START_TEST(error_sources_are_counted_by_kind)
{
	galnet_model_error_source(model, 1, MAC_A, true);
	galnet_model_error_source(model, 1, MAC_A, false);
	galnet_model_error_source(model, 1, MAC_A, true);
	dispatch(0);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_ERRORS_TOO_LONG), 2);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_ERRORS_FCS), 1);
}
END_TEST

static int
count_address(void *arg, const struct hal_address *address)
{
	unsigned *n = arg;

	ck_assert_int_eq(address->status, HAL_ADDRESS_LEARNED);
	ck_assert_uint_eq(address->if_index, 103);
	++*n;
	return 0;
}

static unsigned
n_addresses(void)
{
	unsigned n = 0;

	ck_assert_int_eq(galnet_dump_addresses(chip, count_address, &n), 0);
	return n;
}

static void
remove_aged(void *arg, uint64_t mac)
{
	(void)arg;
	ck_assert_int_eq(galnet_remove_address(chip, mac), 0);
}

START_TEST(unused_addresses_age_out_at_the_second_step)
{
	send(2, BROADCAST, MAC_A);
	send(2, BROADCAST, MAC_B);
	galnet_model_learn_remote(model, OTHER_DEVICE, MAC_C, 2);
	ck_assert_uint_eq(n_addresses(), 2);
	ck_assert_int_eq(galnet_age(chip, remove_aged, NULL), 0);
	ck_assert_uint_eq(n_addresses(), 2);
	send(2, BROADCAST, MAC_A);
	ck_assert_int_eq(galnet_age(chip, remove_aged, NULL), 0);
	ck_assert_uint_eq(n_addresses(), 1);
	ck_assert_int_eq(send(0, MAC_B, MAC_A).verdict, GALNET_FLOOD);
}
END_TEST

START_TEST(driver_switches_ports_and_sees_links)
{
	bool up;

	ck_assert_int_eq(galnet_enable_port(chip, 3, false), 0);
	ck_assert_uint_eq(galnet_model_ports_up(model), 0xf7);
	ck_assert_int_eq(galnet_enable_port(chip, 3, true), 0);
	galnet_model_set_link(model, 6, false);
	ck_assert_int_eq(galnet_link(chip, 6, &up), 0);
	ck_assert(!up);
	dispatch(0);
	ck_assert_uint_eq(hal.n_port_changes, 8);
}
END_TEST

START_TEST(driver_of_the_gt48002a_samples)
{
	bool more;

	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 1, 0);
	galnet_load_skip(chip, 1, 0);
	send(1, BROADCAST, BROADCAST);
	ck_assert_int_eq(galnet_dispatch(chip, &hal, 1, 0, &more), 3); /* a block, two refills */
	ck_assert_uint_eq(bus_model_lines(board), 0);
	ck_assert_uint_eq(hal.samples[0].event.direction, EASE_OUT);
	ck_assert_uint_eq(hal.samples[1].event.direction, EASE_IN);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 2, 0), -EINVAL);
}
END_TEST

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

static void
add_driver_tests(TCase *c)
{
	tcase_add_test(c, driver_never_overwrites_a_skip);
	tcase_add_test(c, driver_reports_one_sample_a_port_named);
	tcase_add_test(c, driver_keeps_what_is_real_of_a_cut_frame);
	tcase_add_test(c, driver_keeps_up_when_every_frame_is_a_sample);
	tcase_add_test(c, driver_can_be_late_by_all_its_skips);
	tcase_add_test(c, driver_honours_its_budget);
	tcase_add_test(c, driver_restarts_one_port);
	tcase_add_loop_test(c, driver_restarts_with_samples_on_their_way, 0, 2);
	tcase_add_test(c, driver_notices_a_lost_sample);
	tcase_add_test(c, driver_reports_new_addresses);
	tcase_add_test(c, overrun_new_addresses_are_counted);
	tcase_add_test(c, error_sources_are_counted_by_kind);
	tcase_add_test(c, unused_addresses_age_out_at_the_second_step);
	tcase_add_test(c, driver_switches_ports_and_sees_links);
}

int
main(void)
{
	Suite *suite = suite_create("galnet");
	TCase *eight = tcase_create("GT-48001A"), *two = tcase_create("GT-48002A");
	TCase *driver = tcase_create("driver"), *driver_two = tcase_create("driver, GT-48002A");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(eight, set_up, tear_down);
	add_model_tests(eight);
	tcase_add_checked_fixture(two, set_up_48002a, tear_down);
	tcase_add_test(two, gt48002a_has_its_ease_bits_in_the_common_cause);
	tcase_add_checked_fixture(driver, set_up_driver, tear_down_driver);
	add_driver_tests(driver);
	tcase_add_checked_fixture(driver_two, set_up_driver_48002a, tear_down_driver);
	tcase_add_test(driver_two, driver_of_the_gt48002a_samples);
	suite_add_tcase(suite, eight);
	suite_add_tcase(suite, two);
	suite_add_tcase(suite, driver);
	suite_add_tcase(suite, driver_two);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
