#include "tests/agent/sim/chip/galnet_rig.h"

#include <check.h>

static void
pci_new_address(void *ctx, unsigned device, uint64_t mac, unsigned port)
{
	struct galnet_rig *rig = ctx;

	(void)mac;
	(void)port;
	ck_assert_uint_eq(device, RIG_DEVICE);
	rig->n_pci_new_addresses++;
}

static void
pci_request_owner(void *ctx, unsigned device, uint64_t mac)
{
	ck_assert_uint_eq(device, RIG_DEVICE);
	((struct galnet_rig *)ctx)->asked_for = mac;
}

static uint32_t
mib_events(void *ctx, unsigned device, unsigned port, enum galnet_mib which)
{
	(void)device;
	(void)port;
	(void)which;
	return ((struct galnet_rig *)ctx)->mib_events;
}

void
rig_create(struct galnet_rig *rig, enum galnet_chip chip)
{
	struct galnet_model_config config = {.chip = chip, .device = RIG_DEVICE,
	    .line = RIG_LINE, .new_address = pci_new_address,
	    .request_owner = pci_request_owner, .mib_events = mib_events, .ctx = rig};

	*rig = (struct galnet_rig){0};
	ck_assert_int_eq(bus_model_create(&rig->board), 0);
	config.bus = rig->board;
	ck_assert_int_eq(galnet_model_create(&config, &rig->model), 0);
	for (unsigned i = 0; i < galnet_model_n_ports(rig->model); i++)
		galnet_model_set_link(rig->model, i, true);
	rig->cpu = bus_model_cpu(rig->board);
}

void
rig_destroy(struct galnet_rig *rig)
{
	galnet_model_destroy(rig->model);
	bus_model_destroy(rig->board);
}

static uint32_t
address_of(uint32_t offset)
{
	return GALNET_REGION + RIG_DEVICE * GALNET_SLICE + offset;
}

uint32_t
rig_get(const struct galnet_rig *rig, uint32_t offset)
{
	uint32_t value = 0xdeadbeef;

	ck_assert_int_eq(bus_read(&rig->cpu, address_of(offset), &value), 0);
	return value;
}

void
rig_put(const struct galnet_rig *rig, uint32_t offset, uint32_t value)
{
	ck_assert_int_eq(bus_write(&rig->cpu, address_of(offset), value), 0);
}

struct galnet_frame
rig_frame(struct galnet_rig *rig, uint64_t destination, uint64_t source)
{
	struct galnet_frame f = {.destination = destination, .source = source,
	    .octets = rig->octets, .captured_octets = 96, .data_octets = 96, .wire_octets = 100};

	for (int i = 0; i < 6; i++) {
		rig->octets[i] = (uint8_t)(destination >> 8 * (5 - i));
		rig->octets[6 + i] = (uint8_t)(source >> 8 * (5 - i));
	}
	for (int i = 12; i < 96; i++)
		rig->octets[i] = (uint8_t)i;
	return f;
}

struct galnet_route
rig_send(struct galnet_rig *rig, unsigned port, uint64_t destination, uint64_t source)
{
	struct galnet_frame f = rig_frame(rig, destination, source);

	return galnet_model_receive(rig->model, port, &f);
}
