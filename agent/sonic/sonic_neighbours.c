/*
 * LLDP's neighbours as SONiC's lldp-syncd writes them to APPL_DB: LLDP_LOC_CHASSIS is this switch, LLDP_ENTRY_TABLE has one
 * neighbour a port; and the facet of LLDP. What lldpmgrd has each port say of itself (its alias, as a local name, and its
 * description) follows from the port's own entry.
 */
#include "agent/sonic/sonic_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum chassis_field { LOCAL_KIND, LOCAL_ID, LOCAL_NAME };
enum entry_field { REMOTE_CHASSIS_KIND, REMOTE_CHASSIS, REMOTE_PORT_KIND, REMOTE_PORT, REMOTE_DESCR, REMOTE_NAME, REMOTE_INDEX };

/* ---- this switch ---- */

static void
take_chassis(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	const redisReply *id = answer_string(reply, LOCAL_ID);
	struct hal_lldp *lldp = &d->neighbours.lldp;
	uint64_t kind;

	(void)subject;
	answer_copy(answer_string(reply, LOCAL_NAME), lldp->system_name, sizeof(lldp->system_name));
	d->neighbours.is_known = id && answer_number(answer_string(reply, LOCAL_KIND), &kind) &&
	    lldp_chassis_id(&lldp->chassis, kind, id->str, id->len);
}

static void
sonic_name_port(const struct sonic_interface *interface, struct hal_lldp_port *port)
{
	const char *id = interface->descr[0] ? interface->descr : interface->name;

	port->if_index = interface->if_index;
	(void)lldp_port_id(&port->id, LLDP_PORT_LOCAL, id, strlen(id));
	snprintf(port->descr, sizeof(port->descr), "%s", interface->alias[0] ? interface->alias : interface->name);
}

static void
name_ports(struct sonic_device *d)
{
	struct hal_lldp_port *ports = calloc(d->interfaces.n_served + 1, sizeof(*ports));
	size_t n = 0;

	if (!ports)
		return;
	for (size_t i = 0; i < d->interfaces.n_served; i++) {
		const struct sonic_interface *interface = d->interfaces.served[i];

		if (interface->kind == SONIC_PORT || interface->kind == SONIC_MANAGEMENT)
			sonic_name_port(interface, &ports[n++]);
	}
	free(d->neighbours.ports);
	d->neighbours.lldp.ports = d->neighbours.ports = ports;
	d->neighbours.lldp.n_ports = n;
}

/* ---- neighbours ---- */

static struct hal_neighbour *
add_neighbour(struct sonic_neighbours *n)
{
	if (n->n_fresh == HAL_MAX_NEIGHBOURS)
		return NULL;
	if (n->n_fresh == n->fresh_room) {
		size_t room = n->fresh_room > 0 ? 2 * n->fresh_room : 32;
		struct hal_neighbour *grown = realloc(n->fresh, room * sizeof(*grown));

		if (!grown)
			return NULL;
		n->fresh = grown;
		n->fresh_room = room;
	}
	return &n->fresh[n->n_fresh++];
}

/* 0: it is none. */
static uint32_t
sonic_index_of(const redisReply *reply)
{
	uint64_t number;

	return answer_number(reply, &number) && number <= INT32_MAX ? (uint32_t)number : 0;
}

static bool
read_neighbour(const redisReply *reply, struct hal_neighbour *neighbour)
{
	const redisReply *chassis = answer_string(reply, REMOTE_CHASSIS), *port = answer_string(reply, REMOTE_PORT);
	uint64_t chassis_kind, port_kind;

	neighbour->number = sonic_index_of(answer_string(reply, REMOTE_INDEX));
	answer_copy(answer_string(reply, REMOTE_DESCR), neighbour->port_descr, sizeof(neighbour->port_descr));
	answer_copy(answer_string(reply, REMOTE_NAME), neighbour->system_name, sizeof(neighbour->system_name));
	return chassis && port && neighbour->number > 0 &&
	    answer_number(answer_string(reply, REMOTE_CHASSIS_KIND), &chassis_kind) &&
	    answer_number(answer_string(reply, REMOTE_PORT_KIND), &port_kind) &&
	    lldp_chassis_id(&neighbour->chassis, chassis_kind, chassis->str, chassis->len) &&
	    lldp_port_id(&neighbour->port, port_kind, port->str, port->len);
}

/* Answers come in the order of questions, which is that of ports. */
static void
sonic_take_neighbour(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct hal_neighbour read = {.if_index = subject->if_index}, *row;

	if (reply->type != REDIS_REPLY_ARRAY) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		return;
	}
	if (!answer_string(reply, REMOTE_CHASSIS))
		return;
	row = read_neighbour(reply, &read) ? add_neighbour(&d->neighbours) : NULL;
	if (row)
		*row = read;
	else
		stat_add(&d->stats, SONIC_STAT_NEIGHBOURS_REFUSED, 1);
}

/* ---- the job ---- */

void
sonic_begin_neighbours(struct sonic_device *d)
{
	const struct sonic_subject none = {0};
	char key[64];

	d->neighbours.n_fresh = 0;
	sonic_ask(d, JOB_NEIGHBOURS, take_chassis, &none, "HMGET", "LLDP_LOC_CHASSIS", "lldp_loc_chassis_id_subtype",
	    "lldp_loc_chassis_id", "lldp_loc_sys_name", NULL);
	for (size_t i = 0; i < d->interfaces.n; i++) {
		const struct sonic_interface *interface = d->interfaces.all[i];
		const struct sonic_subject subject = {.if_index = interface->if_index};

		if (interface->kind != SONIC_PORT && interface->kind != SONIC_MANAGEMENT)
			continue;
		snprintf(key, sizeof(key), "LLDP_ENTRY_TABLE:%s", interface->name);
		sonic_ask(d, JOB_NEIGHBOURS, sonic_take_neighbour, &subject, "HMGET", key, "lldp_rem_chassis_id_subtype",
		    "lldp_rem_chassis_id", "lldp_rem_port_id_subtype", "lldp_rem_port_id", "lldp_rem_port_desc",
		    "lldp_rem_sys_name", "lldp_rem_index", NULL);
	}
}

/* What was read in part is not shown. */
void
sonic_end_neighbours(struct sonic_device *d, bool whole)
{
	struct sonic_neighbours *n = &d->neighbours;
	struct hal_neighbour *old = n->rows;
	size_t old_room = n->rows_room;

	if (!whole)
		return;
	name_ports(d);
	hal_neighbours_stamp(&n->lldp, n->fresh, n->n_fresh, clock_mono_us(d->clock));
	n->lldp.neighbours = n->rows = n->fresh;
	n->lldp.n_neighbours = n->n_fresh;
	n->rows_room = n->fresh_room;
	n->fresh = old;
	n->fresh_room = old_room;
}

void
sonic_free_neighbours(struct sonic_device *d)
{
	free(d->neighbours.ports);
	free(d->neighbours.rows);
	free(d->neighbours.fresh);
}

/* ---- the facet ---- */

static const struct hal_lldp *
lldp_known(void *ctx)
{
	const struct sonic_device *d = ctx;

	return d->neighbours.is_known && !d->status_unknown ? &d->neighbours.lldp : NULL;
}

const struct hal_lldp_ops sonic_lldp_ops = {
    .name = "sonic",
    .known = lldp_known,
};
