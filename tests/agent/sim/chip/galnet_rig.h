/*
 * A GalNet chip model on a bus of its own, for the tests of model and driver: all links up, and
 * one frame a call. What the tests look at is in struct galnet_rig; one lives at a time.
 */
#ifndef EASE_TESTS_GALNET_RIG_H
#define EASE_TESTS_GALNET_RIG_H

#include "agent/sim/chip/galnet_model.h"

enum { RIG_DEVICE = 3, RIG_OTHER_DEVICE = 4, RIG_LINE = 2 };
enum { RIG_FRAME_OCTETS = 100 }; /* on the wire */

#define MAC_A 0x020000000001ull
#define MAC_B 0x020000000002ull
#define MAC_C 0x020000000003ull
#define BROADCAST 0xffffffffffffull
#define RESERVED_GROUP 0x0180c2000000ull

struct galnet_rig {
	struct bus_model *board;
	struct galnet_model *model;
	struct bus cpu;
	unsigned n_pci_new_addresses;
	uint64_t asked_for;  /* by the recovery process; 0: nothing yet */
	uint32_t mib_events; /* of every MIB counter */
	uint8_t octets[1600]; /* of the last frame made */
};

void rig_create(struct galnet_rig *rig, enum galnet_chip chip);
void rig_destroy(struct galnet_rig *rig);

uint32_t rig_get(const struct galnet_rig *rig, uint32_t offset);
void rig_put(const struct galnet_rig *rig, uint32_t offset, uint32_t value);

/* A frame of 96 octets and its FCS. */
struct galnet_frame rig_frame(struct galnet_rig *rig, uint64_t destination, uint64_t source);
/* Such a frame comes in by a port. */
struct galnet_route rig_send(struct galnet_rig *rig, unsigned port, uint64_t destination,
    uint64_t source);

#endif
