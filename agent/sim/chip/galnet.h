/*
 * Driver of the GalNet switch controllers GT-48001A and GT-48002A; one info row holds their differences.
 * It loads EASE skip counts, reads samples, NEW_ADDRESS and Error_Source messages from the CPU's memory
 * and reports them to the HAL, ages and lists the address table, and enables and disables ports.
 *
 * It tracks how many skip counts the chip holds for each port (counter and shadow). So a value is never
 * overwritten, a port can have at most two samples pending, and the receive buffers cannot run out.
 * All calls are on the HAL's thread; none waits.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_H
#define EASE_AGENT_SIM_CHIP_GALNET_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/bus/bus.h"
#include "agent/sim/chip/galnet_regs.h"

struct galnet;

struct galnet_info {
	const char *name; /* of the chip, for messages and ifDescr */
	unsigned n_ports;
	uint32_t ease_cause, ease_mask; /* registers with the EASE bits */
	unsigned ease_shift;		/* of port 0's bit there */
};

extern const struct galnet_info galnet_gt48001a, galnet_gt48002a;

struct galnet_config {
	const struct galnet_info *info;
	const struct bus *bus; /* borrowed; must offer shared memory */
	unsigned device;       /* GalNet device number, 0..31 */
	uint32_t if_index[GALNET_MAX_PORTS];
};

enum {
	GALNET_SKIP_DEPTH = 2, /* counter and shadow */
	GALNET_AGEING_DEFAULT_S = 300, /* GT-48001A page 17, and IEEE 802.1D */
};

/* Sets up the message areas and enables interrupts. A port samples only when a skip count is loaded.
 * -ENOMEM, -EINVAL, or the bus's error. */
int galnet_create(const struct galnet_config *config, struct galnet **chip);
void galnet_destroy(struct galnet *chip); /* NULL allowed */

/* Loads a skip count of 0..0xFFFFF. -EBUSY if the port has two already. */
int galnet_load_skip(struct galnet *chip, unsigned port, uint32_t skip);
/* Discards the port's skip counts: when all pending samples are reported, the next dispatch removes them
 * from the chip and then reports one refill. The chip has one EASE enable bit for all ports: the other
 * ports continue with the counts they had, but do not count frames that pass during the few accesses
 * in between. */
int galnet_restart(struct galnet *chip, unsigned port);

int galnet_enable_port(struct galnet *chip, unsigned port, bool enable);
int galnet_link(struct galnet *chip, unsigned port, bool *up);

/* Handles at most budget events (0: all), with the time now_us. Returns their number, or -errno; *more tells
 * whether some are left. */
int galnet_dispatch(struct galnet *chip, struct hal *hal, uint64_t now_us, unsigned budget,
    bool *more);

/* Whether dispatch has work without an interrupt: events left over, or a restart. */
bool galnet_pending(const struct galnet *chip);

/* Calls add for every address this chip owns (received itself), until add returns non-zero. */
int galnet_dump_addresses(struct galnet *chip,
    int (*add)(void *arg, const struct hal_address *address), void *arg);
/* One ageing step: an owned entry that was not used since the last step is passed to remove, one
 * that was is marked unused. */
int galnet_age(struct galnet *chip, void (*remove)(void *arg, uint64_t mac), void *arg);
/* Removes an address from this chip's table unless it is static. 0 also if it is not in the table. */
int galnet_remove_address(struct galnet *chip, uint64_t mac);
/* Addresses not learned because the table was full, since create. */
int galnet_address_discards(struct galnet *chip, uint64_t *discards);

/* Error_Source messages overrun since create. */
int galnet_errors_lost(struct galnet *chip, uint64_t *lost);

enum galnet_stat {
	GALNET_STAT_SAMPLES_LOST,
	GALNET_STAT_BAD_BLOCKS,
	GALNET_STAT_NEW_ADDRESS_LOST,
	GALNET_STAT_PACKETS_LOST,
	GALNET_STAT_OTHER_PACKETS,
	GALNET_STAT_ERROR_SOURCE_LOST,
	GALNET_STAT_ERRORS_FCS,
	GALNET_STAT_ERRORS_TOO_LONG,
	GALNET_N_STATS
};
const struct stat_set *galnet_stats(const struct galnet *chip);

/* --- static addresses ---
 * The CPU writes them into the address tables, and the chip neither changes nor ages them (GT-48001A page 17).
 * A board writes the same entry to all of its chips. */

/* Writes an entry to the tables of devices 0 to n - 1: mac (48 bits, the first octet highest) is at that
 * port of the device `owner`. -ENOSPC: in one of them the bucket is full of other static entries; then
 * no device gets it. */
int galnet_set_static(const struct bus *bus, unsigned n_devices, uint64_t mac, unsigned owner,
    unsigned port);
/* Removes the entries; 0 also if there is none. */
int galnet_clear_static(const struct bus *bus, unsigned n_devices, uint64_t mac);

#endif
