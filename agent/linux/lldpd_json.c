#include "agent/linux/lldpd_json.h"

#include "common/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* lldpd's words for kinds, as LldpChassisIdSubtype and LldpPortIdSubtype have them. */
static const struct {
	const char *word;
	uint8_t chassis, port;
} kinds[] = {
    {"mac", LLDP_CHASSIS_MAC, LLDP_PORT_MAC}, {"ip", LLDP_CHASSIS_ADDRESS, LLDP_PORT_ADDRESS},
    {"ifname", LLDP_CHASSIS_NAME, LLDP_PORT_NAME}, {"ifalias", LLDP_CHASSIS_ALIAS, LLDP_PORT_ALIAS},
    {"local", LLDP_CHASSIS_LOCAL, LLDP_PORT_LOCAL},
};

/* ---- JSON: all that may be there twice is an array ---- */

static const json_t *
lldpd_first(const json_t *object, const char *key)
{
	return json_array_get(json_object_get(object, key), 0);
}

static const char *
lldpd_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void
copy_lldpd_text(const json_t *object, const char *key, char text[EASE_NAME_MAX + 1])
{
	utf8_printable(lldpd_text(lldpd_first(object, key), "value"), text, EASE_NAME_MAX + 1);
}

static bool
read_lldpd_id(const json_t *of, bool is_chassis, struct lldp_id *id)
{
	const json_t *said = lldpd_first(of, "id");
	const char *word = lldpd_text(said, "type"), *value = lldpd_text(said, "value");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(word, kinds[i].word) == 0)
			return is_chassis ? lldp_chassis_id(id, kinds[i].chassis, value, strlen(value))
					  : lldp_port_id(id, kinds[i].port, value, strlen(value));
	return false;
}

/* The array of interfaces; an empty one where there is none. NULL: it is not what lldpcli prints. */
static json_t *
parse_text(const char *text, size_t octets, const json_t **interfaces)
{
	json_t *root = json_loadb(text, octets, 0, NULL);
	const json_t *lldp = json_object_get(root, "lldp");

	*interfaces = json_object_get(json_array_get(lldp, 0), "interface");
	if (!json_is_array(lldp)) {
		json_decref(root);
		return NULL;
	}
	return root;
}

/* ---- this machine ---- */

static int
order_ports(const void *a, const void *b)
{
	const struct hal_lldp_port *x = a, *y = b;

	return x->if_index < y->if_index ? -1 : x->if_index > y->if_index;
}

static int
read_own(const json_t *interfaces, lldpd_if_index_fn *if_index, void *ctx, struct lldpd_reading *r)
{
	size_t n = 0, at;
	const json_t *interface;

	r->ports = calloc(json_array_size(interfaces) + 1, sizeof(*r->ports));
	if (!r->ports)
		return -ENOMEM;
	json_array_foreach(interfaces, at, interface) {
		const json_t *chassis = lldpd_first(interface, "chassis"), *port = lldpd_first(interface, "port");
		struct hal_lldp_port row = {.if_index = if_index(ctx, lldpd_text(interface, "name"))};

		if (!r->has_chassis) {
			r->has_chassis = read_lldpd_id(chassis, true, &r->lldp.chassis);
			copy_lldpd_text(chassis, "name", r->lldp.system_name);
		}
		copy_lldpd_text(port, "descr", row.descr);
		if (row.if_index != 0 && read_lldpd_id(port, false, &row.id))
			r->ports[n++] = row;
	}
	/* In order, and each port once. */
	qsort(r->ports, n, sizeof(*r->ports), order_ports);
	for (size_t i = 0; i < n && r->lldp.n_ports < HAL_MAX_PORTS; i++)
		if (r->lldp.n_ports == 0 || r->ports[r->lldp.n_ports - 1].if_index < r->ports[i].if_index)
			r->ports[r->lldp.n_ports++] = r->ports[i];
	r->lldp.ports = r->ports;
	return 0;
}

/* ---- neighbours ---- */

static int
order_heard(const void *a, const void *b)
{
	const struct hal_neighbour *x = a, *y = b;

	if (x->if_index != y->if_index)
		return x->if_index < y->if_index ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Of two with one number at a port, one is there. */
static void
drop_double_neighbours(struct lldpd_reading *r, size_t n)
{
	qsort(r->neighbours, n, sizeof(*r->neighbours), order_heard);
	for (size_t i = 0; i < n; i++) {
		size_t kept = r->lldp.n_neighbours;

		if (kept == HAL_MAX_NEIGHBOURS || (kept > 0 && order_heard(&r->neighbours[kept - 1], &r->neighbours[i]) == 0))
			r->n_left_out++;
		else
			r->neighbours[r->lldp.n_neighbours++] = r->neighbours[i];
	}
	r->lldp.neighbours = r->neighbours;
}

/* rid: lldpd's own number of the neighbour, which its LLDP-MIB has as lldpRemIndex. */
static bool
read_heard(const json_t *interface, struct hal_neighbour *row)
{
	const json_t *chassis = lldpd_first(interface, "chassis"), *port = lldpd_first(interface, "port");
	unsigned long number = strtoul(lldpd_text(interface, "rid"), NULL, 10);

	row->number = number <= INT32_MAX ? (uint32_t)number : 0;
	copy_lldpd_text(chassis, "name", row->system_name);
	copy_lldpd_text(port, "descr", row->port_descr);
	return row->number != 0 && read_lldpd_id(chassis, true, &row->chassis) && read_lldpd_id(port, false, &row->port);
}

static int
read_all_heard(const json_t *interfaces, lldpd_if_index_fn *if_index, void *ctx, struct lldpd_reading *r)
{
	size_t n = 0, at;
	const json_t *interface;

	r->neighbours = calloc(json_array_size(interfaces) + 1, sizeof(*r->neighbours));
	if (!r->neighbours)
		return -ENOMEM;
	json_array_foreach(interfaces, at, interface) {
		struct hal_neighbour row = {.if_index = if_index(ctx, lldpd_text(interface, "name"))};

		if (row.if_index == 0 || strcmp(lldpd_text(interface, "via"), "LLDP") != 0)
			continue;
		if (read_heard(interface, &row))
			r->neighbours[n++] = row;
		else
			r->n_left_out++;
	}
	drop_double_neighbours(r, n);
	return 0;
}

int
lldpd_json_read(const char *own, size_t n_own, const char *neighbours, size_t n_neighbours, lldpd_if_index_fn *if_index,
    void *ctx, struct lldpd_reading *reading)
{
	const json_t *own_interfaces, *neighbour_interfaces = NULL;
	json_t *own_root = parse_text(own, n_own, &own_interfaces);
	json_t *neighbours_root = parse_text(neighbours, n_neighbours, &neighbour_interfaces);
	int rc = own_root && neighbours_root ? 0 : -EPROTO;

	*reading = (struct lldpd_reading){.has_chassis = false};
	if (rc == 0)
		rc = read_own(own_interfaces, if_index, ctx, reading);
	if (rc == 0)
		rc = read_all_heard(neighbour_interfaces, if_index, ctx, reading);
	json_decref(own_root);
	json_decref(neighbours_root);
	return rc;
}

void
lldpd_reading_free(struct lldpd_reading *reading)
{
	free(reading->ports);
	free(reading->neighbours);
	*reading = (struct lldpd_reading){.has_chassis = false};
}
