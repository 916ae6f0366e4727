#include "agent/sim/chip/galnet.h"

#include "common/log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct galnet_info galnet_gt48001a = {
    .name = "GT-48001A",
    .n_ports = GT48001A_PORTS,
    .ease_cause = GT48001A_EASE_CAUSE,
    .ease_mask = GT48001A_EASE_MASK,
    .ease_shift = GT48001A_EASE_SHIFT,
};
const struct galnet_info galnet_gt48002a = {
    .name = "GT-48002A",
    .n_ports = GT48002A_PORTS,
    .ease_cause = GALNET_CAUSE,
    .ease_mask = GALNET_MASK,
    .ease_shift = GT48002A_EASE_SHIFT,
};

static const struct stat_name stat_names[GALNET_N_STATS] = {
    [GALNET_STAT_SAMPLES_LOST] = {"galnet.samples_lost",
	"samples lost: the chip had no receive buffer for them"},
    [GALNET_STAT_BAD_BLOCKS] = {"galnet.bad_blocks", "receive blocks ignored: impossible length"},
    [GALNET_STAT_NEW_ADDRESS_LOST] = {"galnet.new_address_lost",
	"NEW_ADDRESS messages lost: not read in time"},
    [GALNET_STAT_PACKETS_LOST] = {"galnet.packets_lost",
	"packets for the CPU, including samples, lost for want of a receive buffer (counted by the chip)"},
    [GALNET_STAT_OTHER_PACKETS] = {"galnet.other_packets",
	"packets for the CPU that were not samples, ignored"},
    [GALNET_STAT_ERROR_SOURCE_LOST] = {"galnet.error_source_lost",
	"Error_Source messages lost: not read in time"},
    [GALNET_STAT_ERRORS_FCS] = {"galnet.error_source_fcs", "Error_Source messages for a bad FCS"},
    [GALNET_STAT_ERRORS_TOO_LONG] = {"galnet.error_source_too_long",
	"Error_Source messages for a frame that was too long"},
};

struct galnet_port {
	uint32_t skips[GALNET_SKIP_DEPTH]; /* in the chip, according to the writes and samples so far */
	unsigned loaded;		   /* how many of them */
	/* While the chip's EASE is off: the rest of skips[0] in the counter, if left_known. */
	uint32_t left;
	bool left_known;
};

/* A ring of messages that the chip writes and the driver empties. */
struct ring {
	uint8_t *memory;
	unsigned next;
};

struct galnet {
	struct galnet_config config;
	uint32_t base;	       /* bus address of the device's slice */
	struct galnet_port port[GALNET_MAX_PORTS];
	uint8_t *buffers;      /* two adjacent areas */
	uint32_t buffers_bus;
	unsigned block;	       /* next one to be filled, over both areas */
	struct ring new_addresses, error_sources;
	bool link_changed;
	bool suspended; /* EASE is off: skips are stored in port[] and written when it is on again */
	uint32_t restarts;   /* ports, a bit each, whose skips must be discarded */
	uint32_t skips_lost; /* ports, a bit each, whose skips were discarded: not reported yet */
	/* Ports, a bit each, whose shadow was found empty when the status was last read, so that there
	 * must be a sample. */
	uint32_t sample_owed;
	uint64_t discards;
	_Atomic uint64_t stat_values[GALNET_N_STATS];
	struct stat_set stats;
};

static int
read_register(const struct galnet *g, uint32_t offset, uint32_t *value)
{
	return bus_read(g->config.bus, g->base + offset, value);
}

static int
write_register(const struct galnet *g, uint32_t offset, uint32_t value)
{
	return bus_write(g->config.bus, g->base + offset, value);
}

/* The chip writes words of the CPU's memory while the driver reads them. A word is read atomically, and
 * all that the chip wrote before a valid mark is visible once the mark is. */
static uint32_t
galnet_load_word(const uint8_t *memory)
{
	uint32_t word;

	__atomic_load((const uint32_t *)(const void *)memory, &word, __ATOMIC_ACQUIRE);
	return le32toh(word);
}

static void
galnet_store_word(uint8_t *memory, uint32_t value)
{
	uint32_t word = htole32(value);

	__atomic_store((uint32_t *)(void *)memory, &word, __ATOMIC_RELEASE);
}

/* --- skip counts --- */

static int
write_skip(const struct galnet *g, unsigned port, uint32_t skip)
{
	return write_register(g, GALNET_EASE_REGISTER + 4 * port, skip);
}

int
galnet_load_skip(struct galnet *g, unsigned port, uint32_t skip)
{
	struct galnet_port *p = &g->port[port];
	int rc = 0;

	if (port >= g->config.info->n_ports || skip > GALNET_EASE_COUNT_MASK)
		return -EINVAL;
	if (p->loaded == GALNET_SKIP_DEPTH)
		return -EBUSY;
	if (!g->suspended)
		rc = write_skip(g, port, skip);
	if (rc == 0)
		p->skips[p->loaded++] = skip;
	return rc;
}

static uint8_t *
block_at(const struct galnet *g, unsigned i)
{
	return g->buffers + (size_t)i % (2 * GALNET_AREA_BLOCKS) * GALNET_BLOCK_OCTETS;
}

static uint32_t
sampled_ports(const struct galnet *g, uint32_t word_0)
{
	return word_0 >> GALNET_WORD0_EASE_SHIFT & ((1u << g->config.info->n_ports) - 1);
}

int
galnet_restart(struct galnet *g, unsigned port)
{
	if (port >= g->config.info->n_ports)
		return -EINVAL;
	g->restarts |= 1u << port; /* its skips must be discarded */
	return 0;
}

/* Turns EASE off, which empties the counters. Earlier samples may still be in memory. */
static int
suspend_ports(struct galnet *g)
{
	for (unsigned port = 0; port < g->config.info->n_ports; port++) {
		struct galnet_port *p = &g->port[port];
		int rc = read_register(g, GALNET_EASE_REGISTER + 4 * port, &p->left);

		if (rc < 0)
			return rc;
		p->left_known = true;
	}
	g->suspended = true;
	return bus_update(g->config.bus, g->base + GALNET_GLOBAL_CONTROL, GALNET_CONTROL_EASE_ENABLE, 0);
}

/* Writes a port's skips to the chip again, or requests new ones if they must be discarded. */
static int
resume_port(struct galnet *g, unsigned port)
{
	struct galnet_port *p = &g->port[port];
	int rc = 0;

	if (g->restarts >> port & 1) {
		g->restarts &= ~(1u << port);
		p->loaded = 0;
		g->skips_lost |= 1u << port;
		return 0;
	}
	for (unsigned i = 0; i < p->loaded && rc == 0; i++)
		rc = write_skip(g, port, i == 0 && p->left_known ? p->left : p->skips[i]);
	return rc;
}

static int
resume_ports(struct galnet *g)
{
	for (unsigned port = 0; port < g->config.info->n_ports; port++) {
		int rc = resume_port(g, port);

		if (rc < 0)
			return rc;
	}
	g->suspended = false;
	return bus_update(g->config.bus, g->base + GALNET_GLOBAL_CONTROL,
	    GALNET_CONTROL_EASE_ENABLE, GALNET_CONTROL_EASE_ENABLE);
}

/* One step of a restart, made when no sample is in memory: turns EASE off; and when samples that came until
 * then are reported, too, turns it on again. 1 if a step was made, 0 if none is needed. */
static int
restart_step(struct galnet *g)
{
	int rc;

	if (g->restarts == 0 && !g->suspended)
		return 0;
	rc = g->suspended ? resume_ports(g) : suspend_ports(g);
	return rc < 0 ? rc : 1;
}

/* Reports one port that lost its skips; false if there is none. */
static bool
galnet_report_skips_lost(struct galnet *g, struct hal *hal)
{
	unsigned port;

	if (g->skips_lost == 0)
		return false;
	port = (unsigned)__builtin_ctz(g->skips_lost);
	g->skips_lost &= ~(1u << port);
	hal_report_skips_lost(hal, g->config.if_index[port]);
	return true;
}

/* --- samples --- */

/* Whether a block behind the one that is being read has a sample of the port. */
static bool
sample_waits(const struct galnet *g, unsigned port)
{
	for (unsigned i = 1; i < 2 * GALNET_AREA_BLOCKS; i++) {
		uint32_t word_0 = galnet_load_word(block_at(g, g->block + i));

		if (!(word_0 & GALNET_WORD0_VALID))
			return false;
		if (sampled_ports(g, word_0) >> port & 1)
			return true;
	}
	return false;
}

/* Removes the skip count of a sample of the port. True if the chip has none left: the last one may have
 * ended, too, in a sample that waits in memory. */
static bool
consume_skip(struct galnet *g, unsigned port)
{
	struct galnet_port *p = &g->port[port];

	g->sample_owed &= ~(1u << port);
	p->left_known = false;
	if (p->loaded > 0) {
		p->skips[0] = p->skips[1];
		p->loaded--;
	}
	return p->loaded == 0 || (p->loaded == 1 && sample_waits(g, port));
}

/* Reports a sample of the port, and loads the skip that is the answer. A port to which it cannot be written
 * begins anew: nobody knows what its registers hold. */
static void
pass_up(struct galnet *g, struct hal *hal, unsigned port, struct hal_sample_event *event)
{
	int64_t next;
	int rc;

	event->if_index = g->config.if_index[port];
	event->counter_empty = consume_skip(g, port);
	event->pool_pkts = HAL_POOL_UNKNOWN;
	next = hal_report_sample(hal, event);
	if (next == HAL_NO_SKIP)
		return;
	rc = galnet_load_skip(g, port, (uint32_t)next);
	if (rc == 0)
		return;
	log_warn_limited("galnet", "port %u: a skip could not be loaded: %s", event->if_index, strerror(-rc));
	galnet_restart(g, port);
}

/* The output port is known if the frame was sampled on its way out, or goes to a group. */
static uint64_t
galnet_output_of(const struct galnet *g, unsigned port, bool received, const uint8_t *octets)
{
	if (!received)
		return g->config.if_index[port];
	if (octets[0] & 1)
		return EASE_IF_MANY;
	return EASE_IF_UNKNOWN;
}

static void
galnet_report_sample(struct galnet *g, struct hal *hal, unsigned port, uint32_t word_0, struct hal_sample_event event)
{
	bool original = word_0 & GALNET_WORD0_ORIGINAL;
	unsigned source = word_0 >> GALNET_WORD0_SOURCE_SHIFT & GALNET_WORD0_SOURCE_MASK;
	bool received = original && source == port;

	event.direction = received ? EASE_IN : EASE_OUT;
	event.input_if = EASE_IF_UNKNOWN;
	if (original && source < g->config.info->n_ports)
		event.input_if = g->config.if_index[source];
	event.output_if = galnet_output_of(g, port, received, event.octets);
	pass_up(g, hal, port, &event);
}

/* Releases the block. An area is returned to the chip when its last block has been read. */
static int
release_block(struct galnet *g)
{
	uint8_t *block = block_at(g, g->block);
	unsigned area = g->block / GALNET_AREA_BLOCKS;

	galnet_store_word(block + GALNET_BLOCK_REAL_OCTETS, 0);
	galnet_store_word(block, 0);
	g->block = (g->block + 1) % (2 * GALNET_AREA_BLOCKS);
	if (g->block % GALNET_AREA_BLOCKS != 0)
		return 0;
	return write_register(g, GALNET_BUFFER_BASE, g->buffers_bus + area * GALNET_AREA_OCTETS);
}

/* Reads one block from the receive buffers: 1, 0 if there is none, or -errno. */
static int
galnet_take_block(struct galnet *g, struct hal *hal, uint64_t now_us)
{
	const uint8_t *block = block_at(g, g->block);
	uint32_t word_0 = galnet_load_word(block);
	uint32_t count = word_0 >> GALNET_WORD0_COUNT_SHIFT & GALNET_WORD0_COUNT_MASK;
	uint32_t real = galnet_load_word(block + GALNET_BLOCK_REAL_OCTETS);
	struct hal_sample_event event = {.time_us = now_us, .frame_octets = count,
	    .octets = block + GALNET_BLOCK_DATA};
	int rc;

	if (!(word_0 & GALNET_WORD0_VALID))
		return 0;
	event.kept_octets = real ? real : count - GALNET_FCS_OCTETS;
	if (count <= GALNET_FCS_OCTETS || event.kept_octets > GALNET_BLOCK_DATA_MAX) {
		stat_add(&g->stats, GALNET_STAT_BAD_BLOCKS, 1);
		event.kept_octets = 0;
	}
	if (sampled_ports(g, word_0) == 0)
		stat_add(&g->stats, GALNET_STAT_OTHER_PACKETS, 1);
	for (uint32_t left = sampled_ports(g, word_0); left != 0; left &= left - 1)
		galnet_report_sample(g, hal, (unsigned)__builtin_ctz(left), word_0, event);
	rc = release_block(g);
	return rc < 0 ? rc : 1;
}

/* --- messages --- */

/* Reads one message from a ring; false if there is none. */
static bool
galnet_take_message(struct ring *ring, uint32_t *word_0, uint32_t *word_1)
{
	uint8_t *entry = ring->memory + (size_t)ring->next * GALNET_RING_ENTRY_OCTETS;

	*word_1 = galnet_load_word(entry + 4);
	if (!(*word_1 & GALNET_ENTRY_VALID))
		return false;
	*word_0 = galnet_load_word(entry);
	galnet_store_word(entry + 4, 0);
	ring->next = (ring->next + 1) % GALNET_RING_ENTRIES;
	return true;
}

static void
put_mac(uint64_t mac, uint8_t octets[6])
{
	for (int i = 5; i >= 0; i--, mac >>= 8)
		octets[i] = (uint8_t)mac;
}

static bool
take_new_address(struct galnet *g, struct hal *hal, uint64_t now_us)
{
	struct ease_address address = {.time_us = now_us};
	uint32_t word_0, word_1;

	if (!galnet_take_message(&g->new_addresses, &word_0, &word_1))
		return false;
	address.if_index = g->config.if_index[galnet_entry_port(word_1)];
	put_mac(galnet_entry_mac(word_0, word_1), address.mac);
	hal_report_new_address(hal, &address);
	return true;
}

static bool
take_error_source(struct galnet *g, struct hal *hal, uint64_t now_us)
{
	struct hal_error_event event = {.time_us = now_us};
	uint32_t word_0, word_1;
	bool too_long;

	if (!galnet_take_message(&g->error_sources, &word_0, &word_1))
		return false;
	too_long = word_1 & GALNET_ENTRY_TOO_LONG;
	stat_add(&g->stats, too_long ? GALNET_STAT_ERRORS_TOO_LONG : GALNET_STAT_ERRORS_FCS, 1);
	event.kind = too_long ? EASE_ERROR_TOO_LONG : EASE_ERROR_FCS;
	event.if_index = g->config.if_index[galnet_entry_port(word_1)];
	put_mac(galnet_entry_mac(word_0, word_1), event.mac);
	hal_report_error_source(hal, &event);
	return true;
}

/* --- interrupt --- */

enum {
	ALL_CAUSES = GALNET_CAUSE_PACKET | GALNET_CAUSE_BUF_WRAP | GALNET_CAUSE_NEW_ADDRESS |
	    GALNET_CAUSE_RECOGNITION | GALNET_CAUSE_ERROR_SOURCE | GALNET_CAUSE_LINK
};

static uint32_t
ease_bits(const struct galnet *g)
{
	return ((1u << g->config.info->n_ports) - 1) << g->config.info->ease_shift;
}

/* Clears the interrupt causes before the memory is read, so that no event is missed. *ease gets the EASE
 * status at that time. */
static int
acknowledge_causes(struct galnet *g, uint32_t *ease)
{
	uint32_t ease_cause = g->config.info->ease_cause;
	uint32_t cause;
	int rc = read_register(g, GALNET_CAUSE, &cause);

	if (rc < 0)
		return rc;
	g->link_changed = g->link_changed || cause & GALNET_CAUSE_LINK;
	*ease = cause;
	if (ease_cause == GALNET_CAUSE)
		return write_register(g, GALNET_CAUSE, (cause & ALL_CAUSES) | ease_bits(g));
	rc = write_register(g, GALNET_CAUSE, cause & ALL_CAUSES);
	if (rc == 0)
		rc = read_register(g, ease_cause, ease);
	return rc < 0 ? rc : write_register(g, ease_cause, ease_bits(g));
}

/* A port whose register is empty although two values were loaded has taken a sample. */
static void
note_samples_owed(struct galnet *g, uint32_t ease)
{
	uint32_t bits = (ease & ease_bits(g)) >> g->config.info->ease_shift;
	uint32_t empty = GALNET_EASE_BIT_WHEN_EMPTY ? bits : ~bits;

	if (g->suspended)
		return;
	for (unsigned port = 0; port < g->config.info->n_ports; port++)
		if (g->port[port].loaded == GALNET_SKIP_DEPTH && empty & 1u << port)
			g->sample_owed |= 1u << port;
}

/* All delivered samples have been read: those still missing found no buffer, and their ports must not wait
 * for them. 1 if there were any. */
static int
give_up_samples_owed(struct galnet *g, struct hal *hal, uint64_t now_us)
{
	int any = g->sample_owed != 0;

	for (unsigned port = 0; g->sample_owed != 0; port++) {
		struct hal_sample_event event = {.time_us = now_us, .lost = true};

		if (!(g->sample_owed & 1u << port))
			continue;
		stat_add(&g->stats, GALNET_STAT_SAMPLES_LOST, 1);
		pass_up(g, hal, port, &event);
	}
	return any;
}

static void
galnet_report_links(struct galnet *g, struct hal *hal)
{
	if (!g->link_changed)
		return;
	g->link_changed = false;
	for (unsigned port = 0; port < g->config.info->n_ports; port++)
		if (g->config.if_index[port] != 0)
			hal_report_port_changed(hal, g->config.if_index[port]);
}

/* Handles one event: 1, 0 if there is none, or -errno. */
static int
galnet_take_one(struct galnet *g, struct hal *hal, uint64_t now_us)
{
	int rc;

	rc = galnet_take_block(g, hal, now_us);
	if (rc == 0)
		rc = galnet_report_skips_lost(g, hal);
	if (rc == 0)
		rc = give_up_samples_owed(g, hal, now_us);
	if (rc == 0)
		rc = restart_step(g);
	if (rc == 0)
		rc = take_error_source(g, hal, now_us);
	if (rc == 0)
		rc = take_new_address(g, hal, now_us);
	return rc;
}

static bool
message_waits(const struct ring *ring)
{
	return galnet_load_word(ring->memory + (size_t)ring->next * GALNET_RING_ENTRY_OCTETS + 4) &
	    GALNET_ENTRY_VALID;
}

static bool
anything_left(const struct galnet *g)
{
	return g->skips_lost != 0 || g->restarts != 0 || g->suspended ||
	    galnet_load_word(block_at(g, g->block)) & GALNET_WORD0_VALID ||
	    message_waits(&g->new_addresses) || message_waits(&g->error_sources);
}

bool
galnet_pending(const struct galnet *g)
{
	return anything_left(g) || g->sample_owed != 0 || g->link_changed;
}

int
galnet_dispatch(struct galnet *g, struct hal *hal, uint64_t now_us, unsigned budget, bool *more)
{
	uint32_t ease;
	int handled = 0;
	int rc = acknowledge_causes(g, &ease);

	if (rc < 0)
		return rc;
	note_samples_owed(g, ease);
	galnet_report_links(g, hal);
	do {
		rc = galnet_take_one(g, hal, now_us);
		handled += rc > 0;
	} while (rc > 0 && (budget == 0 || (unsigned)handled < budget));
	*more = anything_left(g);
	return rc < 0 ? rc : handled;
}

/* --- ports --- */

int
galnet_enable_port(struct galnet *g, unsigned port, bool enable)
{
	return bus_update(g->config.bus, g->base + GALNET_PORT_CONTROL + 4 * port,
	    GALNET_PORT_CONTROL_ENABLE, enable ? GALNET_PORT_CONTROL_ENABLE : 0);
}

int
galnet_link(struct galnet *g, unsigned port, bool *up)
{
	uint32_t status;
	int rc = read_register(g, GALNET_PORT_STATUS + 4 * port, &status);

	if (rc == 0)
		*up = status & GALNET_PORT_STATUS_LINK;
	return rc;
}

/* --- addresses --- */

static uint32_t
entry_offset(unsigned i)
{
	return GALNET_ADDRESS_TABLE + i * GALNET_ENTRY_OCTETS;
}

/* Reads an entry: 1 if it is valid, 0 if not. Reads the second word first, because most are not valid. */
static int
read_entry(const struct galnet *g, unsigned i, uint32_t *word_0, uint32_t *word_1)
{
	int rc = read_register(g, entry_offset(i) + 4, word_1);

	if (rc < 0 || !(*word_1 & GALNET_ENTRY_VALID))
		return rc;
	rc = read_register(g, entry_offset(i), word_0);
	return rc < 0 ? rc : 1;
}

static bool
is_own(const struct galnet *g, uint32_t word_1)
{
	return galnet_entry_device(word_1) == g->config.device;
}

enum { BURST_ENTRIES = 64 }; /* of the address table, read at a time */

/* Calls visit for every valid entry that this chip owns. Ends when visit returns non-zero, and returns
 * that. */
static int
visit_own_entries(struct galnet *g,
    int (*visit)(struct galnet *g, unsigned i, uint32_t word_0, uint32_t word_1, void *arg),
    void *arg)
{
	uint32_t words[BURST_ENTRIES * 2];

	for (unsigned i = 0; i < GALNET_TABLE_ENTRIES; i++) {
		const uint32_t *entry = &words[i % BURST_ENTRIES * 2];
		int rc = 0;

		if (i % BURST_ENTRIES == 0)
			rc = bus_read_words(g->config.bus, g->base + entry_offset(i), words, BURST_ENTRIES * 2);
		if (rc == 0 && entry[1] & GALNET_ENTRY_VALID && is_own(g, entry[1]))
			rc = visit(g, i, entry[0], entry[1], arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

struct dump {
	int (*add)(void *arg, const struct hal_address *address);
	void *arg;
};

static int
dump_entry(struct galnet *g, unsigned i, uint32_t word_0, uint32_t word_1, void *arg)
{
	const struct dump *dump = arg;
	struct hal_address address = {
	    .if_index = g->config.if_index[galnet_entry_port(word_1)],
	    .status = word_1 & GALNET_ENTRY_STATIC ? HAL_ADDRESS_MGMT : HAL_ADDRESS_LEARNED,
	};

	(void)i;
	put_mac(galnet_entry_mac(word_0, word_1), address.mac);
	return dump->add(dump->arg, &address);
}

int
galnet_dump_addresses(struct galnet *g, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	return visit_own_entries(g, dump_entry, &(struct dump){add, arg});
}

struct ageing {
	void (*remove)(void *arg, uint64_t mac);
	void *arg;
};

/* The chip may have changed the entry since the burst: it is read again before it is written. */
static int
age_entry(struct galnet *g, unsigned i, uint32_t word_0, uint32_t word_1, void *arg)
{
	const struct ageing *ageing = arg;
	int rc = read_entry(g, i, &word_0, &word_1);

	if (rc <= 0 || !is_own(g, word_1) || word_1 & GALNET_ENTRY_STATIC)
		return rc < 0 ? rc : 0;
	if (word_1 & GALNET_ENTRY_AGING)
		return write_register(g, entry_offset(i) + 4, word_1 & ~(uint32_t)GALNET_ENTRY_AGING);
	ageing->remove(ageing->arg, galnet_entry_mac(word_0, word_1));
	return 0;
}

int
galnet_age(struct galnet *g, void (*remove)(void *arg, uint64_t mac), void *arg)
{
	return visit_own_entries(g, age_entry, &(struct ageing){remove, arg});
}

int
galnet_remove_address(struct galnet *g, uint64_t mac)
{
	unsigned first = galnet_bucket(mac) * GALNET_BUCKET_ENTRIES;
	uint32_t words[GALNET_BUCKET_ENTRIES * 2];
	int rc = bus_read_words(g->config.bus, g->base + entry_offset(first), words,
	    GALNET_BUCKET_ENTRIES * 2);

	for (unsigned i = 0; i < GALNET_BUCKET_ENTRIES && rc == 0; i++) {
		const uint32_t *entry = &words[2 * i];

		if (entry[1] & GALNET_ENTRY_VALID && !(entry[1] & GALNET_ENTRY_STATIC) &&
		    galnet_entry_mac(entry[0], entry[1]) == mac)
			return write_register(g, entry_offset(first + i) + 4, 0);
	}
	return rc;
}

/* Adds what the chip has lost since the last call: a read of the register zeroes it. */
static int
galnet_count_lost(struct galnet *g, uint32_t offset, enum galnet_stat stat)
{
	uint32_t lost;
	int rc = read_register(g, offset, &lost);

	if (rc == 0)
		stat_add(&g->stats, stat, lost);
	return rc;
}

int
galnet_address_discards(struct galnet *g, uint64_t *discards)
{
	uint32_t since;
	int rc = read_register(g, GALNET_ADDRESS_DISCARDS, &since);

	if (rc < 0)
		return rc;
	g->discards += since;
	*discards = g->discards;
	rc = galnet_count_lost(g, GALNET_NEW_ADDRESS_LOST, GALNET_STAT_NEW_ADDRESS_LOST);
	if (rc == 0)
		rc = galnet_count_lost(g, GALNET_PACKETS_LOST, GALNET_STAT_PACKETS_LOST);
	return rc;
}

int
galnet_errors_lost(struct galnet *g, uint64_t *lost)
{
	int rc = galnet_count_lost(g, GALNET_ERROR_SOURCE_LOST, GALNET_STAT_ERROR_SOURCE_LOST);

	*lost = stat_get(&g->stats, GALNET_STAT_ERROR_SOURCE_LOST);
	return rc;
}

/* --- life --- */

static uint8_t *
share_memory(struct galnet *g, size_t octets, uint32_t *bus_address)
{
	return g->config.bus->ops->alloc_shared(g->config.bus->ctx, octets, bus_address);
}

static int
set_up_memory(struct galnet *g)
{
	uint32_t new_addresses, error_sources;
	int rc;

	g->buffers = share_memory(g, 2 * GALNET_AREA_OCTETS, &g->buffers_bus);
	g->new_addresses.memory = share_memory(g, GALNET_RING_OCTETS, &new_addresses);
	g->error_sources.memory = share_memory(g, GALNET_RING_OCTETS, &error_sources);
	if (!g->buffers || !g->new_addresses.memory || !g->error_sources.memory)
		return -ENOMEM;
	/* The first write is CBA, the second CBAS. */
	rc = write_register(g, GALNET_BUFFER_BASE, g->buffers_bus);
	if (rc == 0)
		rc = write_register(g, GALNET_BUFFER_BASE, g->buffers_bus + GALNET_AREA_OCTETS);
	if (rc == 0)
		rc = write_register(g, GALNET_NEW_ADDRESS_BASE, new_addresses);
	if (rc == 0)
		rc = write_register(g, GALNET_ERROR_SOURCE_BASE, error_sources);
	return rc;
}

/* A full table raises no interrupt here: its counter is read on other occasions. */
static int
set_up_chip(struct galnet *g)
{
	uint32_t ease_mask = g->config.info->ease_mask;
	int rc = write_register(g, GALNET_MASK,
	    GALNET_CAUSE_PACKET | GALNET_CAUSE_NEW_ADDRESS | GALNET_CAUSE_ERROR_SOURCE |
		GALNET_CAUSE_LINK);

	if (rc == 0)
		rc = bus_update(g->config.bus, g->base + ease_mask, ease_bits(g), ease_bits(g));
	if (rc < 0)
		return rc;
	return write_register(g, GALNET_GLOBAL_CONTROL,
	    GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU |
		GALNET_CONTROL_EASE_ENABLE);
}

int
galnet_create(const struct galnet_config *config, struct galnet **chip)
{
	struct galnet *g;
	int rc;

	if (config->device >= GALNET_MAX_DEVICES)
		return -EINVAL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->config = *config;
	g->base = GALNET_REGION + config->device * GALNET_SLICE;
	g->stats = (struct stat_set){stat_names, GALNET_N_STATS, g->stat_values};
	rc = set_up_memory(g);
	if (rc == 0)
		rc = set_up_chip(g);
	if (rc < 0) {
		free(g);
		return rc;
	}
	*chip = g;
	return 0;
}

void
galnet_destroy(struct galnet *chip)
{
	free(chip);
}

const struct stat_set *
galnet_stats(const struct galnet *chip)
{
	return &chip->stats;
}

/* --- static addresses --- */

static uint32_t
entry_address(unsigned device, unsigned entry)
{
	return GALNET_REGION + device * GALNET_SLICE + GALNET_ADDRESS_TABLE + entry * GALNET_ENTRY_OCTETS;
}

/* The best entry of the bucket for an address. */
struct choice {
	bool found;   /* the address is in the bucket */
	int entry, worth; /* a free entry is worth more than a learned one, and a static one nothing */
};

static void
weigh_entry(struct choice *choice, int entry, uint64_t mac, const uint32_t *words)
{
	bool valid = words[1] & GALNET_ENTRY_VALID;
	int worth = !valid ? 2 : words[1] & GALNET_ENTRY_STATIC ? 0 : 1;

	if (valid && galnet_entry_mac(words[0], words[1]) == mac) {
		choice->found = true;
		worth = 3;
	}
	if (worth > choice->worth) {
		choice->entry = entry;
		choice->worth = worth;
	}
}

static int
choose_entry(const struct bus *bus, unsigned device, uint64_t mac, struct choice *choice)
{
	int first = (int)galnet_bucket(mac) * GALNET_BUCKET_ENTRIES;
	uint32_t words[GALNET_BUCKET_ENTRIES * 2];
	int rc = bus_read_words(bus, entry_address(device, (unsigned)first), words,
	    GALNET_BUCKET_ENTRIES * 2);

	*choice = (struct choice){0};
	for (int i = 0; i < GALNET_BUCKET_ENTRIES && rc == 0; i++)
		weigh_entry(choice, first + i, mac, &words[2 * i]);
	return rc;
}

/* Writes an entry; it is not valid while only one of its words is written. */
static int
set_entry(const struct bus *bus, unsigned device, uint64_t mac, unsigned owner, unsigned port)
{
	struct choice choice;
	uint32_t address;
	int rc = choose_entry(bus, device, mac, &choice);

	if (rc < 0)
		return rc;
	if (choice.worth == 0)
		return -ENOSPC;
	address = entry_address(device, (unsigned)choice.entry);
	rc = bus_write(bus, address + 4, 0);
	if (rc == 0)
		rc = bus_write(bus, address, galnet_entry_word_0(mac));
	if (rc < 0)
		return rc;
	return bus_write(bus, address + 4,
	    galnet_entry_word_1(mac, owner, port, GALNET_ENTRY_VALID | GALNET_ENTRY_STATIC));
}

static int
clear_entry(const struct bus *bus, unsigned device, uint64_t mac)
{
	struct choice choice;
	int rc = choose_entry(bus, device, mac, &choice);

	if (rc < 0 || !choice.found)
		return rc;
	return bus_write(bus, entry_address(device, (unsigned)choice.entry) + 4, 0);
}

int
galnet_clear_static(const struct bus *bus, unsigned n_devices, uint64_t mac)
{
	int first = 0;

	for (unsigned device = 0; device < n_devices; device++) {
		int rc = clear_entry(bus, device, mac);

		first = first < 0 ? first : rc;
	}
	return first;
}

int
galnet_set_static(const struct bus *bus, unsigned n_devices, uint64_t mac, unsigned owner, unsigned port)
{
	for (unsigned device = 0; device < n_devices; device++) {
		int rc = set_entry(bus, device, mac, owner, port);

		if (rc < 0) {
			galnet_clear_static(bus, n_devices, mac);
			return rc;
		}
	}
	return 0;
}
