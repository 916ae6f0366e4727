/*
 * Packs samples, snapshots, port states, addresses and events into notifications no larger than a
 * limit and hands them to a queue. One notification a kind is open at a time. Samples wait for company
 * until the notification is full or packer_flush is called (the agent's timer does, 50 ms); each
 * port named by a sample contributes its newest snapshot once. What the queue refuses is reported
 * by port, because those samples' numbers are already given out.
 */
#ifndef EASE_AGENT_SAMPLING_PACKER_H
#define EASE_AGENT_SAMPLING_PACKER_H

#include "common/trap_wire.h"

#include <stdbool.h>
#include <stddef.h>

struct packer_sink {
	void *ctx;
	/* Takes a copy; -ENOBUFS if its queue is full. Never waits. */
	int (*push)(void *ctx, const struct ease_notification *notification);
	/* n_samples of this port were in a notification that could not be queued. */
	void (*lost)(void *ctx, uint32_t if_index, unsigned n_samples);
};

struct packer;

/* limit_octets: TRAP_WIRE_MESSAGE_MIN..MAX of SNMP message. The sink is copied. */
int packer_create(size_t limit_octets, const struct packer_sink *sink, struct packer **packer);
void packer_destroy(struct packer *packer); /* what is still open is dropped: flush first */

void packer_sample(struct packer *packer, const struct ease_sample *sample,
    const struct ease_snapshot *snapshot);
void packer_counters(struct packer *packer, const struct ease_snapshot *snapshot);
/* Goes into easeCounters, beside the port's counters. */
void packer_resources(struct packer *packer, const struct ease_resources *resources);
void packer_error_source(struct packer *packer, const struct ease_error_source *source);
/* Events, each a notification of its own, behind the samples that wait. */
void packer_back_pressure(struct packer *packer, const struct ease_resources *resources);
void packer_stalled(struct packer *packer, const struct ease_snapshot *snapshot);
void packer_state(struct packer *packer, const struct ease_state *state);
void packer_address(struct packer *packer, const struct ease_address *address);

/* Samples are waiting: the caller's timer should run. */
bool packer_waits(const struct packer *packer);
/* Hands over everything open, samples first, so that counters never run ahead of them. */
void packer_flush(struct packer *packer);

#endif
