/*
 * The registers of a GalNet chip as rows, the effects of reading and writing them, and the interrupt.
 */
#include "agent/sim/chip/galnet_model_private.h"

/* --- interrupt --- */

void
galnet_chip_update_line(struct galnet_model *m)
{
	uint32_t mask = *galnet_reg(m, m->info->ease_in_common_cause ? ROW_MASK : ROW_EASE_MASK);
	bool up = (*galnet_reg(m, ROW_CAUSE) & *galnet_reg(m, ROW_MASK)) ||
	    ((uint32_t)m->ease.event << m->info->ease_shift & mask);

	bus_model_pull_line(m->config.bus, m->config.line, &m->pulls_line, up);
}

void
galnet_chip_raise(struct galnet_model *m, uint32_t bits)
{
	*galnet_reg(m, ROW_CAUSE) |= bits;
	galnet_chip_update_line(m);
}

/* The status bits as in the register, with the chosen polarity. */
static uint32_t
ease_status(const struct galnet_model *m)
{
	uint32_t bits = GALNET_EASE_BIT_WHEN_EMPTY ? ~m->ease.shadow_full : m->ease.shadow_full;

	return (bits & galnet_all_ports(m)) << m->info->ease_shift;
}

static void
acknowledge_ease(struct galnet_model *m, uint32_t written)
{
	m->ease.event &= (uint8_t)~(written >> m->info->ease_shift);
	galnet_chip_update_line(m);
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
	galnet_chip_update_line(m);
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
	galnet_chip_update_line(chip);
}

/* --- ports and EASE --- */

static void
ease_written(void *chip, unsigned port, uint32_t written)
{
	galnet_chip_write_ease(chip, port, written);
}

static uint32_t
read_ease(void *chip, unsigned port, uint32_t stored)
{
	uint32_t left = galnet_chip_ease_left(chip, port);

	(void)stored;
	return left != NO_COUNT ? left : 0;
}

static void
buffer_base_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	galnet_chip_buffer_base_written(chip, written);
}

static void
control_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	if (!(written & GALNET_CONTROL_EASE_ENABLE))
		galnet_chip_empty_ease(chip);
	galnet_chip_update_ports(chip);
}

static void
mode_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	galnet_chip_update_ports(chip);
}

/* --- MIB counters --- */

static uint32_t
mib_events(const struct galnet_model *m, unsigned port, unsigned which)
{
	const struct galnet_model_config *c = &m->config;

	return c->mib_events ? c->mib_events(c->ctx, c->device, port, which) : 0;
}

static uint32_t
read_mib(void *chip, unsigned index, uint32_t stored)
{
	struct galnet_model *m = chip;
	unsigned port = index / m->info->n_mib, which = index % m->info->n_mib;
	uint32_t events = mib_events(m, port, which), value = events - m->mib_zero[port][which];

	(void)stored;
	if (!galnet_control(m, GALNET_CONTROL_MIB_KEEP))
		m->mib_zero[port][which] = events;
	return value;
}

/* --- the rows --- */

#define EASE_BITS(ports, shift) (((1u << (ports)) - 1) << (shift))
#define CAUSE_BITS  0x3fu
#define CONTROL_BITS                                                                               \
	(GALNET_CONTROL_UNKNOWN_TO_CPU | GALNET_CONTROL_NEW_ADDRESS_TO_CPU |                       \
	    GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE |                              \
	    GALNET_CONTROL_SPAN_ENABLE | GALNET_CONTROL_MULTICAST_TO_CPU |                         \
	    GALNET_CONTROL_MULTICAST_ONLY_TO_CPU | GALNET_CONTROL_MIB_KEEP)
#define PORT_CONTROL_BITS(monitor)                                                                 \
	(GALNET_PORT_CONTROL_ENABLE | GALNET_PORT_CONTROL_SPAN |                                   \
	    GALNET_PORT_CONTROL_NO_BROADCAST | (monitor))

#define COMMON_ROWS(ports, n_mib, monitor)                                                         \
	[ROW_MIB] = {.name = "Port MIB Counters", .offset = GALNET_MIB,                            \
	    .count = (ports) * (n_mib), .stride = 4, .reserved = UINT32_MAX, .read = read_mib},    \
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
	[ROW_PACKETS_LOST] = {.name = "Packets lost", .offset = GALNET_PACKETS_LOST,               \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_ERROR_SOURCE_LOST] = {.name = "Error_Source lost",                                    \
	    .offset = GALNET_ERROR_SOURCE_LOST, .read_clears = UINT32_MAX,                         \
	    .reserved = UINT32_MAX},                                                               \
	[ROW_CPU_NUMBERS] = {.name = "CPU and Sniffer Numbers", .offset = GALNET_CPU_NUMBERS,      \
	    .reset = GALNET_NUMBERS_RESET, .writable = GALNET_NUMBERS_BITS,                        \
	    .reserved = ~GALNET_NUMBERS_BITS, .written = mode_written},                            \
	[ROW_PORT_CONTROL] = {.name = "Port Control", .offset = GALNET_PORT_CONTROL,               \
	    .count = (ports), .stride = 4, .reset = GALNET_PORT_CONTROL_ENABLE,                    \
	    .writable = PORT_CONTROL_BITS(monitor), .reserved = ~PORT_CONTROL_BITS(monitor),       \
	    .written = mode_written},                                                              \
	[ROW_PORT_STATUS] = {.name = "Port Status", .offset = GALNET_PORT_STATUS,                  \
	    .count = (ports), .stride = 4, .reserved = UINT32_MAX},                                \
	[ROW_COMMAND] = {.name = "Command", .offset = GALNET_COMMAND, .count = (ports),            \
	    .stride = 4, .reset = GALNET_COMMAND_TAKES_UNKNOWN,                                    \
	    .writable = GALNET_COMMAND_TAKES_UNKNOWN,                                              \
	    .reserved = ~GALNET_COMMAND_TAKES_UNKNOWN, .written = mode_written},                   \
	[ROW_TABLE] = {.name = "Address table", .offset = GALNET_ADDRESS_TABLE,                    \
	    .count = GALNET_TABLE_ENTRIES * 2, .stride = 4, .writable = UINT32_MAX}

static const struct regmodel_row gt48001a_rows[GALNET_N_ROWS] = {
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
    COMMON_ROWS(GT48001A_PORTS, GT48001A_N_MIB, GT48001A_PORT_CONTROL_MONITOR),
};

/* The GT-48002A has its two EASE bits in Cause and Mask. */
#define GT48002A_EASE_BITS EASE_BITS(GT48002A_PORTS, GT48002A_EASE_SHIFT)

static const struct regmodel_row gt48002a_rows[GALNET_N_ROWS] = {
    [ROW_CAUSE] = {.name = "Interrupt Cause", .offset = GALNET_CAUSE,
	.write_1_clears = CAUSE_BITS, .reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS),
	.read = read_cause, .written = cause_written},
    [ROW_MASK] = {.name = "Interrupt Mask", .offset = GALNET_MASK,
	.writable = CAUSE_BITS | GT48002A_EASE_BITS,
	.reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS), .written = mask_written},
    [ROW_EASE_CAUSE] = {.name = "reserved", .offset = GT48001A_EASE_CAUSE,
	.reserved = UINT32_MAX},
    [ROW_EASE_MASK] = {.name = "reserved", .offset = GT48001A_EASE_MASK, .reserved = UINT32_MAX},
    COMMON_ROWS(GT48002A_PORTS, GALNET_N_MIB, GT48002A_PORT_CONTROL_MONITOR),
};

const struct galnet_chip_info galnet_chip_infos[] = {
    [GALNET_GT48001A] = {.rows = gt48001a_rows, .n_ports = GT48001A_PORTS,
	.ease_shift = GT48001A_EASE_SHIFT,
	.port_control_monitor = GT48001A_PORT_CONTROL_MONITOR, .n_mib = GT48001A_N_MIB},
    [GALNET_GT48002A] = {.rows = gt48002a_rows, .n_ports = GT48002A_PORTS,
	.ease_in_common_cause = true, .ease_shift = GT48002A_EASE_SHIFT,
	.port_control_monitor = GT48002A_PORT_CONTROL_MONITOR, .n_mib = GALNET_N_MIB},
};
