/*
 * Modes of a GalNet chip that few boards use: ports that do not send unknown packets, packets for the CPU
 * other than samples, spanning tree, broadcast filter and sniffer. While a chip of the bus is in such a
 * mode, no packet is counted by the common count: each chip decides which of its ports send it.
 */
#include "agent/sim/chip/galnet_model_private.h"

#define BROADCAST 0xffffffffffffull
#define BPDU	  0x0180c2000000ull

bool
galnet_modes_on(struct galnet_model *m)
{
	uint32_t cpu = GALNET_CONTROL_UNKNOWN_TO_CPU | GALNET_CONTROL_MULTICAST_TO_CPU |
	    GALNET_CONTROL_MULTICAST_ONLY_TO_CPU;

	return m->spanning_tree || m->monitored || m->no_broadcast ||
	    m->takes_unknown != galnet_all_ports(m) || *galnet_reg(m, ROW_CONTROL) & cpu;
}

/* Whether this control bit sends packets to the CPU, and there is a CPU. */
static bool
cpu_wants(struct galnet_model *m, uint32_t bit)
{
	return galnet_control(m, GALNET_CONTROL_CPU_PRESENT | bit);
}

static bool
bpdu_for_cpu(struct galnet_model *m, const struct galnet_frame *f)
{
	return f->destination == BPDU && m->spanning_tree && cpu_wants(m, 0);
}

static uint32_t
ports_that_take(const struct galnet_model *m, bool unknown)
{
	return unknown ? m->forwarding & m->takes_unknown : m->forwarding;
}

static struct galnet_route
spread(const struct galnet_model *m, unsigned port, bool unknown)
{
	return (struct galnet_route){.verdict = GALNET_SPREAD, .unknown = unknown,
	    .ports = ports_that_take(m, unknown) & ~(1u << port)};
}

static struct galnet_route
route_group(struct galnet_model *m, unsigned port, const struct galnet_frame *f, bool *to_cpu)
{
	struct galnet_route nowhere = {.verdict = GALNET_DISCARD};

	*to_cpu = bpdu_for_cpu(m, f);
	if (galnet_is_reserved(f->destination) ||
	    (f->destination == BROADCAST && m->no_broadcast >> port & 1))
		return nowhere;
	*to_cpu = cpu_wants(m, GALNET_CONTROL_MULTICAST_TO_CPU) ||
	    cpu_wants(m, GALNET_CONTROL_MULTICAST_ONLY_TO_CPU);
	return cpu_wants(m, GALNET_CONTROL_MULTICAST_ONLY_TO_CPU) ? nowhere
								  : spread(m, port, false);
}

static struct galnet_route
route(struct galnet_model *m, unsigned port, const struct galnet_frame *f, bool *to_cpu)
{
	struct galnet_route to = {.verdict = GALNET_DISCARD};

	*to_cpu = false;
	if (f->control)
		return to;
	if (galnet_is_group(f->destination))
		return route_group(m, port, f, to_cpu);
	to = galnet_chip_route_unicast(m, port, f->destination);
	*to_cpu = to.verdict == GALNET_TO_CPU;
	if (to.verdict != GALNET_FLOOD)
		return to;
	*to_cpu = cpu_wants(m, GALNET_CONTROL_UNKNOWN_TO_CPU);
	return spread(m, port, true);
}

/* A port that the spanning tree blocks. */
static struct galnet_route
receive_blocked(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	if (bpdu_for_cpu(m, f))
		galnet_chip_deliver(m, 0, (int)port, f, 0);
	return (struct galnet_route){.verdict = GALNET_DISCARD};
}

/* Sends the packet to the sniffer. True if that is the CPU. */
static bool
sniff(struct galnet_model *m, const struct galnet_frame *f)
{
	uint32_t numbers = *galnet_reg(m, ROW_CPU_NUMBERS);
	uint32_t cpu = numbers & GALNET_NUMBERS_CPU_MASK;
	uint32_t device = numbers >> GALNET_NUMBERS_SNIFFER_SHIFT & GALNET_ENTRY_DEVICE_MASK;
	uint32_t port = numbers >> GALNET_NUMBERS_SNIFFER_PORT_SHIFT & GALNET_ENTRY_PORT_MASK;

	if (device == cpu)
		return cpu_wants(m, 0);
	if (m->config.sniff)
		m->config.sniff(m->config.ctx, device, port, f);
	return false;
}

void
galnet_modes_finish(struct galnet_model *m, uint32_t ports, int arrival, bool to_cpu,
    const struct galnet_frame *f)
{
	uint32_t sampled = galnet_chip_count(m, ports), marks = 0;

	galnet_chip_reload(m, sampled);
	if (ports & m->monitored && !f->control && sniff(m, f))
		marks = GALNET_WORD0_SNIFFER;
	if (sampled || to_cpu || marks)
		galnet_chip_deliver(m, sampled, arrival, f, marks);
}

struct galnet_route
galnet_modes_receive(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	uint32_t ports = 1u << port;
	struct galnet_route to;
	bool to_cpu;

	if (!(m->forwarding & ports))
		return receive_blocked(m, port, f);
	galnet_chip_learn(m, f->source, port);
	to = route(m, port, f, &to_cpu);
	if (to.verdict == GALNET_TO_PORT)
		ports |= 1u << to.port;
	else if (to.verdict == GALNET_SPREAD)
		ports |= to.ports;
	galnet_modes_finish(m, ports, (int)port, to_cpu, f);
	return to;
}

uint32_t
galnet_model_receive_spread(struct galnet_model *m, bool unknown, const struct galnet_frame *f)
{
	uint32_t ports = ports_that_take(m, unknown);

	galnet_modes_finish(m, ports, -1, false, f);
	return ports;
}
