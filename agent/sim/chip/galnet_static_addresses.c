#include "agent/sim/chip/galnet_static_addresses.h"

#include "agent/sim/chip/galnet_regs.h"

#include <errno.h>
#include <stdbool.h>

static uint32_t
entry_address(unsigned device, unsigned entry)
{
	return GALNET_REGION + device * GALNET_SLICE + GALNET_ADDRESS_TABLE +
	    entry * GALNET_ENTRY_OCTETS;
}

/* The best entry of the bucket for an address. */
struct choice {
	bool found;   /* the address is in the bucket */
	int entry, worth; /* a free entry is worth more than a learned one, and a static one nothing */
};

static void
weigh(struct choice *choice, int entry, uint64_t mac, const uint32_t *words)
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
choose(const struct bus *bus, unsigned device, uint64_t mac, struct choice *choice)
{
	int first = (int)galnet_bucket(mac) * GALNET_BUCKET_ENTRIES;
	uint32_t words[GALNET_BUCKET_ENTRIES * 2];
	int rc = bus_read_words(bus, entry_address(device, (unsigned)first), words,
	    GALNET_BUCKET_ENTRIES * 2);

	*choice = (struct choice){0};
	for (int i = 0; i < GALNET_BUCKET_ENTRIES && rc == 0; i++)
		weigh(choice, first + i, mac, &words[2 * i]);
	return rc;
}

/* Writes an entry; it is not valid while only one of its words is written. */
static int
set_entry(const struct bus *bus, unsigned device, uint64_t mac, unsigned owner, unsigned port)
{
	struct choice choice;
	uint32_t address;
	int rc = choose(bus, device, mac, &choice);

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
	int rc = choose(bus, device, mac, &choice);

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
galnet_set_static(const struct bus *bus, unsigned n_devices, uint64_t mac, unsigned owner,
    unsigned port)
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
