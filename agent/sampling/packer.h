/*
 * Packs samples, snapshots, port states, addresses and events into notifications that are no larger
 * than a limit, and passes them to a queue. At most one notification of each kind is open. It stays
 * open until it is full, or until packer_flush is called, which the agent's timer does. A
 * notification of samples contains the newest snapshot of each of their ports. If the queue refuses
 * a notification, its samples are reported by port: their numbers are used, so they count as lost.
 */
#ifndef EASE_AGENT_SAMPLING_PACKER_H
#define EASE_AGENT_SAMPLING_PACKER_H

#include "common/trap_wire.h"

#include <stdbool.h>
#include <stddef.h>

struct packer_sink {
	void *ctx;
	/* Copies the notification. Returns -ENOBUFS if its queue is full. Must not wait. */
	int (*push)(void *ctx, const struct ease_notification *notification);
	/* n_samples of this port were in a notification that the queue refused. */
	void (*lost)(void *ctx, uint32_t if_index, unsigned n_samples);
};

struct packer;

/* limit_octets: of the SNMP message, TRAP_WIRE_MESSAGE_MIN..MAX. The sink is copied. */
int packer_create(size_t limit_octets, const struct packer_sink *sink, struct packer **packer);
void packer_destroy(struct packer *packer); /* drops open notifications: flush first */

void packer_sample(struct packer *packer, const struct ease_sample *sample,
    const struct ease_snapshot *snapshot);
void packer_counters(struct packer *packer, const struct ease_snapshot *snapshot);
/* Added to easeCounters, after the port's counters. */
void packer_resources(struct packer *packer, const struct ease_resources *resources);
void packer_error_source(struct packer *packer, const struct ease_error_source *source);
/* Events. Each is sent in a separate notification, after the samples that wait. */
void packer_back_pressure(struct packer *packer, const struct ease_resources *resources);
void packer_stalled(struct packer *packer, const struct ease_snapshot *snapshot);
void packer_change(struct packer *packer, const struct ease_change *change);
void packer_state(struct packer *packer, const struct ease_state *state);
void packer_address(struct packer *packer, const struct ease_address *address);

/* Returns whether samples wait: then the caller's timer should run. */
bool packer_waits(const struct packer *packer);
/* Passes all open notifications on. Samples go first: a receiver must not get counters that include
 * samples not sent yet. */
void packer_flush(struct packer *packer);

#endif
