/*
 * The bridge ports and addresses of a snapshot, in the orders of the MIBs. Called by snapshot.c.
 */
#include "agent/hal/hal_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
compare_base_ports(const void *a, const void *b)
{
	const struct hal_port *x = *(const struct hal_port *const *)a, *y = *(const struct hal_port *const *)b;

	return x->base_port < y->base_port ? -1 : x->base_port > y->base_port;
}

int
hal_bridge_ports_list(struct hal_snapshot *fresh)
{
	const struct hal_port **list = calloc(fresh->n_ports + 1, sizeof(*list));
	size_t n = 0;

	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < fresh->n_ports; i++)
		if (fresh->ports[i].base_port != 0)
			list[n++] = &fresh->ports[i];
	if (n > 0)
		qsort(list, n, sizeof(*list), compare_base_ports);
	fresh->bridge_ports = list;
	fresh->n_bridge_ports = n;
	return 0;
}

static int
compare_common(const void *a, const void *b)
{
	const struct hal_address *x = a, *y = b;
	int order = memcmp(x->mac, y->mac, sizeof(x->mac));

	if (order != 0)
		return order;
	if (x->bridge != y->bridge)
		return x->bridge < y->bridge ? -1 : 1;
	return (int)x->vlan - (int)y->vlan;
}

static int
compare_by_fdb(const void *a, const void *b)
{
	const struct hal_address *x = a, *y = b;

	if (x->fdb != y->fdb)
		return x->fdb < y->fdb ? -1 : 1;
	return compare_common(a, b);
}

/* Sorts n addresses and returns how many are left, one for each key. */
static size_t
sort_unique(struct hal_address *list, size_t n, int (*compare)(const void *, const void *))
{
	size_t kept = 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || memcmp(list[i].mac, list[kept - 1].mac, sizeof(list[i].mac)) != 0 ||
		    (compare == compare_by_fdb && list[i].fdb != list[kept - 1].fdb))
			list[kept++] = list[i];
	return kept;
}

/* Fills in what the HAL knows, and returns whether all addresses are in one database and have no VLAN. */
static bool
complete_addresses(const struct hal_snapshot *fresh, struct hal_address *list)
{
	bool one = true;

	for (size_t i = 0; i < fresh->n_addresses; i++) {
		const struct hal_port *port = hal_snapshot_port(fresh, list[i].if_index);

		list[i].base_port = port ? port->base_port : 0;
		if (list[i].fdb == 0)
			list[i].fdb = list[i].vlan > 0 || fresh->vlan_aware ? list[i].vlan : HAL_DEFAULT_VLAN;
		one = one && list[i].vlan == 0 && list[i].fdb > 0 && list[i].fdb == list[0].fdb;
	}
	return one;
}

int
hal_addresses_arrange(struct hal_snapshot *fresh, struct hal_address **addresses)
{
	struct hal_address *raw = *addresses, *list;
	size_t n_raw = fresh->n_addresses, n;

	if (complete_addresses(fresh, raw)) {
		fresh->n_addresses = fresh->n_common_addresses = sort_unique(raw, n_raw, compare_common);
		return 0;
	}
	list = calloc(2 * n_raw, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	if (n_raw > 0)
		memcpy(list, raw, n_raw * sizeof(*list));
	fresh->n_common_addresses = fresh->fdb_addresses = n = sort_unique(list, n_raw, compare_common);
	for (size_t i = 0; i < n_raw; i++)
		if (raw[i].fdb > 0)
			list[n++] = raw[i];
	fresh->n_addresses = fresh->fdb_addresses +
	    sort_unique(list + fresh->fdb_addresses, n - fresh->fdb_addresses, compare_by_fdb);
	free(raw);
	*addresses = list;
	fresh->addresses = list;
	return 0;
}
