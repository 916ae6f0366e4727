/*
 * The state of a modelled GalNet chip. Four files implement this one object and call each other, as
 * the parts of the chip do: galnet_model.c has the path of a frame, galnet_model_modes.c the modes
 * that few boards use, galnet_model_memory.c the messages and packets that the chip writes into the
 * CPU's memory, and galnet_model_registers.c the registers on the bus. No other file includes this.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_MODEL_PRIVATE_H
#define EASE_AGENT_SIM_CHIP_GALNET_MODEL_PRIVATE_H

#include "agent/sim/chip/galnet_ease_model.h"
#include "agent/sim/chip/galnet_model.h"

enum galnet_row {
	ROW_CAUSE,
	ROW_MASK,
	ROW_EASE_CAUSE, /* GT-48002A: reserved words */
	ROW_EASE_MASK,
	ROW_MIB,
	ROW_EASE,
	ROW_CONTROL,
	ROW_BUFFER_BASE,
	ROW_NEW_ADDRESS_BASE,
	ROW_ERROR_SOURCE_BASE,
	ROW_NEW_ADDRESS_LOST,
	ROW_ADDRESS_DISCARDS,
	ROW_PACKETS_LOST,
	ROW_ERROR_SOURCE_LOST,
	ROW_CPU_NUMBERS,
	ROW_PORT_CONTROL,
	ROW_PORT_STATUS,
	ROW_COMMAND,
	ROW_TABLE,
	GALNET_N_ROWS
};

struct galnet_chip_info {
	const struct regmodel_row *rows;
	unsigned n_ports;
	bool ease_in_common_cause;
	unsigned ease_shift;
	uint32_t port_control_monitor;
	unsigned n_mib; /* counters a port */
};

extern const struct galnet_chip_info galnet_chip_infos[]; /* by enum galnet_chip */

#define NO_COUNT UINT32_MAX /* the value of an empty counter */

/* A counter runs, in the bank, while it has a value, EASE is enabled and its port forwards. */
struct ease {
	uint32_t left[GALNET_MAX_PORTS]; /* while it does not run */
	uint32_t shadow[GALNET_MAX_PORTS];
	uint8_t running;     /* a bit a port, as the next two */
	uint8_t shadow_full;
	uint8_t event;	     /* registers that became empty, not acknowledged */
};

struct galnet_model {
	struct galnet_model_config config;
	const struct galnet_chip_info *info;
	struct regmodel regs;
	uint32_t *table; /* two words an entry */
	bool pulls_line; /* its interrupt */
	/* Ports, a bit each, decoded from registers: */
	uint32_t ports_up;
	uint32_t forwarding; /* up, and not blocked by the spanning tree */
	uint32_t takes_unknown, monitored, no_broadcast;
	bool spanning_tree;  /* SpanEn, the global one */
	/* Table entries that send to the CPU: by their device (beyond all devices if none), or by a flag. */
	uint32_t cpu_device, cpu_flags;
	struct galnet_ease *bank; /* with the running counters */
	struct galnet_ease own_bank;
	struct ease ease;
	/* receive buffers: CBA and CBAS */
	uint32_t buffer_base, buffer_shadow;
	bool has_buffer, has_shadow;
	unsigned block;
	unsigned next_new_address, next_error_source;
	uint64_t packets_lost;
	uint32_t mib_zero[GALNET_MAX_PORTS][GALNET_N_MIB]; /* events when it was last zeroed */
};

static inline uint32_t *
galnet_reg(struct galnet_model *m, enum galnet_row row)
{
	return regmodel_value(&m->regs, row, 0);
}

/* Whether all these Global Control bits are set. */
static inline bool
galnet_control(struct galnet_model *m, uint32_t bits)
{
	return (*galnet_reg(m, ROW_CONTROL) & bits) == bits;
}

static inline uint32_t
galnet_all_ports(const struct galnet_model *m)
{
	return (1u << m->info->n_ports) - 1;
}

static inline bool
galnet_is_group(uint64_t mac)
{
	return mac >> 40 & 1;
}

/* 01-80-C2-00-00-00 to -0F: for the bridge itself (IEEE 802.1D). */
static inline bool
galnet_is_reserved(uint64_t mac)
{
	return mac >> 4 == 0x0180c200000ull;
}

/* --- galnet_model_registers.c --- */

void galnet_chip_update_line(struct galnet_model *m);
/* Sets Cause bits. */
void galnet_chip_raise(struct galnet_model *m, uint32_t bits);

/* --- galnet_model_memory.c --- */

/* Write a message to the CPU's memory, or count it as lost. */
void galnet_chip_write_new_address(struct galnet_model *m, uint64_t mac, unsigned port);
/* Writes one copy of a packet that these ports sampled, a bit each. arrival is the port that received it,
 * or -1; marks are further bits of word 0. */
void galnet_chip_deliver(struct galnet_model *m, uint32_t ports, int arrival,
    const struct galnet_frame *f, uint32_t marks);
void galnet_chip_buffer_base_written(struct galnet_model *m, uint32_t written);

/* --- galnet_model.c --- */

void galnet_chip_write_ease(struct galnet_model *m, unsigned port, uint32_t value);
uint32_t galnet_chip_ease_left(const struct galnet_model *m, unsigned port);
void galnet_chip_empty_ease(struct galnet_model *m);
/* Called when control or link registers have changed: updates the state of every port. */
void galnet_chip_update_ports(struct galnet_model *m);
void galnet_chip_learn(struct galnet_model *m, uint64_t mac, unsigned port);
/* The route of a packet to a unicast address. */
struct galnet_route galnet_chip_route_unicast(struct galnet_model *m, unsigned port,
    uint64_t destination);
/* Counts one good packet on each of these segments. Returns the ports that sample it. */
uint32_t galnet_chip_count(struct galnet_model *m, uint32_t ports);
/* Reloads the counters of ports that took a sample. */
void galnet_chip_reload(struct galnet_model *m, uint32_t sampled);

/* --- galnet_model_modes.c --- */

/* Whether the chip is in a mode that the fast path does not handle. */
bool galnet_modes_on(struct galnet_model *m);
/* galnet_model_receive while such a mode is on somewhere on the bus. */
struct galnet_route galnet_modes_receive(struct galnet_model *m, unsigned port,
    const struct galnet_frame *f);
/* After a packet has passed these ports: counts it for EASE, writes one copy for the CPU if needed, and
 * sends a copy to the sniffer if one of the ports is monitored. */
void galnet_modes_finish(struct galnet_model *m, uint32_t ports, int arrival, bool to_cpu,
    const struct galnet_frame *f);

#endif
