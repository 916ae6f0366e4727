#include "agent/sampling/packer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* More ports than a notification of the largest size can hold with a sample each. */
enum { PACKER_MAX_PORTS = 40, PACKER_N_KINDS = EASE_NOTIFY_SAMPLING_CHANGED + 1 };

struct packer {
	size_t limit_octets;
	struct packer_sink sink;
	struct ease_notification open[PACKER_N_KINDS]; /* by kind; [0] unused */
	struct ease_snapshot snapshots[PACKER_MAX_PORTS]; /* of ports in the open easeSamples */
	size_t n_snapshots;
	size_t snapshot_octets; /* their size when they are added */
};

int
packer_create(size_t limit_octets, const struct packer_sink *sink, struct packer **packer)
{
	struct packer *p;

	if (limit_octets < TRAP_WIRE_MESSAGE_MIN || limit_octets > TRAP_WIRE_MESSAGE_MAX)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return -ENOMEM;
	p->limit_octets = limit_octets;
	p->sink = *sink;
	for (unsigned kind = 1; kind < PACKER_N_KINDS; kind++)
		trap_wire_begin(&p->open[kind], (enum ease_notification_kind)kind);
	*packer = p;
	return 0;
}

void
packer_destroy(struct packer *packer)
{
	free(packer);
}

static void
packer_report_lost(struct packer *packer, const struct ease_notification *n)
{
	struct trap_part part;
	size_t pos = 0;

	while (trap_wire_next(n, &pos, &part))
		if (part.part == EASE_PART_SAMPLE)
			packer->sink.lost(packer->sink.ctx, part.if_index, 1);
}

static void
packer_hand_over(struct packer *packer, enum ease_notification_kind kind)
{
	struct ease_notification *n = &packer->open[kind];

	if (n->n_parts == 0)
		return;
	if (packer->sink.push(packer->sink.ctx, n) < 0)
		packer_report_lost(packer, n);
	trap_wire_begin(n, kind);
}

static void
hand_over_samples(struct packer *packer)
{
	struct ease_notification *n = &packer->open[EASE_NOTIFY_SAMPLES];

	assert(packer->n_snapshots <= PACKER_MAX_PORTS);
	for (size_t i = 0; i < packer->n_snapshots; i++)
		trap_wire_add_snapshot(n, &packer->snapshots[i], packer->limit_octets);
	packer->n_snapshots = 0;
	packer->snapshot_octets = 0;
	packer_hand_over(packer, EASE_NOTIFY_SAMPLES);
}

static struct ease_snapshot *
find_snapshot(struct packer *packer, uint32_t if_index)
{
	for (size_t i = 0; i < packer->n_snapshots; i++)
		if (packer->snapshots[i].if_index == if_index)
			return &packer->snapshots[i];
	return NULL;
}

/* Whether the notification has room for the sample and, if its port is new there, for a snapshot. */
static bool
sample_fits(struct packer *packer, const struct ease_sample *sample, bool port_is_new)
{
	size_t octets = packer->open[EASE_NOTIFY_SAMPLES].message_octets + packer->snapshot_octets +
	    trap_wire_part_octets(EASE_PART_SAMPLE, sample->kept_octets);

	if (port_is_new) {
		octets += trap_wire_part_octets(EASE_PART_SNAPSHOT, 0);
		if (packer->n_snapshots == PACKER_MAX_PORTS)
			return false;
	}
	return octets <= packer->limit_octets;
}

void
packer_sample(struct packer *packer, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	struct ease_snapshot *known = find_snapshot(packer, sample->if_index);

	if (!sample_fits(packer, sample, known == NULL)) {
		hand_over_samples(packer);
		known = NULL;
	}
	if (trap_wire_add_sample(&packer->open[EASE_NOTIFY_SAMPLES], sample,
		packer->limit_octets) < 0) {
		packer->sink.lost(packer->sink.ctx, sample->if_index, 1);
		return;
	}
	if (known == NULL) {
		assert(packer->n_snapshots < PACKER_MAX_PORTS);
		known = &packer->snapshots[packer->n_snapshots++];
		packer->snapshot_octets += trap_wire_part_octets(EASE_PART_SNAPSHOT, 0);
	}
	*known = *snapshot;
}

/* Adds a part. If it does not fit, it becomes the first part of the next notification. */
#define ADD_OR_HAND_OVER(packer, kind, add, value)                                                 \
	do {                                                                                       \
		struct ease_notification *n_ = &(packer)->open[kind];                              \
		if (add(n_, value, (packer)->limit_octets) == -EMSGSIZE) {                         \
			packer_hand_over(packer, kind);                                                   \
			add(n_, value, (packer)->limit_octets);                                    \
		}                                                                                  \
	} while (0)

void
packer_counters(struct packer *packer, const struct ease_snapshot *snapshot)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_COUNTERS, trap_wire_add_snapshot, snapshot);
}

void
packer_resources(struct packer *packer, const struct ease_resources *resources)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_COUNTERS, trap_wire_add_resources, resources);
}

void
packer_error_source(struct packer *packer, const struct ease_error_source *source)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_ERROR_SOURCE, trap_wire_add_error_source, source);
}

/* An event notification has one port only, because management stations show its first port. */
static void
hand_over_event(struct packer *packer, enum ease_notification_kind kind)
{
	hand_over_samples(packer);
	packer_hand_over(packer, kind);
}

void
packer_back_pressure(struct packer *packer, const struct ease_resources *resources)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_BACK_PRESSURE, trap_wire_add_resources, resources);
	hand_over_event(packer, EASE_NOTIFY_BACK_PRESSURE);
}

void
packer_stalled(struct packer *packer, const struct ease_snapshot *snapshot)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_SAMPLING_STALLED, trap_wire_add_snapshot, snapshot);
	hand_over_event(packer, EASE_NOTIFY_SAMPLING_STALLED);
}

void
packer_change(struct packer *packer, const struct ease_change *change)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_SAMPLING_CHANGED, trap_wire_add_change, change);
	hand_over_event(packer, EASE_NOTIFY_SAMPLING_CHANGED);
}

void
packer_state(struct packer *packer, const struct ease_state *state)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_PORT_STATE, trap_wire_add_state, state);
}

void
packer_address(struct packer *packer, const struct ease_address *address)
{
	ADD_OR_HAND_OVER(packer, EASE_NOTIFY_NEW_ADDRESS, trap_wire_add_address, address);
}

bool
packer_waits(const struct packer *packer)
{
	for (unsigned kind = 1; kind < PACKER_N_KINDS; kind++)
		if (packer->open[kind].n_parts > 0)
			return true;
	return false;
}

void
packer_flush(struct packer *packer)
{
	hand_over_samples(packer);
	for (unsigned kind = EASE_NOTIFY_SAMPLES + 1; kind < PACKER_N_KINDS; kind++)
		packer_hand_over(packer, (enum ease_notification_kind)kind);
}
