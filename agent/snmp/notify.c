#include "agent/snmp/notify.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const struct stat_name stat_names[NOTIFY_N_STATS] = {
	[NOTIFY_PUSHED] = {"notify.pushed", "notifications queued for the master"},
	[NOTIFY_OVERFLOW] = {"notify.ring_overflow", "notifications dropped: the queue was full"},
	[NOTIFY_NO_MEMORY] = {"notify.no_memory", "notifications dropped: out of memory"},
	[NOTIFY_SENT] = {"notify.sent", "Notify PDUs sent to the master, repetitions included"},
	[NOTIFY_ACKNOWLEDGED] = {"notify.acknowledged", "notifications that the master acknowledged"},
	[NOTIFY_REFUSED] = {"notify.refused", "notifications lost: the master refused them"},
	[NOTIFY_SAMPLES_REFUSED] = {"notify.samples_refused", "samples lost in notifications that the master refused"},
	[NOTIFY_TIMEOUTS] = {"notify.timeouts",
	    "notifications not answered in time or before a session ended: sent again"},
	[NOTIFY_RESENT] = {"notify.resent", "notifications sent again"},
	[NOTIFY_SEND_FAILED] = {"notify.send_failed",
	    "notifications that could not be written to the session: sent again"},
	[NOTIFY_CONNECTS] = {"notify.connects", "AgentX sessions opened"},
	[NOTIFY_DISCONNECTS] = {"notify.disconnects", "AgentX sessions ended by the master or by an error"},
	[NOTIFY_REGISTERS_REFUSED] = {"notify.registers_refused",
	    "tables that the master refused: another subagent serves them"},
};

struct notify_ring {
	size_t capacity;
	/* Waiting items, between tail and head. The producer owns head, the consumer tail. */
	struct notify_item **slots;
	_Atomic size_t head;
	size_t tail;
	_Atomic size_t held; /* waiting or in the window; never above capacity, so that no slot is
				written before it was read */
	/* The consumer's window, by slot; a free slot is NULL. */
	struct notify_item *window[NOTIFY_WINDOW];
	size_t n_window;     /* items in it */
	size_t n_in_flight;  /* of them sent and unanswered */
	size_t flight_octets; /* of those in flight, on the AgentX session */
	uint64_t next_order;
	/* These save a system call for every notification when the two threads wake each other. */
	_Atomic bool consumer_asleep;
	_Atomic size_t space_wanted; /* 0: the producer does not wait */
	int wake_fd, space_fd;
	_Atomic uint64_t counts[NOTIFY_N_STATS];
	struct stat_set stats;
};

int
notify_ring_create(size_t capacity, struct notify_ring **out)
{
	struct notify_ring *ring;

	if (capacity == 0 || capacity > NOTIFY_RING_MAX)
		return -EINVAL;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ring->capacity = capacity;
	ring->stats = (struct stat_set){stat_names, NOTIFY_N_STATS, ring->counts};
	ring->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ring->space_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ring->slots = calloc(capacity, sizeof(struct notify_item *));
	if (!ring->slots || ring->wake_fd < 0 || ring->space_fd < 0) {
		notify_ring_destroy(ring);
		return -ENOMEM;
	}
	*out = ring;
	return 0;
}

void
notify_ring_destroy(struct notify_ring *ring)
{
	if (!ring)
		return;
	for (; ring->slots && ring->tail != ring->head; ring->tail++)
		free(ring->slots[ring->tail % ring->capacity]);
	for (size_t i = 0; i < NOTIFY_WINDOW; i++)
		free(ring->window[i]);
	if (ring->wake_fd >= 0)
		close(ring->wake_fd);
	if (ring->space_fd >= 0)
		close(ring->space_fd);
	free(ring->slots);
	free(ring);
}

static void
count_outcome(struct notify_ring *ring, enum notify_stat which)
{
	stat_add(&ring->stats, which, 1);
}

/* A write of 1 to an eventfd fails only if the eventfd is readable already. */
static void
wake_other(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

static struct notify_item *
new_item(struct notify_ring *ring, const struct ease_notification *n)
{
	size_t octets = offsetof(struct ease_notification, data) + n->len;
	struct notify_item *item = malloc(offsetof(struct notify_item, n) + octets);

	assert(n->len <= sizeof(n->data));
	if (!item)
		return NULL;
	memset(item, 0, offsetof(struct notify_item, n));
	item->ring = ring;
	memcpy(&item->n, n, octets);
	return item;
}

int
notify_ring_push(struct notify_ring *ring, const struct ease_notification *n)
{
	size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	struct notify_item *item;

	if (atomic_load(&ring->held) >= ring->capacity) {
		count_outcome(ring, NOTIFY_OVERFLOW);
		return -ENOBUFS;
	}
	item = new_item(ring, n);
	if (!item) {
		count_outcome(ring, NOTIFY_NO_MEMORY);
		return -ENOMEM;
	}
	ring->slots[head % ring->capacity] = item;
	atomic_fetch_add(&ring->held, 1);
	atomic_store(&ring->head, head + 1);
	count_outcome(ring, NOTIFY_PUSHED);
	if (atomic_load(&ring->consumer_asleep) && atomic_exchange(&ring->consumer_asleep, false))
		wake_other(ring->wake_fd);
	return 0;
}

size_t
notify_ring_space(const struct notify_ring *ring)
{
	assert(atomic_load(&ring->held) <= ring->capacity);
	return ring->capacity - atomic_load(&ring->held);
}

bool
notify_ring_want_space(struct notify_ring *ring, size_t free)
{
	size_t wanted = free < ring->capacity ? free : ring->capacity;

	atomic_store(&ring->space_wanted, wanted);
	if (notify_ring_space(ring) < wanted)
		return false;
	atomic_store(&ring->space_wanted, 0);
	return true;
}

int
notify_ring_space_fd(const struct notify_ring *ring)
{
	return ring->space_fd;
}

bool
notify_ring_idle(const struct notify_ring *ring)
{
	return atomic_load(&ring->held) == 0;
}

const struct stat_set *
notify_ring_stats(const struct notify_ring *ring)
{
	return &ring->stats;
}

/* ---- the consumer's side ---- */

/* An upper bound of the octets of an item on the AgentX session: PDU header, trap OID, agent id and
 * boot; then for each part its name (a sample's is the longest) and value header. */
static size_t
session_octets(const struct notify_item *item)
{
	return 256 + item->n.n_parts * (size_t)(16 + 4 * TRAP_WIRE_OID_MAX) + item->n.len;
}

static bool
has_credit(const struct notify_ring *ring, const struct notify_item *item)
{
	return ring->n_in_flight == 0 || ring->flight_octets + session_octets(item) <= NOTIFY_WINDOW_OCTETS;
}

/* The oldest item that must be sent again, or NULL. */
static struct notify_item *
oldest_unsent(const struct notify_ring *ring)
{
	struct notify_item *oldest = NULL;

	assert(ring->n_in_flight <= ring->n_window);
	if (ring->n_window == ring->n_in_flight)
		return NULL;
	for (size_t i = 0; i < NOTIFY_WINDOW; i++) {
		struct notify_item *item = ring->window[i];

		if (item && !item->in_flight && (!oldest || item->order < oldest->order))
			oldest = item;
	}
	return oldest;
}

static struct notify_item *
first_waiting(const struct notify_ring *ring)
{
	if (ring->tail == atomic_load(&ring->head))
		return NULL;
	return ring->slots[ring->tail % ring->capacity];
}

static void
enter_window(struct notify_ring *ring, struct notify_item *item)
{
	uint8_t slot = 0;

	assert(ring->n_window < NOTIFY_WINDOW);
	while (ring->window[slot])
		slot++;
	ring->window[slot] = item;
	ring->n_window++;
	ring->tail++;
	item->slot = slot;
	item->order = ring->next_order++;
}

/* The item that may be sent now; NULL if none waits or the window is full. */
static struct notify_item *
next_sendable(const struct notify_ring *ring)
{
	struct notify_item *item = oldest_unsent(ring);

	if (!item && ring->n_window < NOTIFY_WINDOW)
		item = first_waiting(ring);
	return item && has_credit(ring, item) ? item : NULL;
}

struct notify_item *
notify_ring_next(struct notify_ring *ring)
{
	struct notify_item *item = next_sendable(ring);

	if (!item)
		return NULL;
	if (!item->sent_before)
		enter_window(ring, item);
	else
		count_outcome(ring, NOTIFY_RESENT);
	item->in_flight = true;
	item->sent_before = true;
	ring->n_in_flight++;
	ring->flight_octets += session_octets(item);
	count_outcome(ring, NOTIFY_SENT);
	return item;
}

static void
land_item(struct notify_item *item, enum notify_stat outcome)
{
	struct notify_ring *ring = item->ring;

	assert(item->in_flight && ring->n_in_flight > 0);
	assert(ring->flight_octets >= session_octets(item));
	item->in_flight = false;
	ring->n_in_flight--;
	ring->flight_octets -= session_octets(item);
	count_outcome(ring, outcome);
}

static void
tell_space(struct notify_ring *ring)
{
	size_t wanted = atomic_load(&ring->space_wanted);

	if (wanted > 0 && notify_ring_space(ring) >= wanted &&
	    atomic_compare_exchange_strong(&ring->space_wanted, &wanted, 0))
		wake_other(ring->space_fd);
}

static void
finish_item(struct notify_item *item, enum notify_stat outcome)
{
	struct notify_ring *ring = item->ring;

	assert(ring->window[item->slot] == item && ring->n_window > 0 && atomic_load(&ring->held) > 0);
	land_item(item, outcome);
	ring->window[item->slot] = NULL;
	ring->n_window--;
	free(item);
	atomic_fetch_sub(&ring->held, 1);
	tell_space(ring);
}

void
notify_ring_acknowledged(struct notify_item *item)
{
	finish_item(item, NOTIFY_ACKNOWLEDGED);
}

void
notify_ring_refused(struct notify_item *item)
{
	stat_add(&item->ring->stats, NOTIFY_SAMPLES_REFUSED, item->n.n_samples);
	finish_item(item, NOTIFY_REFUSED);
}

void
notify_ring_timed_out(struct notify_item *item)
{
	land_item(item, NOTIFY_TIMEOUTS);
}

void
notify_ring_send_failed(struct notify_item *item)
{
	land_item(item, NOTIFY_SEND_FAILED);
}

size_t
notify_ring_unanswered(const struct notify_ring *ring)
{
	return ring->n_in_flight;
}

int
notify_ring_fd(const struct notify_ring *ring)
{
	return ring->wake_fd;
}

bool
notify_ring_prepare_wait(struct notify_ring *ring)
{
	atomic_store(&ring->consumer_asleep, true);
	if (!next_sendable(ring))
		return true;
	atomic_store(&ring->consumer_asleep, false);
	return false;
}
