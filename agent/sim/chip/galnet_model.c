#include "agent/sim/chip/galnet_model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- EASE --- */

static unsigned
counter_of(const struct galnet_model *m, unsigned port)
{
	return galnet_ease_counter(m->config.device, port);
}

/* Starts or stops a counter according to its value, the enable bits and the port's state. */
static void
update_running(struct galnet_model *m, unsigned port)
{
	bool enabled =
	    galnet_control(m, GALNET_CONTROL_EASE_ENABLE | GALNET_CONTROL_CPU_PRESENT);
	bool running = m->ease.running >> port & 1;

	if (running) {
		m->ease.left[port] = galnet_ease_stop(m->bank, counter_of(m, port));
		m->ease.running &= (uint8_t)~(1u << port);
	}
	if (enabled && m->forwarding >> port & 1 && m->ease.left[port] != NO_COUNT) {
		galnet_ease_run(m->bank, counter_of(m, port), m->ease.left[port]);
		m->ease.running |= (uint8_t)(1u << port);
	}
}

uint32_t
galnet_chip_ease_left(const struct galnet_model *m, unsigned port)
{
	if (m->ease.running >> port & 1)
		return galnet_ease_left(m->bank, counter_of(m, port));
	return m->ease.left[port];
}

/* After a sample: loads the counter from the register if that has a value, and empties the register. */
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
	galnet_chip_update_line(m);
}

void
galnet_chip_write_ease(struct galnet_model *m, unsigned port, uint32_t written)
{
	struct ease *e = &m->ease;

	if (galnet_chip_ease_left(m, port) == NO_COUNT) {
		e->left[port] = written & GALNET_EASE_COUNT_MASK;
		if (GALNET_EASE_STRAIGHT_THROUGH_INTERRUPTS)
			e->event |= (uint8_t)(1u << port);
		update_running(m, port);
	} else {
		e->shadow[port] = written & GALNET_EASE_COUNT_MASK;
		e->shadow_full |= (uint8_t)(1u << port);
	}
	galnet_chip_update_line(m);
}

void
galnet_chip_empty_ease(struct galnet_model *m)
{
	for (unsigned port = 0; port < GALNET_MAX_PORTS; port++)
		galnet_ease_stop(m->bank, counter_of(m, port));
	m->ease = (struct ease){0};
	for (unsigned i = 0; i < GALNET_MAX_PORTS; i++)
		m->ease.left[i] = NO_COUNT;
	galnet_chip_update_line(m);
}

/* Counts a good packet on this port's segment. Returns the port's bit if it is the sample. */
static inline uint32_t
count_packet(struct galnet_model *m, unsigned port)
{
	return (uint32_t)galnet_ease_count(m->bank, counter_of(m, port)) << port;
}

uint32_t
galnet_chip_count(struct galnet_model *m, uint32_t ports)
{
	uint32_t sampled = 0;

	for (; ports != 0; ports &= ports - 1)
		sampled |= count_packet(m, (unsigned)__builtin_ctz(ports));
	return sampled;
}

void
galnet_chip_reload(struct galnet_model *m, uint32_t sampled)
{
	for (; sampled != 0; sampled &= sampled - 1)
		reload(m, (unsigned)__builtin_ctz(sampled));
}

static __attribute__((noinline)) void
take_sample(struct galnet_model *m, uint32_t sampled, int arrival, const struct galnet_frame *f)
{
	galnet_chip_reload(m, sampled);
	galnet_chip_deliver(m, sampled, arrival, f, 0);
}

/* --- address table --- */

static inline uint32_t *
bucket_of(struct galnet_model *m, uint64_t mac)
{
	return m->table + galnet_bucket(mac) * GALNET_BUCKET_ENTRIES * 2;
}

/* Both words of an entry, to compare them together. */
static inline uint64_t
both_words(const uint32_t *entry)
{
	uint64_t both;

	memcpy(&both, entry, sizeof(both));
	return both;
}

/* The address's entry or NULL. */
static inline uint32_t *
find_entry(struct galnet_model *m, uint64_t mac)
{
	static const uint32_t address_and_valid[] = {UINT32_MAX, 0xffff0000 | GALNET_ENTRY_VALID};
	uint32_t *entry = bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;
	uint32_t wanted[] = {galnet_entry_word_0(mac),
	    galnet_entry_word_1(mac, 0, 0, GALNET_ENTRY_VALID)};

	for (; entry < end; entry += 2)
		if ((both_words(entry) & both_words(address_and_valid)) == both_words(wanted))
			return entry;
	return NULL;
}

/* An unused entry in the bucket of an address, or NULL. */
static uint32_t *
find_unused(struct galnet_model *m, uint64_t mac)
{
	uint32_t *entry = bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;

	for (; entry < end; entry += 2)
		if (!(entry[1] & GALNET_ENTRY_VALID))
			return entry;
	return NULL;
}

static void
table_full(struct galnet_model *m)
{
	*galnet_reg(m, ROW_ADDRESS_DISCARDS) += 1;
	galnet_chip_raise(m, GALNET_CAUSE_RECOGNITION);
}

/* The source is new, or its entry differs, or it was not used since the CPU cleared its aging bit. */
static __attribute__((noinline)) void
learn_anew(struct galnet_model *m, uint64_t mac, unsigned port)
{
	uint32_t *entry = find_entry(m, mac);
	unsigned device = m->config.device;

	if (entry && (entry[1] & GALNET_ENTRY_STATIC ||
		(galnet_entry_device(entry[1]) == device && galnet_entry_port(entry[1]) == port))) {
		entry[1] |= GALNET_ENTRY_AGING;
		return;
	}
	entry = entry ? entry : find_unused(m, mac);
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID | GALNET_ENTRY_AGING);
	if (m->config.new_address)
		m->config.new_address(m->config.ctx, device, mac, port);
	galnet_chip_write_new_address(m, mac, port);
}

static inline void
learn(struct galnet_model *m, uint64_t mac, unsigned port)
{
	const uint32_t *entry = bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;
	uint32_t wanted[] = {galnet_entry_word_0(mac),
	    galnet_entry_word_1(
		mac, m->config.device, port, GALNET_ENTRY_VALID | GALNET_ENTRY_AGING)};

	for (; entry < end; entry += 2)
		if (both_words(entry) == both_words(wanted))
			return; /* the entry would not change */
	if (!galnet_is_group(mac) && mac != 0)
		learn_anew(m, mac, port);
}

void
galnet_chip_learn(struct galnet_model *m, uint64_t mac, unsigned port)
{
	learn(m, mac, port);
}

void
galnet_model_learn_remote(struct galnet_model *m, unsigned device, uint64_t mac, unsigned port)
{
	uint32_t *entry = find_entry(m, mac);

	if (entry && entry[1] & GALNET_ENTRY_STATIC)
		return;
	entry = entry ? entry : find_unused(m, mac);
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID);
}

bool
galnet_model_owns(struct galnet_model *m, uint64_t mac, unsigned *port)
{
	const uint32_t *entry = find_entry(m, mac);

	if (!entry || galnet_entry_device(entry[1]) != m->config.device)
		return false;
	*port = galnet_entry_port(entry[1]);
	return true;
}

/* --- the path of a frame --- */

/* The address is unknown here: the recovery process (GT-48001A page 16). */
static void
request_owner(struct galnet_model *m, uint64_t mac)
{
	if (m->config.request_owner)
		m->config.request_owner(m->config.ctx, m->config.device, mac);
}

static inline struct galnet_route
route_unicast(struct galnet_model *m, unsigned port, uint64_t destination)
{
	struct galnet_route to = {.verdict = GALNET_DISCARD};
	const uint32_t *entry = find_entry(m, destination);

	if (!entry) {
		to.verdict = GALNET_FLOOD;
		request_owner(m, destination);
		return to;
	}
	to.device = galnet_entry_device(entry[1]);
	to.port = galnet_entry_port(entry[1]);
	if (to.device == m->cpu_device || entry[1] & m->cpu_flags)
		to.verdict = GALNET_TO_CPU;
	else if (to.device != m->config.device)
		to.verdict = GALNET_TO_DEVICE;
	else if (to.port != port && m->forwarding & 1u << to.port)
		to.verdict = GALNET_TO_PORT;
	return to;
}

struct galnet_route
galnet_chip_route_unicast(struct galnet_model *m, unsigned port, uint64_t destination)
{
	return route_unicast(m, port, destination);
}

static inline struct galnet_route
route(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	struct galnet_route to = {.verdict = GALNET_FLOOD};

	if (!galnet_is_group(f->destination) && !f->control)
		return route_unicast(m, port, f->destination);
	if (f->control || galnet_is_reserved(f->destination))
		to.verdict = GALNET_DISCARD;
	return to;
}

_Static_assert(GALNET_EASE_COUNTS_LOCAL_EGRESS, "a flooded packet counts on every segment");

struct galnet_route
galnet_model_receive(struct galnet_model *m, unsigned port, const struct galnet_frame *frame)
{
	struct galnet_route to;
	uint32_t sampled;

	if (__builtin_expect(m->bank->special_devices != 0, 0))
		return galnet_modes_receive(m, port, frame);
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
	if (sampled != 0 || to.verdict == GALNET_TO_CPU)
		take_sample(m, sampled, (int)port, frame);
	return to;
}

void
galnet_model_receive_flooded(struct galnet_model *m, const struct galnet_frame *frame)
{
	uint32_t sampled = galnet_ease_collect(m->bank, m->config.device);

	if (sampled)
		take_sample(m, sampled, -1, frame);
}

uint32_t
galnet_model_receive_pci(struct galnet_model *m, uint32_t ports, const struct galnet_frame *frame)
{
	uint32_t sampled;

	ports &= m->forwarding;
	if (__builtin_expect((ports & m->monitored) != 0, 0)) {
		galnet_modes_finish(m, ports, -1, false, frame);
		return ports;
	}
	sampled = galnet_chip_count(m, ports);
	if (sampled)
		take_sample(m, sampled, -1, frame);
	return ports;
}

/* --- ports --- */

/* Ports whose register in a row has all these bits set. */
static uint32_t
ports_with(struct galnet_model *m, enum galnet_row row, uint32_t bits)
{
	uint32_t ports = 0;

	for (unsigned port = 0; port < m->info->n_ports; port++)
		if ((*regmodel_value(&m->regs, row, port) & bits) == bits)
			ports |= 1u << port;
	return ports;
}

void
galnet_chip_update_ports(struct galnet_model *m)
{
	uint32_t this_chip = 1u << m->config.device;

	if (m->config.ports_changing)
		m->config.ports_changing(m->config.ctx, m->config.device);
	m->ports_up = ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_ENABLE) &
	    ports_with(m, ROW_PORT_STATUS, GALNET_PORT_STATUS_LINK);
	m->spanning_tree = galnet_control(m, GALNET_CONTROL_SPAN_ENABLE);
	m->forwarding = m->ports_up;
	if (m->spanning_tree)
		m->forwarding &= ~ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_SPAN);
	m->takes_unknown = ports_with(m, ROW_COMMAND, GALNET_COMMAND_TAKES_UNKNOWN);
	m->monitored = ports_with(m, ROW_PORT_CONTROL, m->info->port_control_monitor);
	m->no_broadcast = ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_NO_BROADCAST);
	m->cpu_device = GALNET_MAX_DEVICES;
	m->cpu_flags = 0;
	if (galnet_control(m, GALNET_CONTROL_CPU_PRESENT)) {
		m->cpu_device = *galnet_reg(m, ROW_CPU_NUMBERS) & GALNET_NUMBERS_CPU_MASK;
		m->cpu_flags = GALNET_ENTRY_INTERVENTION;
	}
	m->bank->special_devices &= ~this_chip;
	if (galnet_modes_on(m))
		m->bank->special_devices |= this_chip;
	for (unsigned port = 0; port < m->info->n_ports; port++)
		update_running(m, port);
}

void
galnet_model_set_link(struct galnet_model *m, unsigned port, bool up)
{
	*regmodel_value(&m->regs, ROW_PORT_STATUS, port) = up ? GALNET_PORT_STATUS_LINK : 0;
	galnet_chip_update_ports(m);
	galnet_chip_raise(m, GALNET_CAUSE_LINK);
}

uint32_t
galnet_model_ports_up(const struct galnet_model *m)
{
	return m->ports_up;
}

uint32_t
galnet_model_forwarding(const struct galnet_model *m)
{
	return m->forwarding;
}

/* --- life --- */

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
	m->info = &galnet_chip_infos[config->chip];
	m->bank = config->ease ? config->ease : &m->own_bank;
	if (!config->ease)
		galnet_ease_init(m->bank);
	rc = regmodel_init(&m->regs, m->info->rows, GALNET_N_ROWS, m);
	if (rc == 0)
		rc = bus_model_attach(config->bus,
		    GALNET_REGION + config->device * GALNET_SLICE, GALNET_SLICE, &m->regs);
	if (rc < 0) {
		galnet_model_destroy(m);
		return rc;
	}
	m->table = galnet_reg(m, ROW_TABLE);
	galnet_chip_empty_ease(m);
	galnet_chip_update_ports(m);
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
galnet_model_packets_lost(const struct galnet_model *model)
{
	return model->packets_lost;
}
