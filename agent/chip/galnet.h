/*
 * Driver of the GalNet switch controllers GT-48001A and GT-48002A: what differs between them is
 * one info row. It loads EASE skip counts, takes samples, NEW_ADDRESS and Error_Source messages out of the
 * CPU's memory and reports them to the HAL, ages and lists the address table, and switches ports.
 *
 * It knows for each port how many skip counts the chip holds (counter and shadow): a value is
 * never written over another, and as each port can have at most two samples on their way, the
 * receive buffers cannot run out. All calls are on the HAL's thread; none waits.
 */
#ifndef EASE_AGENT_CHIP_GALNET_H
#define EASE_AGENT_CHIP_GALNET_H

#include "agent/bus/bus.h"
#include "agent/chip/galnet_regs.h"
#include "agent/hal/hal_provider.h"

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

/* Sets the message areas up and lets interrupts through; no port samples until a skip is loaded.
 * -ENOMEM, -EINVAL, or what the bus said. */
int galnet_create(const struct galnet_config *config, struct galnet **chip);
void galnet_destroy(struct galnet *chip); /* NULL allowed */

/* Loads a skip count of 0..0xFFFFF. -EBUSY if the port holds two already. */
int galnet_load_skip(struct galnet *chip, unsigned port, uint32_t skip);
/* Forgets the port's skip counts: the next dispatch takes them back once all samples on their way
 * are reported, then reports one refill. EASE has one enable for all ports of a chip: the others
 * go on where they were, less what passes in the few accesses between. */
int galnet_restart(struct galnet *chip, unsigned port);

int galnet_enable_port(struct galnet *chip, unsigned port, bool enable);
int galnet_link(struct galnet *chip, unsigned port, bool *up);

/* Handles what has arrived: at most budget events (0: all), stamped with now_us. Returns how many
 * it handled, or -errno; *more says whether some are left. */
int galnet_dispatch(struct galnet *chip, struct hal *hal, uint64_t now_us, unsigned budget,
    bool *more);

/* Whether dispatch would have something to do without an interrupt: what it left, or a restart. */
bool galnet_pending(const struct galnet *chip);

/* Calls add for every address this chip owns (received itself), until add returns non-zero. */
int galnet_dump_addresses(struct galnet *chip,
    int (*add)(void *arg, const struct hal_address *address), void *arg);
/* One ageing step: an owned entry that was not used since the last step is passed to remove, one
 * that was is marked unused. */
int galnet_age(struct galnet *chip, void (*remove)(void *arg, uint64_t mac), void *arg);
/* Takes an address out of this chip's table unless it is static; nothing if it is not there. */
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

#endif
