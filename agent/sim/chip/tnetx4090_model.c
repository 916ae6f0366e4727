#include "agent/sim/chip/tnetx4090_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum row {
	ROW_SYS_CONTROL,
	ROW_FLOW_THRESHOLD,
	ROW_MCAST_LIMIT,
	ROW_RING_PORTS,
	ROW_STAT_CONTROL,
	ROW_NM_FREEBUFFS,
	ROW_PORT_CONTROL,
	ROW_PORT_STATUS,
	ROW_POOL,
	ROW_STATISTICS,
};

/* The value of a register of several bytes, the lowest byte first. */
static uint32_t
wide_value(const struct tnetx4090_model *m, enum row row)
{
	return m->regs.values[row][0] | m->regs.values[row][1] << 8;
}

/* --- back pressure --- */

bool
tnetx4090_model_back_pressure(const struct tnetx4090_model *m, unsigned port)
{
	const struct tnetx4090_port *p = &m->ports[port];

	/* Page 56: back pressure when the pool is "down to" the threshold, so also if equal. */
	return m->flow && (m->free <= p->threshold || (m->holb && p->charged > m->free));
}

bool
tnetx4090_model_flow_pin(const struct tnetx4090_model *m)
{
	uint32_t ring = wide_value(m, ROW_RING_PORTS);

	if (m->free < wide_value(m, ROW_FLOW_THRESHOLD)) /* page 57: "less than" */
		return true;
	for (unsigned i = 0; i < TNETX4090_PORTS && !(ring & TNETX4090_RING_HOLBRM); i++)
		if (ring >> i & 1 && m->ports[i].charged > m->free)
			return true;
	return false;
}

/* Pause frames after the first one: one each time half of the pause time has passed. */
static uint32_t
pause_repeats(const struct tnetx4090_port *p, uint64_t now_ns)
{
	return (uint32_t)((now_ns - p->pressed_since_ns) / p->pause_repeat_ns);
}

/* A port without a partner has no back pressure. */
void
tnetx4090_model_press(struct tnetx4090_model *m, uint64_t now_ns)
{
	for (unsigned i = 0; i < TNETX4090_PORTS; i++) {
		struct tnetx4090_port *p = &m->ports[i];
		uint16_t bit = (uint16_t)(1u << i);
		bool pressed = m->config.partners[i].speed_mbps > 0 &&
		    tnetx4090_model_back_pressure(m, i);

		if (pressed == !!(m->pressed & bit))
			continue;
		m->pressed ^= bit;
		if (pressed) {
			p->episodes++;
			p->pressed_since_ns = now_ns;
			p->pauses_sent += p->when_pressed == TNETX4090_PAUSE;
		} else {
			p->pressed_ns += now_ns - p->pressed_since_ns;
			if (p->when_pressed == TNETX4090_PAUSE)
				p->pauses_sent += pause_repeats(p, now_ns) + 1; /* the last with a time of 0 */
		}
	}
}

enum tnetx4090_verdict
tnetx4090_model_admit_short(struct tnetx4090_model *m, unsigned port, uint32_t buffers, uint64_t now_ns)
{
	enum tnetx4090_verdict verdict = TNETX4090_ACCEPT;

	if (m->pressed >> port & 1)
		verdict = m->ports[port].when_pressed;
	else if (m->free < buffers)
		verdict = TNETX4090_DROP;
	if (verdict == TNETX4090_ACCEPT) {
		tnetx4090_model_charge(m, port, buffers);
		tnetx4090_model_press(m, now_ns);
	}
	if (verdict == TNETX4090_DROP)
		tnetx4090_model_count(m, port, TNETX4090_RX_OVERRUNS, 1);
	if (verdict == TNETX4090_COLLIDE)
		tnetx4090_model_count(m, port, TNETX4090_COLLISIONS, 1);
	return verdict;
}

void
tnetx4090_model_settle(struct tnetx4090_model *m, uint64_t now_ns)
{
	m->now_ns = now_ns;
}

static uint32_t
pauses_sent(const struct tnetx4090_model *m, unsigned port)
{
	const struct tnetx4090_port *p = &m->ports[port];
	bool pausing = m->pressed >> port & 1 && p->when_pressed == TNETX4090_PAUSE;

	return p->pauses_sent + (pausing ? pause_repeats(p, m->now_ns) : 0);
}

uint32_t
tnetx4090_model_collect_pauses(struct tnetx4090_model *m, unsigned port)
{
	uint32_t sent = pauses_sent(m, port), taken = m->ports[port].pauses_taken;

	m->ports[port].pauses_taken = sent;
	return sent - taken;
}

/* --- configuration --- */

/* In the fast path one comparison with this level tells whether there can be a shortage. A fair share
 * cannot be exceeded while half of the pool is free. */
static uint32_t
quiet_level(const struct tnetx4090_model *m)
{
	uint32_t level = m->flow ? wide_value(m, ROW_FLOW_THRESHOLD) : 0;

	if (m->flow && m->holb && level < m->config.n_buffers / 2)
		level = m->config.n_buffers / 2;
	return level;
}

static bool
is_gigabit(const struct tnetx4090_model *m, unsigned port)
{
	return port == TNETX4090_GIGABIT_PORT && m->config.partners[port].speed_mbps == 1000;
}

/* The effect of back pressure on a frame of the port (page 56). */
static enum tnetx4090_verdict
when_pressed(const struct tnetx4090_model *m, unsigned port)
{
	uint32_t status = m->regs.values[ROW_PORT_STATUS][port];

	if (!(status & TNETX4090_STATUS_DUPLEX))
		return TNETX4090_COLLIDE;
	return status & TNETX4090_STATUS_PAUSE ? TNETX4090_PAUSE : TNETX4090_DROP;
}

static void
configure_port(struct tnetx4090_model *m, unsigned port)
{
	enum { PAUSE_UNIT_BITS = 512 };
	struct tnetx4090_port *p = &m->ports[port];
	uint32_t threshold = wide_value(m, ROW_FLOW_THRESHOLD);
	uint32_t speed_mbps = m->config.partners[port].speed_mbps;

	p->threshold = is_gigabit(m, port) ? threshold / 2 : threshold;
	p->when_pressed = (uint8_t)when_pressed(m, port);
	p->pause_repeat_ns = (uint64_t)TNETX4090_PAUSE_TIME * PAUSE_UNIT_BITS * 1000 /
	    (speed_mbps > 0 ? speed_mbps : 10) / 2;
}

static void
configure_mcast(struct tnetx4090_model *m)
{
	uint32_t step = m->regs.values[ROW_MCAST_LIMIT][2] % TNETX4090_MCAST_STEPS;

	m->mcast_limited = (uint16_t)wide_value(m, ROW_MCAST_LIMIT);
	m->mcast_max = (uint16_t)TNETX4090_MCAST_MAX(step);
	m->mcast_full = 0;
	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		if (m->mcast_limited >> i & 1 && m->ports[i].mcast_waiting >= m->mcast_max)
			m->mcast_full |= (uint16_t)(1u << i);
}

/* Applies the registers. Back pressure ends first, with the settings with which it began. */
static void
configure_model(struct tnetx4090_model *m)
{
	m->flow = false;
	tnetx4090_model_press(m, m->now_ns);
	m->flow = m->regs.values[ROW_SYS_CONTROL][0] & TNETX4090_FLOW;
	m->holb = m->regs.values[ROW_SYS_CONTROL][0] & TNETX4090_HOLB;
	m->quiet = quiet_level(m);
	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		configure_port(m, i);
	configure_mcast(m);
	tnetx4090_model_press(m, m->now_ns);
}

static void
settings_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	configure_model(chip);
}

/* Both bytes take effect with the second one, so that half of a threshold never does. */
static void
tnetx4090_model_threshold_written(void *chip, unsigned index, uint32_t written)
{
	(void)written;
	if (index == 1)
		configure_model(chip);
}

/* Negotiates what both ends support (pages 34 and 37); pause only in full duplex. */
static void
negotiate_port(struct tnetx4090_model *m, unsigned port)
{
	const struct tnetx4090_partner *partner = &m->config.partners[port];
	uint32_t want = m->regs.values[ROW_PORT_CONTROL][port];
	uint32_t status = 0;

	if (partner->speed_mbps > 0)
		status |= TNETX4090_STATUS_LINK;
	if (partner->full_duplex && !(want & TNETX4090_PORT_REQHD))
		status |= TNETX4090_STATUS_DUPLEX;
	if (partner->pause && !(want & TNETX4090_PORT_REQNP) && status & TNETX4090_STATUS_DUPLEX)
		status |= TNETX4090_STATUS_PAUSE;
	if (partner->speed_mbps >= 100 && !(want & TNETX4090_PORT_REQ10))
		status |= TNETX4090_STATUS_SPEED;
	m->regs.values[ROW_PORT_STATUS][port] = status;
}

static void
port_control_written(void *chip, unsigned index, uint32_t written)
{
	struct tnetx4090_model *m = chip;

	if (!(written & TNETX4090_PORT_NEG))
		return;
	negotiate_port(m, index);
	configure_model(m);
}

void
tnetx4090_model_set_partner(struct tnetx4090_model *m, unsigned port,
    const struct tnetx4090_partner *partner, uint64_t now_ns)
{
	m->now_ns = now_ns;
	m->config.partners[port] = *partner;
	negotiate_port(m, port);
	configure_model(m);
}

/* --- reading --- */

/* A byte of a four-byte value: the read of byte 0 copies all four to the holding register. */
static uint32_t
held_byte(struct tnetx4090_model *m, unsigned byte, uint32_t figure)
{
	bool big = m->regs.values[ROW_STAT_CONTROL][0] & TNETX4090_STAT_BIG_ENDIAN;

	if (byte == 0)
		m->held = figure;
	return m->held >> 8 * (big ? 3 - byte : byte) & 0xff;
}

static uint32_t
read_statistics(void *chip, unsigned index, uint32_t stored)
{
	struct tnetx4090_model *m = chip;
	unsigned port = index / TNETX4090_STAT_STRIDE;

	(void)stored;
	return held_byte(m, index % 4, m->statistics[port][index % TNETX4090_STAT_STRIDE / 4]);
}

static uint32_t
pressed_us(const struct tnetx4090_model *m, unsigned port)
{
	const struct tnetx4090_port *p = &m->ports[port];
	uint64_t ns = p->pressed_ns;

	if (m->pressed >> port & 1)
		ns += m->now_ns - p->pressed_since_ns;
	return (uint32_t)(ns / 1000);
}

static uint32_t
pool_figure(const struct tnetx4090_model *m, unsigned port, unsigned offset)
{
	const struct tnetx4090_port *p = &m->ports[port];

	switch ((enum tnetx4090_pool)offset) {
	case TNETX4090_CHARGED:
		return p->charged;
	case TNETX4090_MOST_CHARGED:
		return p->most_charged;
	case TNETX4090_PRESSED_EPISODES:
		return p->episodes;
	case TNETX4090_PRESSED_US:
		return pressed_us(m, port);
	case TNETX4090_PAUSES_SENT:
		return pauses_sent(m, port);
	case TNETX4090_MCAST_LEFT_OUT:
		return p->mcast_left_out;
	}
	return 0;
}

static uint32_t
global_figure(const struct tnetx4090_model *m, unsigned offset)
{
	switch ((enum tnetx4090_pool_global)offset) {
	case TNETX4090_POOL_BUFFERS:
		return m->config.n_buffers;
	case TNETX4090_POOL_LEAST_FREE:
		return m->least_free;
	case TNETX4090_POOL_FREE:
		return m->free;
	case TNETX4090_POOL_BUFFER_OCTETS:
		return m->config.buffer_octets;
	}
	return 0;
}

static uint32_t
tnetx4090_model_read_pool(void *chip, unsigned index, uint32_t stored)
{
	struct tnetx4090_model *m = chip;
	unsigned port = index / TNETX4090_POOL_STRIDE;
	unsigned offset = index % TNETX4090_POOL_STRIDE;
	uint32_t figure = 0;

	(void)stored;
	if (offset % 4 == 0)
		figure = port < TNETX4090_PORTS ? pool_figure(m, port, offset)
						: global_figure(m, offset);
	return held_byte(m, offset % 4, figure);
}

static uint32_t
read_freebuffs(void *chip, unsigned index, uint32_t stored)
{
	(void)stored;
	return ((struct tnetx4090_model *)chip)->free >> 8 * index & 0xff;
}

enum { ALL_PORTS_HIGH = (1u << (TNETX4090_PORTS - 8)) - 1 };

static const struct regmodel_row rows[] = {
    [ROW_SYS_CONTROL] = {.name = "SysControl", .offset = TNETX4090_SYS_CONTROL,
	.writable = TNETX4090_FLOW | TNETX4090_HOLB, .written = settings_written},
    [ROW_FLOW_THRESHOLD] = {.name = "FlowThreshold", .offset = TNETX4090_FLOW_THRESHOLD,
	.count = 2, .stride = 1, .writable = 0xff, .written = tnetx4090_model_threshold_written},
    [ROW_MCAST_LIMIT] = {.name = "MCastLimit", .offset = TNETX4090_MCAST_LIMIT, .count = 3,
	.stride = 1, .writable = 0xff, .written = settings_written},
    [ROW_RING_PORTS] = {.name = "RingPorts", .offset = TNETX4090_RING_PORTS, .count = 2,
	.stride = 1, .writable = 0xff},
    [ROW_STAT_CONTROL] = {.name = "StatControl", .offset = TNETX4090_STAT_CONTROL,
	.writable = TNETX4090_STAT_BIG_ENDIAN},
    [ROW_NM_FREEBUFFS] = {.name = "NM freebuffs", .offset = TNETX4090_NM_FREEBUFFS, .count = 2,
	.stride = 1, .reserved = 0xff, .read = read_freebuffs},
    [ROW_PORT_CONTROL] = {.name = "PortxControl", .offset = TNETX4090_PORT_CONTROL,
	.count = TNETX4090_PORTS, .stride = 1,
	.writable = TNETX4090_PORT_REQHD | TNETX4090_PORT_REQNP | TNETX4090_PORT_REQ10,
	.written = port_control_written},
    [ROW_PORT_STATUS] = {.name = "PortxStatus", .offset = TNETX4090_PORT_STATUS,
	.count = TNETX4090_PORTS, .stride = 1, .reserved = 0xff},
    [ROW_POOL] = {.name = "Pool", .offset = TNETX4090_POOL,
	.count = (TNETX4090_PORTS + 1) * TNETX4090_POOL_STRIDE, .stride = 1, .reserved = 0xff,
	.read = tnetx4090_model_read_pool},
    [ROW_STATISTICS] = {.name = "Port Statistics 1", .offset = TNETX4090_STATISTICS,
	.count = (TNETX4090_NM_PORT + 1) * TNETX4090_STAT_STRIDE, .stride = 1, .reserved = 0xff,
	.read = read_statistics},
};

static void
tnetx4090_model_before_access(void *chip, uint32_t offset)
{
	struct tnetx4090_model *m = chip;

	(void)offset;
	if (m->config.sync)
		m->config.sync(m->config.ctx);
}

/* --- life --- */

void
tnetx4090_model_reset(struct tnetx4090_model *m)
{
	regmodel_reset(&m->regs);
	memset(m->ports, 0, sizeof(m->ports));
	memset(m->statistics, 0, sizeof(m->statistics));
	m->free = m->least_free = m->config.n_buffers;
	m->pressed = 0;
	m->held = 0;
	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		negotiate_port(m, i);
	configure_model(m);
}

static bool
tnetx4090_model_config_is_good(const struct tnetx4090_model_config *c)
{
	return c->n_buffers <= UINT16_MAX && c->buffer_octets >= 16 &&
	    c->buffer_octets <= 4096 && (c->buffer_octets & (c->buffer_octets - 1)) == 0;
}

int
tnetx4090_model_create(const struct tnetx4090_model_config *config, struct tnetx4090_model **model)
{
	struct tnetx4090_model *m = calloc(1, sizeof(*m));
	int rc = -EINVAL;

	if (!m)
		return -ENOMEM;
	m->config = *config;
	if (m->config.n_buffers == 0)
		m->config.n_buffers = TNETX4090_DEFAULT_BUFFERS;
	if (m->config.buffer_octets == 0)
		m->config.buffer_octets = TNETX4090_DEFAULT_BUFFER_OCTETS;
	m->buffer_shift = (unsigned)__builtin_ctz(m->config.buffer_octets);
	if (tnetx4090_model_config_is_good(&m->config))
		rc = regmodel_init(&m->regs, rows, sizeof(rows) / sizeof(rows[0]), m);
	m->regs.access = tnetx4090_model_before_access;
	if (rc == 0)
		rc = bus_model_attach(m->config.bus, m->config.base, TNETX4090_WINDOW, &m->regs);
	if (rc < 0) {
		tnetx4090_model_destroy(m);
		return rc;
	}
	tnetx4090_model_reset(m);
	*model = m;
	return 0;
}

void
tnetx4090_model_destroy(struct tnetx4090_model *model)
{
	if (!model)
		return;
	regmodel_free(&model->regs);
	free(model);
}
