#include "agent/chip/galnet_model.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum row {
	ROW_CAUSE,
	ROW_MASK,
	ROW_EASE_CAUSE, /* GT-48002A: reserved words */
	ROW_EASE_MASK,
	ROW_EASE,
	ROW_CONTROL,
	ROW_BUFFER_BASE,
	ROW_NEW_ADDRESS_BASE,
	ROW_ERROR_SOURCE_BASE,
	ROW_NEW_ADDRESS_LOST,
	ROW_ADDRESS_DISCARDS,
	ROW_PORT_CONTROL,
	ROW_PORT_STATUS,
	ROW_TABLE,
	N_ROWS
};

struct chip_info {
	const struct regmodel_row *rows;
	unsigned n_ports;
	bool ease_in_common_cause;
	unsigned ease_shift;
};

#define NO_COUNT UINT32_MAX /* what an empty counter holds */

/* A counter runs in the bank while it holds a value, EASE is enabled and its port is up. */
struct ease {
	uint32_t left[GALNET_MAX_PORTS]; /* while it does not run */
	uint32_t shadow[GALNET_MAX_PORTS];
	uint8_t running;     /* a bit a port, as the next two */
	uint8_t shadow_full;
	uint8_t event;	     /* registers that became empty, not acknowledged */
};

struct galnet_model {
	struct galnet_model_config config;
	const struct chip_info *info;
	struct regmodel regs;
	uint32_t *table; /* two words an entry */
	uint32_t ports_up;
	struct galnet_ease *bank; /* with the running counters */
	struct galnet_ease own_bank;
	struct ease ease;
	/* receive buffers: CBA and CBAS */
	uint32_t buffer_base, buffer_shadow;
	bool has_buffer, has_shadow;
	unsigned block;
	unsigned next_new_address, next_error_source;
	uint64_t samples_lost;
};

static uint32_t *
reg(struct galnet_model *m, enum row row)
{
	return regmodel_value(&m->regs, row, 0);
}

/* --- interrupt --- */

static void
update_line(struct galnet_model *m)
{
	uint32_t mask = *reg(m, m->info->ease_in_common_cause ? ROW_MASK : ROW_EASE_MASK);
	bool up = (*reg(m, ROW_CAUSE) & *reg(m, ROW_MASK)) ||
	    ((uint32_t)m->ease.event << m->info->ease_shift & mask);

	bus_model_set_line(m->config.bus, m->config.line, up);
}

static void
raise_cause(struct galnet_model *m, uint32_t bits)
{
	*reg(m, ROW_CAUSE) |= bits;
	update_line(m);
}

static uint32_t
all_ports(const struct galnet_model *m)
{
	return (1u << m->info->n_ports) - 1;
}

/* The status bits as they stand in the register, in the polarity chosen. */
static uint32_t
ease_status(const struct galnet_model *m)
{
	uint32_t bits = GALNET_EASE_BIT_WHEN_EMPTY ? ~m->ease.shadow_full : m->ease.shadow_full;

	return (bits & all_ports(m)) << m->info->ease_shift;
}

static void
acknowledge_ease(struct galnet_model *m, uint32_t written)
{
	m->ease.event &= (uint8_t)~(written >> m->info->ease_shift);
	update_line(m);
}

static uint32_t
read_cause(void *chip, unsigned index, uint32_t stored)
{
	struct galnet_model *m = chip;

	(void)index;
	return m->info->ease_in_common_cause ? stored | ease_status(m) : stored;
}

static void
cause_written(void *chip, unsigned index, uint32_t written)
{
	struct galnet_model *m = chip;

	(void)index;
	if (m->info->ease_in_common_cause)
		acknowledge_ease(m, written);
	update_line(m);
}

static uint32_t
read_ease_cause(void *chip, unsigned index, uint32_t stored)
{
	(void)index;
	(void)stored;
	return ease_status(chip);
}

static void
ease_cause_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	acknowledge_ease(chip, written);
}

static void
mask_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	update_line(chip);
}

/* --- messages into the CPU's memory --- */

/* The data must be there before the mark that makes it valid: the CPU reads without the lock. */
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

/* Writes an entry of a message ring; false if the CPU has not taken the old one out yet. */
static bool
post_message(struct galnet_model *m, enum row base, unsigned *next, uint32_t word_0,
    uint32_t word_1)
{
	uint8_t *entry = bus_model_memory(m->config.bus,
	    *reg(m, base) + *next * GALNET_RING_ENTRY_OCTETS, GALNET_RING_ENTRY_OCTETS);

	if (!entry || load_word(entry + 4) & GALNET_ENTRY_VALID)
		return false;
	*next = (*next + 1) % GALNET_RING_ENTRIES;
	store_word(entry, word_0);
	store_word(entry + 4, word_1 | GALNET_ENTRY_VALID);
	return true;
}

static void
tell_cpu_new_address(struct galnet_model *m, uint64_t mac, unsigned port)
{
	uint32_t needed = GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU;

	if ((*reg(m, ROW_CONTROL) & needed) != needed)
		return;
	if (!post_message(m, ROW_NEW_ADDRESS_BASE, &m->next_new_address, galnet_entry_word_0(mac),
		galnet_entry_word_1(mac, m->config.device, port, 0)))
		*reg(m, ROW_NEW_ADDRESS_LOST) += 1;
	raise_cause(m, GALNET_CAUSE_NEW_ADDRESS);
}

void
galnet_model_error_source(struct galnet_model *m, unsigned port, uint64_t source, bool too_long)
{
	uint32_t needed = GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE;

	if ((*reg(m, ROW_CONTROL) & needed) != needed || *reg(m, ROW_ERROR_SOURCE_BASE) == 0)
		return;
	post_message(m, ROW_ERROR_SOURCE_BASE, &m->next_error_source, galnet_entry_word_0(source),
	    galnet_entry_word_1(source, m->config.device, port,
		too_long ? GALNET_ENTRY_TOO_LONG : 0));
	raise_cause(m, GALNET_CAUSE_ERROR_SOURCE);
}

/* --- receive buffers --- */

static void
buffer_base_written(void *chip, unsigned index, uint32_t written)
{
	struct galnet_model *m = chip;

	(void)index;
	if (m->has_buffer) {
		m->buffer_shadow = written;
		m->has_shadow = true;
	} else {
		m->buffer_base = written;
		m->has_buffer = true;
		m->block = 0;
	}
}

/* After sixteen packets CBAS moves into CBA, or there is none for the next. */
static void
next_block(struct galnet_model *m)
{
	if (++m->block < GALNET_AREA_BLOCKS)
		return;
	m->block = 0;
	m->buffer_base = m->buffer_shadow;
	m->has_buffer = m->has_shadow;
	m->has_shadow = false;
	raise_cause(m, GALNET_CAUSE_BUF_WRAP);
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

/* One copy of a packet whose samples these ports took. source is the arrival port, or -1. */
static __attribute__((noinline)) void
deliver_sample(struct galnet_model *m, uint32_t ports, int source, const struct galnet_frame *f)
{
	uint32_t word_0 = GALNET_WORD0_VALID | ports << GALNET_WORD0_EASE_SHIFT |
	    (f->wire_octets & GALNET_WORD0_COUNT_MASK) << GALNET_WORD0_COUNT_SHIFT;
	uint8_t *block = NULL;

	if (source >= 0)
		word_0 |= GALNET_WORD0_ORIGINAL | (uint32_t)source << GALNET_WORD0_SOURCE_SHIFT;
	if (m->has_buffer)
		block = bus_model_memory(m->config.bus,
		    m->buffer_base + m->block * GALNET_BLOCK_OCTETS, GALNET_BLOCK_OCTETS);
	if (!block) {
		m->samples_lost++;
		return;
	}
	write_packet(block, f, word_0);
	next_block(m);
	raise_cause(m, GALNET_CAUSE_PACKET);
}

/* --- EASE --- */

static unsigned
counter_of(const struct galnet_model *m, unsigned port)
{
	return galnet_ease_counter(m->config.device, port);
}

/* Starts or stops a counter as its value, the enable bits and the port's state say. */
static void
update_running(struct galnet_model *m, unsigned port)
{
	uint32_t needed = GALNET_CONTROL_EASE_ENABLE | GALNET_CONTROL_CPU_PRESENT;
	bool enabled = (*reg(m, ROW_CONTROL) & needed) == needed;
	bool running = m->ease.running >> port & 1;

	if (running) {
		m->ease.left[port] = galnet_ease_stop(m->bank, counter_of(m, port));
		m->ease.running &= (uint8_t)~(1u << port);
	}
	if (enabled && m->ports_up >> port & 1 && m->ease.left[port] != NO_COUNT) {
		galnet_ease_run(m->bank, counter_of(m, port), m->ease.left[port]);
		m->ease.running |= (uint8_t)(1u << port);
	}
}

static uint32_t
count_left(const struct galnet_model *m, unsigned port)
{
	if (m->ease.running >> port & 1)
		return galnet_ease_left(m->bank, counter_of(m, port));
	return m->ease.left[port];
}

/* The counter took its sample: the waiting value, if any, moves on, which empties the register. */
static void
reload(struct galnet_model *m, unsigned port)
{
	struct ease *e = &m->ease;

	galnet_ease_stop(m->bank, counter_of(m, port));
	e->running &= (uint8_t)~(1u << port);
	e->left[port] = NO_COUNT;
	if (e->shadow_full & 1u << port) {
		e->left[port] = e->shadow[port];
		e->shadow_full &= (uint8_t)~(1u << port);
		e->event |= (uint8_t)(1u << port);
	}
	update_running(m, port);
	update_line(m);
}

static void
ease_written(void *chip, unsigned port, uint32_t written)
{
	struct galnet_model *m = chip;
	struct ease *e = &m->ease;

	if (port >= m->info->n_ports)
		return;
	if (count_left(m, port) == NO_COUNT) {
		e->left[port] = written & GALNET_EASE_COUNT_MASK;
		if (GALNET_EASE_STRAIGHT_THROUGH_INTERRUPTS)
			e->event |= (uint8_t)(1u << port);
		update_running(m, port);
	} else {
		e->shadow[port] = written & GALNET_EASE_COUNT_MASK;
		e->shadow_full |= (uint8_t)(1u << port);
	}
	update_line(m);
}

static uint32_t
read_ease(void *chip, unsigned port, uint32_t stored)
{
	uint32_t left = count_left(chip, port);

	(void)stored;
	return left != NO_COUNT ? left : 0;
}

static void
empty_ease(struct galnet_model *m)
{
	for (unsigned port = 0; port < GALNET_MAX_PORTS; port++)
		galnet_ease_stop(m->bank, counter_of(m, port));
	m->ease = (struct ease){0};
	for (unsigned i = 0; i < GALNET_MAX_PORTS; i++)
		m->ease.left[i] = NO_COUNT;
	update_line(m);
}

static void
control_written(void *chip, unsigned index, uint32_t written)
{
	struct galnet_model *m = chip;

	(void)index;
	if (!(written & GALNET_CONTROL_EASE_ENABLE))
		empty_ease(m);
	for (unsigned port = 0; port < m->info->n_ports; port++)
		update_running(m, port);
}

/* One good packet on this port's segment; the port's bit if it is the sample. */
static inline uint32_t
count_packet(struct galnet_model *m, unsigned port)
{
	return (uint32_t)galnet_ease_count(m->bank, counter_of(m, port)) << port;
}

static void
take_sample(struct galnet_model *m, uint32_t sampled, int source, const struct galnet_frame *f)
{
	if (!sampled)
		return;
	for (unsigned port = 0; port < m->info->n_ports; port++)
		if (sampled & 1u << port)
			reload(m, port);
	deliver_sample(m, sampled, source, f);
}

/* --- address table --- */

enum { GROUP_BIT = 40 };

static bool
is_group(uint64_t mac)
{
	return mac >> GROUP_BIT & 1;
}

/* 01-80-C2-00-00-00 to -0F: for the bridge itself (IEEE 802.1D). */
static bool
is_reserved(uint64_t mac)
{
	return mac >> 4 == 0x0180c200000ull;
}

/* The address's entry or NULL; *free is an unused one of its bucket or NULL. */
static inline uint32_t *
find_entry(struct galnet_model *m, uint64_t mac, uint32_t **unused)
{
	uint32_t *entry = m->table + galnet_bucket(mac) * GALNET_BUCKET_ENTRIES * 2;
	uint32_t word_0 = galnet_entry_word_0(mac), low = (uint32_t)(mac & 0xffff);

	*unused = NULL;
	for (unsigned i = 0; i < GALNET_BUCKET_ENTRIES; i++, entry += 2) {
		if (!(entry[1] & GALNET_ENTRY_VALID)) {
			if (!*unused)
				*unused = entry;
		} else if (entry[0] == word_0 && entry[1] >> 16 == low) {
			return entry;
		}
	}
	return NULL;
}

static void
table_full(struct galnet_model *m)
{
	*reg(m, ROW_ADDRESS_DISCARDS) += 1;
	raise_cause(m, GALNET_CAUSE_RECOGNITION);
}

static void
learn(struct galnet_model *m, uint64_t mac, unsigned port)
{
	uint32_t *unused, *entry = find_entry(m, mac, &unused);
	unsigned device = m->config.device;

	if (entry && galnet_entry_device(entry[1]) == device &&
	    galnet_entry_port(entry[1]) == port) {
		if (!(entry[1] & GALNET_ENTRY_AGING))
			entry[1] |= GALNET_ENTRY_AGING;
		return;
	}
	if (entry && entry[1] & GALNET_ENTRY_STATIC) {
		entry[1] |= GALNET_ENTRY_AGING;
		return;
	}
	entry = entry ? entry : unused;
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID | GALNET_ENTRY_AGING);
	if (m->config.new_address)
		m->config.new_address(m->config.ctx, device, mac, port);
	tell_cpu_new_address(m, mac, port);
}

void
galnet_model_learn_remote(struct galnet_model *m, unsigned device, uint64_t mac, unsigned port)
{
	uint32_t *unused, *entry = find_entry(m, mac, &unused);

	if (entry && entry[1] & GALNET_ENTRY_STATIC)
		return;
	entry = entry ? entry : unused;
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID);
}

/* --- the path of a frame --- */

static struct galnet_route
route(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	struct galnet_route to = {.verdict = GALNET_DISCARD};
	uint32_t *unused, *entry;

	if (f->control || is_reserved(f->destination))
		return to;
	entry = is_group(f->destination) ? NULL : find_entry(m, f->destination, &unused);
	if (!entry) {
		to.verdict = GALNET_FLOOD;
		return to;
	}
	to.device = galnet_entry_device(entry[1]);
	to.port = galnet_entry_port(entry[1]);
	if (to.device != m->config.device)
		to.verdict = GALNET_TO_DEVICE;
	else if (to.port != port && m->ports_up & 1u << to.port)
		to.verdict = GALNET_TO_PORT;
	return to;
}

_Static_assert(GALNET_EASE_COUNTS_LOCAL_EGRESS, "a flooded packet counts on every segment");

struct galnet_route
galnet_model_receive(struct galnet_model *m, unsigned port, const struct galnet_frame *frame)
{
	struct galnet_route to;
	uint32_t sampled;

	if (!is_group(frame->source) && frame->source != 0)
		learn(m, frame->source, port);
	to = route(m, port, frame);
	if (to.verdict == GALNET_FLOOD) {
		sampled = galnet_ease_flood(m->bank)
		    ? galnet_ease_collect(m->bank, m->config.device) : 0;
	} else {
		sampled = count_packet(m, port);
		if (to.verdict == GALNET_TO_PORT)
			sampled |= count_packet(m, to.port);
	}
	take_sample(m, sampled, (int)port, frame);
	return to;
}

void
galnet_model_receive_flooded(struct galnet_model *m, const struct galnet_frame *frame)
{
	take_sample(m, galnet_ease_collect(m->bank, m->config.device), -1, frame);
}

void
galnet_model_receive_pci(struct galnet_model *m, uint32_t ports, const struct galnet_frame *frame)
{
	uint32_t sampled = 0;

	for (unsigned port = 0; port < m->info->n_ports; port++)
		if (ports & m->ports_up & 1u << port)
			sampled |= count_packet(m, port);
	take_sample(m, sampled, -1, frame);
}

/* --- ports --- */

static void
update_ports_up(struct galnet_model *m)
{
	if (m->config.ports_changing)
		m->config.ports_changing(m->config.ctx, m->config.device);
	m->ports_up = 0;
	for (unsigned port = 0; port < m->info->n_ports; port++)
		if (*regmodel_value(&m->regs, ROW_PORT_CONTROL, port) &
			GALNET_PORT_CONTROL_ENABLE &&
		    *regmodel_value(&m->regs, ROW_PORT_STATUS, port) & GALNET_PORT_STATUS_LINK)
			m->ports_up |= 1u << port;
	for (unsigned port = 0; port < m->info->n_ports; port++)
		update_running(m, port);
}

static void
port_control_written(void *chip, unsigned port, uint32_t written)
{
	(void)port;
	(void)written;
	update_ports_up(chip);
}

void
galnet_model_set_link(struct galnet_model *m, unsigned port, bool up)
{
	*regmodel_value(&m->regs, ROW_PORT_STATUS, port) = up ? GALNET_PORT_STATUS_LINK : 0;
	update_ports_up(m);
	raise_cause(m, GALNET_CAUSE_LINK);
}

uint32_t
galnet_model_ports_up(const struct galnet_model *m)
{
	return m->ports_up;
}

/* --- registers --- */

#define EASE_BITS(ports, shift) (((1u << (ports)) - 1) << (shift))
#define CAUSE_BITS  0x3fu
#define CONTROL_BITS                                                                               \
	(GALNET_CONTROL_NEW_ADDRESS_TO_CPU | GALNET_CONTROL_CPU_PRESENT |                          \
	    GALNET_CONTROL_EASE_ENABLE)

#define COMMON_ROWS(ports)                                                                         \
	[ROW_EASE] = {.name = "Ease_Register", .offset = GALNET_EASE_REGISTER, .count = (ports),   \
	    .stride = 4, .reserved = ~GALNET_EASE_COUNT_MASK, .read = read_ease,                   \
	    .written = ease_written},                                                              \
	[ROW_CONTROL] = {.name = "Global Control", .offset = GALNET_GLOBAL_CONTROL,                \
	    .reset = GALNET_CONTROL_RESET, .writable = CONTROL_BITS, .reserved = ~CONTROL_BITS,    \
	    .written = control_written},                                                           \
	[ROW_BUFFER_BASE] = {.name = "CPU Buffer Base Address", .offset = GALNET_BUFFER_BASE,      \
	    .writable = UINT32_MAX, .written = buffer_base_written},                               \
	[ROW_NEW_ADDRESS_BASE] = {.name = "CPU NEW_ADDRESS Base Address",                          \
	    .offset = GALNET_NEW_ADDRESS_BASE, .writable = UINT32_MAX},                            \
	[ROW_ERROR_SOURCE_BASE] = {.name = "CPU Error Source Base Address",                        \
	    .offset = GALNET_ERROR_SOURCE_BASE, .writable = UINT32_MAX},                           \
	[ROW_NEW_ADDRESS_LOST] = {.name = "NEW_ADDRESS lost", .offset = GALNET_NEW_ADDRESS_LOST,   \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_ADDRESS_DISCARDS] = {.name = "Address discards", .offset = GALNET_ADDRESS_DISCARDS,   \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_PORT_CONTROL] = {.name = "Port Control", .offset = GALNET_PORT_CONTROL,               \
	    .count = (ports), .stride = 4, .reset = GALNET_PORT_CONTROL_ENABLE,                    \
	    .writable = GALNET_PORT_CONTROL_ENABLE, .reserved = ~1u,                               \
	    .written = port_control_written},                                                      \
	[ROW_PORT_STATUS] = {.name = "Port Status", .offset = GALNET_PORT_STATUS,                  \
	    .count = (ports), .stride = 4, .reserved = UINT32_MAX},                                \
	[ROW_TABLE] = {.name = "Address table", .offset = GALNET_ADDRESS_TABLE,                    \
	    .count = GALNET_TABLE_ENTRIES * 2, .stride = 4, .writable = UINT32_MAX}

static const struct regmodel_row gt48001a_rows[N_ROWS] = {
    [ROW_CAUSE] = {.name = "Interrupt Cause", .offset = GALNET_CAUSE,
	.write_1_clears = CAUSE_BITS, .reserved = ~CAUSE_BITS, .read = read_cause,
	.written = cause_written},
    [ROW_MASK] = {.name = "Interrupt Mask", .offset = GALNET_MASK, .writable = CAUSE_BITS,
	.reserved = ~CAUSE_BITS, .written = mask_written},
    [ROW_EASE_CAUSE] = {.name = "EASE Interrupt Cause", .offset = GT48001A_EASE_CAUSE,
	.reserved = ~EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT), .read = read_ease_cause,
	.written = ease_cause_written},
    [ROW_EASE_MASK] = {.name = "EASE Interrupt Mask", .offset = GT48001A_EASE_MASK,
	.writable = EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT),
	.reserved = ~EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT), .written = mask_written},
    COMMON_ROWS(GT48001A_PORTS),
};

/* The GT-48002A has its two EASE bits in Cause and Mask. */
#define GT48002A_EASE_BITS EASE_BITS(GT48002A_PORTS, GT48002A_EASE_SHIFT)

static const struct regmodel_row gt48002a_rows[N_ROWS] = {
    [ROW_CAUSE] = {.name = "Interrupt Cause", .offset = GALNET_CAUSE,
	.write_1_clears = CAUSE_BITS, .reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS),
	.read = read_cause, .written = cause_written},
    [ROW_MASK] = {.name = "Interrupt Mask", .offset = GALNET_MASK,
	.writable = CAUSE_BITS | GT48002A_EASE_BITS,
	.reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS), .written = mask_written},
    [ROW_EASE_CAUSE] = {.name = "reserved", .offset = GT48001A_EASE_CAUSE,
	.reserved = UINT32_MAX},
    [ROW_EASE_MASK] = {.name = "reserved", .offset = GT48001A_EASE_MASK, .reserved = UINT32_MAX},
    COMMON_ROWS(GT48002A_PORTS),
};

static const struct chip_info chip_infos[] = {
    [GALNET_GT48001A] = {.rows = gt48001a_rows, .n_ports = GT48001A_PORTS,
	.ease_shift = GT48001A_EASE_SHIFT},
    [GALNET_GT48002A] = {.rows = gt48002a_rows, .n_ports = GT48002A_PORTS,
	.ease_in_common_cause = true, .ease_shift = GT48002A_EASE_SHIFT},
};

int
galnet_model_create(const struct galnet_model_config *config, struct galnet_model **model)
{
	struct galnet_model *m;
	int rc;

	if (config->device >= GALNET_MAX_DEVICES)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->config = *config;
	m->info = &chip_infos[config->chip];
	m->bank = config->ease ? config->ease : &m->own_bank;
	if (!config->ease)
		galnet_ease_init(m->bank);
	rc = regmodel_init(&m->regs, m->info->rows, N_ROWS, m);
	if (rc == 0)
		rc = bus_model_attach(config->bus,
		    GALNET_REGION + config->device * GALNET_SLICE, GALNET_SLICE, &m->regs);
	if (rc < 0) {
		galnet_model_destroy(m);
		return rc;
	}
	m->table = reg(m, ROW_TABLE);
	empty_ease(m);
	*model = m;
	return 0;
}

void
galnet_model_destroy(struct galnet_model *model)
{
	if (!model)
		return;
	regmodel_free(&model->regs);
	free(model);
}

unsigned
galnet_model_n_ports(const struct galnet_model *model)
{
	return model->info->n_ports;
}

uint64_t
galnet_model_samples_lost(const struct galnet_model *model)
{
	return model->samples_lost;
}
