/*
 * Writes to the CPU's memory as a GalNet chip does: packets to the receive buffers, NEW_ADDRESS and
 * Error_Source messages to their rings.
 */
#include "agent/sim/chip/galnet_model_private.h"

#include <endian.h>
#include <string.h>

/* Data must be visible before the mark that makes it valid, because the CPU reads without the lock. */
static void
store_word(uint8_t *memory, uint32_t value)
{
	uint32_t word = htole32(value);

	__atomic_store((uint32_t *)(void *)memory, &word, __ATOMIC_RELEASE);
}

static uint32_t
load_word(const uint8_t *memory)
{
	uint32_t word;

	__atomic_load((const uint32_t *)(const void *)memory, &word, __ATOMIC_ACQUIRE);
	return le32toh(word);
}

/* Writes an entry of a message ring; false if the CPU has not read the old one yet. */
static bool
post_message(struct galnet_model *m, enum galnet_row base, unsigned *next, uint32_t word_0,
    uint32_t word_1)
{
	uint8_t *entry = bus_model_memory(m->config.bus,
	    *galnet_reg(m, base) + *next * GALNET_RING_ENTRY_OCTETS, GALNET_RING_ENTRY_OCTETS);

	if (!entry || load_word(entry + 4) & GALNET_ENTRY_VALID)
		return false;
	*next = (*next + 1) % GALNET_RING_ENTRIES;
	store_word(entry, word_0);
	store_word(entry + 4, word_1 | GALNET_ENTRY_VALID);
	return true;
}

void
galnet_chip_write_new_address(struct galnet_model *m, uint64_t mac, unsigned port)
{
	if (!galnet_control(m, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU))
		return;
	if (!post_message(m, ROW_NEW_ADDRESS_BASE, &m->next_new_address, galnet_entry_word_0(mac),
		galnet_entry_word_1(mac, m->config.device, port, 0)))
		*galnet_reg(m, ROW_NEW_ADDRESS_LOST) += 1;
	galnet_chip_raise(m, GALNET_CAUSE_NEW_ADDRESS);
}

void
galnet_model_error_source(struct galnet_model *m, unsigned port, uint64_t source, bool too_long)
{
	if (!galnet_control(m, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE) ||
	    *galnet_reg(m, ROW_ERROR_SOURCE_BASE) == 0)
		return;
	if (!post_message(m, ROW_ERROR_SOURCE_BASE, &m->next_error_source,
		galnet_entry_word_0(source),
		galnet_entry_word_1(source, m->config.device, port,
		    too_long ? GALNET_ENTRY_TOO_LONG : 0)))
		*galnet_reg(m, ROW_ERROR_SOURCE_LOST) += 1;
	galnet_chip_raise(m, GALNET_CAUSE_ERROR_SOURCE);
}

/* --- receive buffers --- */

void
galnet_chip_buffer_base_written(struct galnet_model *m, uint32_t written)
{
	if (m->has_buffer) {
		m->buffer_shadow = written;
		m->has_shadow = true;
	} else {
		m->buffer_base = written;
		m->has_buffer = true;
		m->block = 0;
	}
}

/* After sixteen packets CBA is loaded from CBAS. If CBAS is empty there is no buffer for the next. */
static void
next_block(struct galnet_model *m)
{
	if (++m->block < GALNET_AREA_BLOCKS)
		return;
	m->block = 0;
	m->buffer_base = m->buffer_shadow;
	m->has_buffer = m->has_shadow;
	m->has_shadow = false;
	galnet_chip_raise(m, GALNET_CAUSE_BUF_WRAP);
}

static void
write_packet(uint8_t *block, const struct galnet_frame *f, uint32_t word_0)
{
	uint32_t data = f->data_octets, captured = f->captured_octets;

	if (data > GALNET_BLOCK_DATA_MAX)
		data = GALNET_BLOCK_DATA_MAX;
	if (captured > data)
		captured = data;
	memcpy(block + GALNET_BLOCK_DATA, f->octets, captured);
	memset(block + GALNET_BLOCK_DATA + captured, 0, data - captured);
	if (data + GALNET_FCS_OCTETS < f->wire_octets)
		store_word(block + GALNET_BLOCK_REAL_OCTETS, data);
	store_word(block, word_0);
}

void
galnet_chip_deliver(struct galnet_model *m, uint32_t ports, int arrival,
    const struct galnet_frame *f, uint32_t marks)
{
	uint32_t word_0 = GALNET_WORD0_VALID | marks | ports << GALNET_WORD0_EASE_SHIFT |
	    (f->wire_octets & GALNET_WORD0_COUNT_MASK) << GALNET_WORD0_COUNT_SHIFT;
	uint8_t *block = NULL;

	if (arrival >= 0)
		word_0 |= GALNET_WORD0_ORIGINAL | (uint32_t)arrival << GALNET_WORD0_SOURCE_SHIFT;
	if (m->has_buffer)
		block = bus_model_memory(m->config.bus,
		    m->buffer_base + m->block * GALNET_BLOCK_OCTETS, GALNET_BLOCK_OCTETS);
	if (!block) {
		*galnet_reg(m, ROW_PACKETS_LOST) += 1;
		m->packets_lost++;
		return;
	}
	write_packet(block, f, word_0);
	next_block(m);
	galnet_chip_raise(m, GALNET_CAUSE_PACKET);
}
