/*
 * What APPL_DB, STATE_DB and CONFIG_DB say of the interfaces, and the facets of ports and of VLANs.
 */
#include "agent/sonic/sonic_private.h"

#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* An entry of APPL_DB or CONFIG_DB is asked for by these fields. */
enum entry_field { ENTRY_ALIAS, ENTRY_DESCRIPTION, ENTRY_SPEED, ENTRY_MTU, ENTRY_ADMIN, ENTRY_OPER, N_ENTRY_FIELDS };

static const char *const entry_tables[SONIC_N_KINDS] = {
    [SONIC_PORT] = "PORT_TABLE:", [SONIC_LAG] = "LAG_TABLE:", [SONIC_VLAN] = "VLAN_TABLE:",
    [SONIC_MANAGEMENT] = "MGMT_PORT|",
};

#define AGEING_S 600 /* *assumed* where SWITCH_TABLE does not tell: SONiC's own default */
#define ETHERNET_DUPLEX EASE_DUPLEX_FULL /* *assumed*: SONiC's ports have no half duplex */
#define VIRTUAL_PLATFORM "x86_64-kvm_" /* *assumed*: so begins DEVICE_METADATA's platform on the virtual switch alone */

/* ---- an interface's entry ---- */

static uint8_t
sonic_status_of(const redisReply *reply)
{
	return answer_is(reply, "up") ? EASE_IF_UP
	    : answer_is(reply, "down") ? EASE_IF_DOWN : EASE_IF_STATUS_UNKNOWN;
}

static void
sonic_set_text(struct sonic_interface *interface, char text[EASE_NAME_MAX + 1], const redisReply *reply)
{
	char fresh[EASE_NAME_MAX + 1];

	answer_copy(reply, fresh, sizeof(fresh));
	interface->changed |= strcmp(text, fresh) != 0;
	strcpy(text, fresh);
}

static void
set_status(struct sonic_interface *interface, uint8_t *status, uint8_t fresh)
{
	interface->changed |= *status != fresh;
	*status = fresh;
}

/* A speed that is not there, or of which nobody has heard, is not known. */
static uint64_t
speed_of(const redisReply *reply)
{
	enum { MBPS_MAX = 10000000 };
	uint64_t mbps;

	return answer_number(reply, &mbps) && mbps <= MBPS_MAX ? mbps * 1000000 : 0;
}

static bool
sonic_has_any(const redisReply *reply)
{
	for (size_t i = 0; i < reply->elements; i++)
		if (answer_string(reply, i))
			return true;
	return false;
}

static void
take_entry(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);
	uint64_t speed_bps = speed_of(answer_string(reply, ENTRY_SPEED)), mtu = 0;

	if (reply->type != REDIS_REPLY_ARRAY)
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
	else if (interface && sonic_has_any(reply)) {
		bool management = interface->kind == SONIC_MANAGEMENT;

		if (!answer_number(answer_string(reply, ENTRY_MTU), &mtu) || mtu > INT32_MAX)
			mtu = 0;
		sonic_set_text(interface, interface->descr, answer_string(reply, ENTRY_ALIAS));
		sonic_set_text(interface, interface->alias, answer_string(reply, ENTRY_DESCRIPTION));
		set_status(interface, &interface->admin_status, management && !answer_string(reply, ENTRY_ADMIN)
			? EASE_IF_UP : sonic_status_of(answer_string(reply, ENTRY_ADMIN)));
		if (!management) /* STATE_DB tells it */
			set_status(interface, &interface->oper_status, sonic_status_of(answer_string(reply, ENTRY_OPER)));
		interface->changed |= !interface->has_entry || interface->speed_bps != speed_bps ||
		    interface->mtu_octets != mtu;
		interface->speed_bps = speed_bps;
		interface->mtu_octets = (uint32_t)mtu;
		interface->has_entry = true;
	}
}

static void
ask_entry(struct sonic_device *d, const struct sonic_interface *interface, enum sonic_job job)
{
	const struct sonic_subject subject = {.if_index = interface->if_index};
	char key[64];

	snprintf(key, sizeof(key), "%s%s", entry_tables[interface->kind], interface->name);
	sonic_ask(d, job, take_entry, &subject, "HMGET", key, "alias", "description", "speed", "mtu",
	    "admin_status", "oper_status", NULL);
	if (interface->kind != SONIC_PORT)
		return;
	snprintf(key, sizeof(key), "SFLOW_SESSION_TABLE:%s", interface->name);
	sonic_ask(d, job, sonic_take_session, &subject, "HMGET", key, "admin_state", "sample_rate", NULL);
}

void
sonic_begin_status(struct sonic_device *d)
{
	for (size_t i = 0; i < d->interfaces.n; i++)
		if (d->interfaces.all[i]->kind != SONIC_MANAGEMENT)
			ask_entry(d, d->interfaces.all[i], JOB_STATUS);
}

/* ---- memberships ---- */

static void
take_lag_member(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);

	if (interface && reply->type == REDIS_REPLY_STRING)
		interfaces_join_lag(&d->interfaces, interface, subject->other, answer_is(reply, "enabled"));
}

static void
take_vlan_member(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);

	if (interface && reply->type == REDIS_REPLY_STRING)
		interfaces_join_vlan(interface, (uint16_t)subject->other, answer_is(reply, "untagged"));
}

/* names is GROUP:MEMBER. */
static void
take_member_key(struct sonic_device *d, const char *key, const char *names, enum sonic_job job, enum sonic_kind kind)
{
	const char *colon = strchr(names, ':');
	struct sonic_interface *interface;
	struct sonic_subject subject = {0};
	enum sonic_kind group;
	uint32_t number, if_index;

	if (!colon)
		return;
	if_index = interface_number(names, (size_t)(colon - names), &group, &number);
	interface = interfaces_get(&d->interfaces, colon + 1, strlen(colon + 1));
	if (if_index == 0 || group != kind || !interface || (kind == SONIC_VLAN && number == 0)) {
		stat_add(&d->stats, SONIC_STAT_NAMES_REFUSED, 1);
		return;
	}
	subject.if_index = interface->if_index;
	subject.other = kind == SONIC_LAG ? if_index : number;
	if (kind == SONIC_LAG)
		sonic_ask(d, job, take_lag_member, &subject, "HGET", key, "status", NULL);
	else
		sonic_ask(d, job, take_vlan_member, &subject, "HGET", key, "tagging_mode", NULL);
}

/* ---- keys ---- */

static const char *
text_behind(const char *key, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(key, prefix, n) == 0 ? key + n : NULL;
}

static void
sonic_take_name(struct sonic_device *d, const char *name, enum sonic_kind kind, enum sonic_job job)
{
	struct sonic_interface *interface = interfaces_get(&d->interfaces, name, strlen(name));

	if (!interface || interface->kind != kind) {
		stat_add(&d->stats, SONIC_STAT_NAMES_REFUSED, 1);
		log_info_limited("sonic", "the interface %.20s is not served: its name has no number of its own", name);
		return;
	}
	interfaces_name(&d->interfaces, interface);
	ask_entry(d, interface, job);
}

/* Redis' library ends each key with a NUL. A key that has one within is none of SONiC's. */
void
sonic_take_key(struct sonic_device *d, const char *key, size_t octets, enum sonic_job job)
{
	const char *name;

	if (strlen(key) != octets)
		return;
	if ((name = text_behind(key, "PORT_TABLE:"))) {
		if (strcmp(name, "PortInitDone") == 0)
			d->ports_complete = true;
		else if (strcmp(name, "PortConfigDone") != 0)
			sonic_take_name(d, name, SONIC_PORT, job);
	} else if ((name = text_behind(key, "LAG_TABLE:"))) {
		sonic_take_name(d, name, SONIC_LAG, job);
	} else if ((name = text_behind(key, "VLAN_TABLE:"))) {
		sonic_take_name(d, name, SONIC_VLAN, job);
	} else if ((name = text_behind(key, "LAG_MEMBER_TABLE:"))) {
		take_member_key(d, key, name, job, SONIC_LAG);
	} else if ((name = text_behind(key, "VLAN_MEMBER_TABLE:"))) {
		take_member_key(d, key, name, job, SONIC_VLAN);
	} else if ((name = text_behind(key, "SFLOW_SESSION_TABLE:"))) {
		const struct sonic_interface *interface = interfaces_get(&d->interfaces, name, strlen(name));

		if (interface && interface->kind == SONIC_PORT)
			ask_entry(d, interface, job);
	}
}

static void
take_ageing(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	uint64_t seconds;

	(void)subject;
	d->ageing_s = answer_number(reply, &seconds) && seconds <= HAL_AGEING_MAX_S && seconds > 0
	    ? (uint32_t)seconds : AGEING_S;
}

/* Tables with many keys, such as routes, do not match. */
static const struct sonic_scan interfaces_scan = {
    .job = JOB_INTERFACES, .pattern = "[PLV]*_TABLE:*", .take = sonic_take_key,
};

void
sonic_begin_interfaces(struct sonic_device *d)
{
	const struct sonic_subject none = {0};

	d->ports_complete = false;
	interfaces_begin_pass(&d->interfaces);
	sonic_ask(d, JOB_INTERFACES, take_ageing, &none, "HGET", "SWITCH_TABLE:switch", "fdb_aging_time", NULL);
	sonic_scan(d, &interfaces_scan);
}

void
sonic_end_interfaces(struct sonic_device *d, bool whole)
{
	if (whole) {
		interfaces_end_pass(&d->interfaces, d->ports_complete);
		if (d->ports_complete && !d->ports_complete_before)
			log_info("sonic", "SONiC has made its ports: %zu interfaces", d->interfaces.n);
		d->ports_complete_before = d->ports_complete;
		/* New interfaces have neither counters nor kernel's numbers yet. */
		sonic_job_due(d, JOB_NAMES);
		sonic_job_due(d, JOB_KERNEL);
	}
	sonic_publish(d, whole);
}

/* ---- numbers in the kernel, management ports ---- */

static void
take_kernel_index(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);
	uint64_t number;

	if (interface && answer_number(reply, &number) && number <= UINT32_MAX)
		interface->kernel_index = (uint32_t)number;
}

static void
take_management_link(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);

	if (interface)
		set_status(interface, &interface->oper_status, sonic_status_of(reply));
}

void
sonic_begin_kernel(struct sonic_device *d)
{
	for (size_t i = 0; i < d->interfaces.n; i++) {
		const struct sonic_interface *interface = d->interfaces.all[i];
		const struct sonic_subject subject = {.if_index = interface->if_index};
		char key[64];

		if (interface->kind == SONIC_PORT && d->samples) {
			snprintf(key, sizeof(key), "PORT_INDEX_TABLE|%s", interface->name);
			sonic_ask(d, JOB_KERNEL, take_kernel_index, &subject, "HGET", key, "ifindex", NULL);
		} else if (interface->kind == SONIC_MANAGEMENT) {
			snprintf(key, sizeof(key), "MGMT_PORT_TABLE|%s", interface->name);
			sonic_ask(d, JOB_KERNEL, take_management_link, &subject, "HGET", key, "oper_status", NULL);
		}
	}
}

static void
sonic_take_mac(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	unsigned octets[6];

	(void)subject;
	if (reply->type != REDIS_REPLY_STRING || reply->len != 17 ||
	    sscanf(reply->str, "%2x:%2x:%2x:%2x:%2x:%2x", &octets[0], &octets[1], &octets[2], &octets[3],
		&octets[4], &octets[5]) != 6)
		return;
	for (size_t i = 0; i < 6; i++)
		d->mac[i] = (uint8_t)octets[i];
}

/* The kernel forwards on SONiC's virtual switch alone. */
static void
take_platform(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	bool has_chip = reply->type == REDIS_REPLY_STRING && reply->len > 0 &&
	    strncmp(reply->str, VIRTUAL_PLATFORM, strlen(VIRTUAL_PLATFORM)) != 0;

	(void)subject;
	for (size_t i = 0; i < d->interfaces.n && d->has_chip != has_chip; i++)
		d->interfaces.all[i]->changed = true;
	d->has_chip = has_chip;
}

static void
take_management_key(struct sonic_device *d, const char *key, size_t octets, enum sonic_job job)
{
	const char *name = text_behind(key, "MGMT_PORT|");

	if (name && strlen(key) == octets)
		sonic_take_name(d, name, SONIC_MANAGEMENT, job);
}

static const struct sonic_scan management_scan = {
    .job = JOB_MANAGEMENT, .pattern = "MGMT_PORT|*", .take = take_management_key,
};

void
sonic_begin_management(struct sonic_device *d)
{
	const struct sonic_subject none = {0};

	interfaces_begin_management_pass(&d->interfaces);
	sonic_ask(d, JOB_MANAGEMENT, sonic_take_mac, &none, "HGET", "DEVICE_METADATA|localhost", "mac", NULL);
	sonic_ask(d, JOB_MANAGEMENT, take_platform, &none, "HGET", "DEVICE_METADATA|localhost", "platform", NULL);
	sonic_scan(d, &management_scan);
}

void
sonic_end_management(struct sonic_device *d, bool whole)
{
	if (whole)
		interfaces_end_management_pass(&d->interfaces);
	sonic_job_due(d, JOB_KERNEL);
	sonic_publish(d, whole);
}

/* ---- telling the HAL ---- */

static void
report_interface(struct sonic_device *d, uint32_t if_index)
{
	if (d->device.hal)
		hal_report_port_changed(d->device.hal, if_index);
}

/* The first report of a changed list has the HAL read all of it. The HAL's listeners may send commands, but no
 * answer is taken before this returns, so the list stays as it is. */
void
sonic_publish(struct sonic_device *d, bool whole)
{
	(void)whole;
	if (interfaces_list(&d->interfaces))
		report_interface(d, 0);
	for (size_t i = 0; i < d->interfaces.n_served; i++) {
		struct sonic_interface *interface = d->interfaces.served[i];

		if (!interface->changed)
			continue;
		interface->changed = false;
		report_interface(d, interface->if_index);
	}
}

void
sonic_look_at_age(struct sonic_device *d)
{
	bool unknown = d->lost_us[SONIC_APPL] != 0 &&
	    clock_mono_us(d->clock) - d->lost_us[SONIC_APPL] >= SONIC_STALE_US;

	if (unknown == d->status_unknown)
		return;
	d->status_unknown = unknown;
	if (unknown)
		log_warn("sonic", "APPL_DB has been away for 10 s: the state of interfaces is unknown");
	for (size_t i = 0; i < d->interfaces.n_served; i++)
		report_interface(d, d->interfaces.served[i]->if_index);
}

/* ---- the facet of ports ---- */

static size_t
sonic_port_count(void *ctx)
{
	return ((struct sonic_device *)ctx)->interfaces.n_served;
}

static uint32_t
sonic_port_if_index(void *ctx, size_t i)
{
	return ((struct sonic_device *)ctx)->interfaces.served[i]->if_index;
}

/* The sum of the members through which the LAG sends. */
static uint64_t
lag_speed_bps(const struct sonic_device *d, uint32_t lag)
{
	uint64_t bps = 0;

	for (size_t i = 0; i < d->interfaces.n_served; i++)
		if (d->interfaces.served[i]->lag == lag && d->interfaces.served[i]->lag_active)
			bps += d->interfaces.served[i]->speed_bps;
	return bps;
}

static const struct {
	const char *what;
	uint32_t if_type; /* IANAifType */
} kinds[SONIC_N_KINDS] = {
    [SONIC_PORT] = {"port", 6},
    [SONIC_LAG] = {"LAG", 161},
    [SONIC_VLAN] = {"VLAN interface", 135},
    [SONIC_MANAGEMENT] = {"management port", 6},
};

/* Who forwards is known where SONiC has told its platform. A port that SONiC has not sampled is counted only. */
static void
fill_forwarding(const struct sonic_device *d, const struct sonic_interface *interface, struct hal_port *port)
{
	if (!d->has_chip || (interface->kind != SONIC_PORT && interface->kind != SONIC_LAG))
		return;
	port->forwarding = EASE_FORWARDING_HARDWARE;
	if (interface->kind == SONIC_PORT)
		port->sampled_by = d->samples && interface->rate > 0 ? EASE_SAMPLED_BY_CHIP : EASE_SAMPLED_BY_NOBODY;
}

static int
sonic_port_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	const struct sonic_device *d = ctx;
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);
	bool physical;

	if (!interface || !interface->has_entry)
		return -ENODEV;
	physical = interface->kind == SONIC_PORT || interface->kind == SONIC_MANAGEMENT;
	snprintf(port->name, sizeof(port->name), "%s", interface->name);
	snprintf(port->alias, sizeof(port->alias), "%s", interface->alias);
	if (interface->descr[0])
		snprintf(port->descr, sizeof(port->descr), "%s", interface->descr);
	else
		snprintf(port->descr, sizeof(port->descr), "SONiC %s %s", kinds[interface->kind].what,
		    interface->name);
	port->if_type = kinds[interface->kind].if_type;
	port->mtu_octets = interface->mtu_octets;
	port->speed_bps = interface->kind == SONIC_LAG ? lag_speed_bps(d, if_index) : interface->speed_bps;
	port->duplex = interface->kind == SONIC_PORT ? ETHERNET_DUPLEX : EASE_DUPLEX_UNKNOWN;
	memcpy(port->mac, d->mac, sizeof(port->mac));
	port->admin_status = interface->admin_status;
	port->oper_status = d->status_unknown || interface->missing || interface->oper_status == 0
	    ? EASE_IF_STATUS_UNKNOWN : interface->oper_status;
	port->has_connector = physical;
	port->off_bridge = !interface_has_vlans(interface);
	port->over_others = !physical;
	port->lag_parent = interface->lag;
	fill_forwarding(d, interface, port);
	return 0;
}

/* ---- settings ---- */

static void
sonic_take_set(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	(void)reply;
	(void)subject;
	stat_add(&d->stats, SONIC_STAT_SETS, 1);
}

static int
write_config(struct sonic_device *d, uint32_t if_index, const char *field, const char *value)
{
	static const char *const tables[SONIC_N_KINDS] = {
	    [SONIC_PORT] = "PORT", [SONIC_LAG] = "PORTCHANNEL",
	};
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);
	const struct sonic_subject subject = {.if_index = if_index};
	char key[64];

	if (!interface || !tables[interface->kind])
		return -ENODEV;
	if (!redis_link_is_up(d->links[SONIC_CONFIG]))
		return -EAGAIN;
	snprintf(key, sizeof(key), "%s|%s", tables[interface->kind], interface->name);
	sonic_ask(d, JOB_SETS, sonic_take_set, &subject, "HSET", key, field, value, NULL);
	return 0;
}

static int
sonic_port_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	struct sonic_device *d = ctx;
	int rc = write_config(d, if_index, "admin_status", admin_status == EASE_IF_UP ? "up" : "down");

	if (rc == 0) /* SONiC carries it out; ifOperStatus follows */
		interfaces_find(&d->interfaces, if_index)->admin_status = admin_status;
	return rc;
}

static int
sonic_port_set_alias(void *ctx, uint32_t if_index, const char *alias)
{
	struct sonic_device *d = ctx;
	int rc = write_config(d, if_index, "description", alias);

	if (rc == 0)
		strcpy(interfaces_find(&d->interfaces, if_index)->alias, alias);
	return rc;
}

const struct hal_ports_ops sonic_ports_ops = {
    .name = "sonic",
    .count = sonic_port_count,
    .if_index = sonic_port_if_index,
    .get = sonic_port_get,
    .set_admin_status = sonic_port_set_admin_status,
    .set_alias = sonic_port_set_alias,
};

/* ---- the facet of VLANs ---- */

static int
dump_interface(const struct sonic_interface *interface,
    int (*add)(void *arg, const struct hal_vlan_range *range), void *arg)
{
	struct hal_vlan_range range = {.if_index = interface->if_index};
	int rc = 0;

	/* One more than there are: it ends the last range. */
	for (uint16_t vlan = 1; vlan <= HAL_VLAN_MAX + 1 && rc == 0; vlan++) {
		bool member = vlan <= HAL_VLAN_MAX && interface_is_member(interface, vlan);
		bool untagged = member && (interface->vlans->untagged[vlan / 64] >> vlan % 64 & 1);

		if (range.first != 0 && (!member || untagged || range.untagged)) {
			range.last = (uint16_t)(vlan - 1);
			rc = add(arg, &range);
			range.first = 0;
		}
		if (member && range.first == 0)
			range = (struct hal_vlan_range){.if_index = interface->if_index, .first = vlan,
			    .untagged = untagged, .is_pvid = untagged};
	}
	return rc;
}

static int
vlans_dump(void *ctx, int (*add)(void *arg, const struct hal_vlan_range *range), void *arg)
{
	const struct sonic_device *d = ctx;
	int rc = 0;

	for (size_t i = 0; i < d->interfaces.n_served && rc == 0; i++)
		if (interface_has_vlans(d->interfaces.served[i]))
			rc = dump_interface(d->interfaces.served[i], add, arg);
	return rc;
}

const struct hal_vlans_ops sonic_vlans_ops = {
    .name = "sonic",
    .dump = vlans_dump,
};
