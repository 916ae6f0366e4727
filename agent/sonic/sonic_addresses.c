/*
 * What ASIC_DB says of addresses, and the facet of addresses.
 */
#include "agent/sonic/sonic_private.h"

#include "common/log.h"

#include <errno.h>
#include <string.h>

#define ASIC_STATE "ASIC_STATE:SAI_OBJECT_TYPE_"
#define BRIDGE_PORT_PREFIX ASIC_STATE "BRIDGE_PORT:"
#define VLAN_PREFIX ASIC_STATE "VLAN:"

/* The interface of a SAI object, which may be a port or a LAG. A switch has some hundreds of objects and many thousand
 * addresses, so they are looked up in a map that is made for each listing. */
static void
map_ports(const struct sonic_device *d, struct sai_map *map)
{
	for (size_t i = 0; i < d->interfaces.n_served; i++) {
		const struct sonic_interface *interface = d->interfaces.served[i];

		if (interface->object != 0 && interface->kind != SONIC_VLAN)
			(void)sai_map_put(map, interface->object, interface->if_index);
	}
}

static uint32_t
sonic_interface_of(const struct sonic_device *d, uint64_t object)
{
	for (size_t i = 0; i < d->interfaces.n_served; i++)
		if (d->interfaces.served[i]->object == object && d->interfaces.served[i]->kind != SONIC_VLAN)
			return d->interfaces.served[i]->if_index;
	return 0;
}

/* ---- answers ---- */

static void
report_new(struct sonic_device *d, const struct sonic_address *known)
{
	struct ease_address address = {.time_us = clock_wall_us(d->clock)};
	uint64_t port;

	if (!d->device.hal || !d->addresses_known || known->status != HAL_ADDRESS_LEARNED ||
	    !addresses_resolve(&d->addresses, known, &address.vlan, &port))
		return;
	address.if_index = sonic_interface_of(d, port);
	memcpy(address.mac, known->key.mac, sizeof(address.mac));
	if (address.if_index != 0)
		hal_report_new_address(d->device.hal, &address);
}

static void
sonic_take_address(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	const redisReply *port = answer_string(reply, 0), *type = answer_string(reply, 1);
	struct sonic_address known = {.key = subject->key};
	int rc;

	if (!port || sai_object_parse(port->str, port->len, &known.bridge_port) < 0)
		return; /* it has left meanwhile, or leads to a tunnel */
	known.status = answer_is(type, "SAI_FDB_ENTRY_TYPE_STATIC") ? HAL_ADDRESS_MGMT : HAL_ADDRESS_LEARNED;
	rc = addresses_put(&d->addresses, &known.key, known.bridge_port, known.status);
	if (rc < 0)
		stat_add(&d->stats, SONIC_STAT_ADDRESSES_LEFT_OUT, 1);
	else if (rc > 0)
		report_new(d, &known);
}

static void
take_bridge_port(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	uint64_t port;

	if (reply->type == REDIS_REPLY_STRING && sai_object_parse(reply->str, reply->len, &port) == 0 &&
	    sai_map_put(&d->addresses.bridge_ports, subject->object, port) > 0)
		d->addresses.changes++;
}

static void
sonic_take_vlan(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	uint64_t vlan;

	if (answer_number(reply, &vlan) && vlan >= 1 && vlan <= HAL_VLAN_MAX &&
	    sai_map_put(&d->addresses.vlans, subject->object, vlan) > 0)
		d->addresses.changes++;
}

/* ---- keys ---- */

static bool
object_behind(const char *key, size_t octets, const char *prefix, uint64_t *object)
{
	size_t n = strlen(prefix);

	return octets > n && memcmp(key, prefix, n) == 0 && sai_object_parse(key + n, octets - n, object) == 0;
}

void
sonic_take_asic_key(struct sonic_device *d, const char *key, size_t octets, enum sonic_job job)
{
	struct sonic_subject subject = {0};

	if (octets > strlen(FDB_KEY_PREFIX) && memcmp(key, FDB_KEY_PREFIX, strlen(FDB_KEY_PREFIX)) == 0) {
		if (fdb_key_parse(key, octets, &subject.key) < 0)
			stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		else
			sonic_ask(d, job, sonic_take_address, &subject, "HMGET", key,
			    "SAI_FDB_ENTRY_ATTR_BRIDGE_PORT_ID", "SAI_FDB_ENTRY_ATTR_TYPE", NULL);
	} else if (object_behind(key, octets, BRIDGE_PORT_PREFIX, &subject.object)) {
		sonic_ask(d, job, take_bridge_port, &subject, "HGET", key, "SAI_BRIDGE_PORT_ATTR_PORT_ID", NULL);
	} else if (object_behind(key, octets, VLAN_PREFIX, &subject.object)) {
		sonic_ask(d, job, sonic_take_vlan, &subject, "HGET", key, "SAI_VLAN_ATTR_VLAN_ID", NULL);
	}
}

/* Objects that have left stay in their maps: SAI gives no number a second time while SONiC runs, and the maps have a
 * limit. */
void
sonic_remove_asic_key(struct sonic_device *d, const char *key, size_t octets)
{
	struct fdb_key fdb;

	if (fdb_key_parse(key, octets, &fdb) == 0)
		addresses_remove(&d->addresses, &fdb);
}

static const struct sonic_scan addresses_scan = {
    .job = JOB_ADDRESSES, .pattern = ASIC_STATE "[FBV][DRL][BIA][_DN]*", .take = sonic_take_asic_key,
};

void
sonic_begin_addresses(struct sonic_device *d)
{
	addresses_begin_pass(&d->addresses);
	sonic_scan(d, &addresses_scan);
}

void
sonic_end_addresses(struct sonic_device *d, bool whole)
{
	if (!whole)
		return;
	addresses_end_pass(&d->addresses);
	d->addresses_known = true;
}

/* ---- the facet of addresses ---- */

static int
sonic_addresses_dump(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	struct sonic_device *d = ctx;
	struct sai_map ports = {0};
	int rc = d->addresses_known ? 0 : -ENODEV;

	map_ports(d, &ports);
	for (size_t i = 0; i < d->addresses.n_slots && rc == 0; i++) {
		const struct sonic_address *known = &d->addresses.slots[i];
		struct hal_address address = {.status = known->status};
		uint64_t port;

		if (known->bridge_port == 0)
			continue;
		if (!addresses_resolve(&d->addresses, known, &address.vlan, &port)) {
			stat_add(&d->stats, SONIC_STAT_ADDRESSES_UNRESOLVED, 1);
			continue;
		}
		memcpy(address.mac, known->key.mac, sizeof(address.mac));
		address.if_index = (uint32_t)sai_map_get(&ports, port);
		rc = add(arg, &address);
	}
	sai_map_free(&ports);
	return rc;
}

/* Never 0, which would say that nothing is known of changes. */
static uint64_t
addresses_changes(void *ctx)
{
	return ((struct sonic_device *)ctx)->addresses.changes + 1;
}

static uint32_t
sonic_addresses_ageing_s(void *ctx)
{
	return ((struct sonic_device *)ctx)->ageing_s;
}

const struct hal_addresses_ops sonic_addresses_ops = {
    .name = "ASIC_DB",
    .dump = sonic_addresses_dump,
    .changes = addresses_changes,
    .ageing_s = sonic_addresses_ageing_s,
};
