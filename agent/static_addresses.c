#include "agent/static_addresses.h"

#include "common/log.h"
#include "common/publication.h"
#include "mibs/mibs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tied {
	uint8_t mac[6];
	uint32_t if_index; /* 0: its port is away, and the address waits for it */
};

struct published_addresses {
	struct published head;
	struct mib_static_address_table table;
};

struct static_addresses {
	struct hal *hal;
	struct managed_table *managed;
	struct tied tied[MIB_STATIC_ADDRESSES_MAX]; /* addresses that the device has, by mac */
	size_t n_tied;
	bool dirty;
	struct publication publication; /* of struct published_addresses */
};

/* ---- rows ---- */

static void
row_defaults(void *ctx, void *row)
{
	(void)ctx;
	(void)row; /* the RFC's default is all ports, but chips support one, so it must be set */
}

/* Returns the bridge port if the list contains exactly one, else 0. */
static uint32_t
only_port(const struct mib_binary *list)
{
	uint32_t port = 0;

	for (uint32_t i = 0; i < list->len * 8u; i++) {
		if (!(list->octets[i / 8] & 0x80 >> i % 8))
			continue;
		if (port != 0)
			return 0;
		port = i + 1;
	}
	return port;
}

/* Whether the device will probably accept the row. */
static int
row_ready(void *ctx, const void *row)
{
	const struct mib_static_address *fixed = row;
	struct hal *hal = ((struct static_addresses *)ctx)->hal;
	uint32_t if_index = hal_port_of_base(hal, only_port(&fixed->allowed));
	int rc = hal_check_static(hal, fixed->mac, if_index);

	if (rc == -EOPNOTSUPP || rc == -EPERM)
		return rc;
	return rc < 0 || if_index == 0 ? -EBUSY : 0;
}

/* ---- the device ---- */

static const struct tied *
find_tied(const struct tied *tied, size_t n, const uint8_t mac[6])
{
	for (size_t i = 0; i < n; i++) {
		if (memcmp(tied[i].mac, mac, sizeof(tied[i].mac)) == 0)
			return &tied[i];
	}
	return NULL;
}

/* Restores the first n addresses to what was tied before. */
static void
restore_ties(struct static_addresses *s, const struct tied *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tied *before = find_tied(s->tied, s->n_tied, wanted[i].mac);

		if (hal_set_static(s->hal, wanted[i].mac, before ? before->if_index : 0) < 0)
			log_warn_limited("static-address", "an address could not be tied to its former port again");
	}
}

static int
apply_rows(void *ctx, const void *rows, size_t n)
{
	const struct mib_static_address *fixed = rows;
	struct tied wanted[MIB_STATIC_ADDRESSES_MAX];
	struct static_addresses *s = ctx;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(wanted[i].mac, fixed[i].mac, sizeof(wanted[i].mac));
		wanted[i].if_index = hal_port_of_base(s->hal, only_port(&fixed[i].allowed));
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct tied *before = find_tied(s->tied, s->n_tied, wanted[i].mac);

		if ((before ? before->if_index : 0) != wanted[i].if_index)
			rc = hal_set_static(s->hal, wanted[i].mac, wanted[i].if_index);
		if (rc < 0)
			restore_ties(s, wanted, i + 1);
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->n_tied; i++) {
		if (find_tied(wanted, n, s->tied[i].mac))
			continue;
		if (hal_set_static(s->hal, s->tied[i].mac, 0) < 0)
			log_warn_limited("static-address", "the device keeps an address tied whose row is deleted");
	}
	memcpy(s->tied, wanted, n * sizeof(*wanted));
	s->n_tied = n;
	s->dirty = true;
	return 0;
}

static const struct managed_type type = {
	.kind = MANAGED_STATIC_STATUS,
	.status_column = 4,
	.status_offset = offsetof(struct mib_static_address, status),
	.max_rows = MIB_STATIC_ADDRESSES_MAX,
	.defaults = row_defaults,
	.ready = row_ready,
	.apply = apply_rows,
};

/* ---- ports that come and go ---- */

/* The device has released what was tied to a port that left, or left its bridge. */
static void
static_port_left(struct static_addresses *s, uint32_t if_index)
{
	for (size_t i = 0; i < s->n_tied; i++)
		if (s->tied[i].if_index == if_index)
			s->tied[i].if_index = 0;
}

/* A port that is in no bridge has no addresses. */
static bool
takes_addresses(const struct static_addresses *s, uint32_t if_index)
{
	struct hal_port port;

	return hal_port_info(s->hal, if_index, &port) == 0 && !port.off_bridge;
}

/* Ties again what waits for the port. */
static void
tie_again(struct static_addresses *s, uint32_t if_index)
{
	const struct mib_static_address *fixed;
	void *rows;
	size_t n = managed_rows(s->managed, &rows);
	struct hal_port port;

	if (hal_port_info(s->hal, if_index, &port) < 0)
		return;
	fixed = rows;
	for (size_t i = 0; i < n; i++) {
		struct tied *tied =
		    (struct tied *)(uintptr_t)find_tied(s->tied, s->n_tied, fixed[i].mac);
		int rc;

		if (tied == NULL || tied->if_index != 0 || only_port(&fixed[i].allowed) != port.base_port)
			continue;
		rc = hal_set_static(s->hal, tied->mac, if_index);
		if (rc == 0)
			tied->if_index = if_index;
		else if (rc != -ENODEV) /* gone again */
			log_warn_limited("static-address", "an address could not be tied to port %u again: %s",
			    (unsigned)if_index, strerror(-rc));
	}
}

void
static_addresses_port(struct static_addresses *s, const struct hal_port_event *event)
{
	if (s->n_tied == 0)
		return;
	if (takes_addresses(s, event->if_index))
		tie_again(s, event->if_index);
	else
		static_port_left(s, event->if_index);
}

/* ---- the published table ---- */

/* If there is no memory, the old table remains published and the next call tries again. */
void
static_addresses_publish(struct static_addresses *s)
{
	struct published_addresses *fresh = s->dirty ? calloc(1, sizeof(*fresh)) : NULL;
	void *rows;

	if (!fresh)
		return;
	fresh->table.n = managed_rows(s->managed, &rows);
	if (fresh->table.n > 0)
		memcpy(fresh->table.rows, rows, fresh->table.n * sizeof(fresh->table.rows[0]));
	s->dirty = false;
	publication_replace(&s->publication, &fresh->head);
}

const struct mib_static_address_table *
static_addresses_hold(struct static_addresses *s)
{
	struct published *held = publication_hold(&s->publication);

	return held ? &((struct published_addresses *)(void *)held)->table : NULL;
}

void
static_addresses_release(const struct mib_static_address_table *table)
{
	published_release(PUBLISHED_OF(table, struct published_addresses, table));
}

/* ---- life cycle ---- */

int
static_addresses_create(struct hal *hal, struct static_addresses **static_addresses)
{
	struct static_addresses *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->hal = hal;
	s->dirty = true;
	publication_init(&s->publication);
	rc = managed_create(&bridge_mib_static_table, &type, s, &s->managed);
	if (rc < 0)
		static_addresses_destroy(s);
	else
		*static_addresses = s;
	return rc;
}

void
static_addresses_destroy(struct static_addresses *static_addresses)
{
	if (!static_addresses)
		return;
	managed_destroy(static_addresses->managed);
	publication_end(&static_addresses->publication);
	free(static_addresses);
}

struct managed_table *
static_addresses_managed(struct static_addresses *static_addresses)
{
	return static_addresses->managed;
}
