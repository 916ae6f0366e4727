#include "agent/linux/links.h"

#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <linux/if_arp.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

enum if_type { /* IANAifType-MIB */
	IF_TYPE_OTHER = 1,
	IF_TYPE_ETHERNET = 6,
	IF_TYPE_PPP = 23,
	IF_TYPE_LOOPBACK = 24,
	IF_TYPE_SLIP = 28,
	IF_TYPE_VIRTUAL = 53,
	IF_TYPE_WIRELESS = 71,
	IF_TYPE_HDLC = 118,
	IF_TYPE_TUNNEL = 131,
	IF_TYPE_L2VLAN = 135,
	IF_TYPE_LAG = 161,
	IF_TYPE_INFINIBAND = 199,
	IF_TYPE_BRIDGE = 209,
	IF_TYPE_WWAN = 243,
	IF_TYPE_802154 = 259,
};

static const struct kind {
	const char *name; /* as in `ip link add type NAME`; "" for hardware */
	enum if_type if_type;
	bool sampled;
} kinds[] = {
    {"", IF_TYPE_ETHERNET, true},	  {"veth", IF_TYPE_ETHERNET, true},
    {"tun", IF_TYPE_ETHERNET, true},	  {"dummy", IF_TYPE_ETHERNET, true},
    {"dsa", IF_TYPE_ETHERNET, true},	  {"netdevsim", IF_TYPE_ETHERNET, true},
    {"ifb", IF_TYPE_ETHERNET, false},	  {"bridge", IF_TYPE_BRIDGE, false},
    {"bond", IF_TYPE_LAG, false},	  {"team", IF_TYPE_LAG, false},
    {"vlan", IF_TYPE_L2VLAN, false},
};

static const struct kind other_kind = {NULL, IF_TYPE_VIRTUAL, false};

static const struct kind *
links_kind_of(const struct rtnl_link *link)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && links_is_ethernet(link); i++)
		if (strcmp(link->kind, kinds[i].name) == 0)
			return &kinds[i];
	return &other_kind;
}

/* What carries other frames than Ethernet's, by the kernel's hardware type. */
static enum if_type
type_by_hardware(const struct rtnl_link *link)
{
	static const struct {
		uint16_t hardware_type;
		enum if_type if_type;
	} types[] = {
	    {ARPHRD_LOOPBACK, IF_TYPE_LOOPBACK}, {ARPHRD_PPP, IF_TYPE_PPP}, {ARPHRD_SLIP, IF_TYPE_SLIP},
	    {ARPHRD_CSLIP, IF_TYPE_SLIP}, {ARPHRD_HDLC, IF_TYPE_HDLC}, {ARPHRD_RAWHDLC, IF_TYPE_HDLC},
	    {ARPHRD_TUNNEL, IF_TYPE_TUNNEL}, {ARPHRD_TUNNEL6, IF_TYPE_TUNNEL}, {ARPHRD_SIT, IF_TYPE_TUNNEL},
	    {ARPHRD_IPGRE, IF_TYPE_TUNNEL}, {ARPHRD_IP6GRE, IF_TYPE_TUNNEL}, {ARPHRD_INFINIBAND, IF_TYPE_INFINIBAND},
	    {ARPHRD_RAWIP, IF_TYPE_WWAN}, {ARPHRD_IEEE80211, IF_TYPE_WIRELESS},
	    {ARPHRD_IEEE80211_PRISM, IF_TYPE_WIRELESS}, {ARPHRD_IEEE80211_RADIOTAP, IF_TYPE_WIRELESS},
	    {ARPHRD_IEEE802154, IF_TYPE_802154}, {ARPHRD_CAN, IF_TYPE_OTHER},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (link->hardware_type == types[i].hardware_type)
			return types[i].if_type;
	if (strcmp(link->kind, "wireguard") == 0 || strcmp(link->kind, "xfrm") == 0 || strcmp(link->kind, "tun") == 0)
		return IF_TYPE_TUNNEL;
	return link->kind[0] ? IF_TYPE_VIRTUAL : IF_TYPE_OTHER;
}

bool
links_is_ethernet(const struct rtnl_link *link)
{
	return link->hardware_type == ARPHRD_ETHER;
}

bool
links_is_sampled(const struct links_port *port)
{
	return links_kind_of(&port->link)->sampled && !port->is_conduit;
}

void
links_mark_conduits(struct links *links)
{
	for (size_t i = 0; i < links->n; i++)
		links->ports[i].is_conduit = false;
	for (size_t i = 0; i < links->n; i++) {
		struct links_port *conduit = links_find_kernel(links, links->ports[i].link.conduit);

		if (conduit)
			conduit->is_conduit = true;
	}
}

bool
links_is_of_chip(const struct rtnl_link *link)
{
	return link->switch_id.n_octets > 0 && links_kind_of(link)->sampled;
}

bool
links_same_switch(const struct rtnl_link *a, const struct rtnl_link *b)
{
	return a->switch_id.n_octets > 0 && a->switch_id.n_octets == b->switch_id.n_octets &&
	    memcmp(a->switch_id.octets, b->switch_id.octets, a->switch_id.n_octets) == 0;
}

uint32_t
links_if_type(const struct links_port *port)
{
	if (!links_is_ethernet(&port->link))
		return type_by_hardware(&port->link);
	return port->radio == LINKS_RADIO_WLAN ? IF_TYPE_WIRELESS
	    : port->radio == LINKS_RADIO_WWAN  ? IF_TYPE_WWAN
					       : links_kind_of(&port->link)->if_type;
}

bool
links_has_connector(const struct links_port *port)
{
	const struct rtnl_link *link = &port->link;

	switch (link->hardware_type) {
	case ARPHRD_ETHER:
		return (link->kind[0] == '\0' || strcmp(link->kind, "dsa") == 0) && !port->is_conduit &&
		    port->radio == LINKS_RADIO_NONE;
	case ARPHRD_INFINIBAND: /* one above another is a partition of it */
		return link->lower == 0;
	case ARPHRD_CAN: /* vcan and vxcan have no hardware */
		return link->kind[0] == '\0' || strcmp(link->kind, "can") == 0;
	default:
		return false;
	}
}

uint8_t
links_oper_status(const struct rtnl_link *link)
{
	static const uint8_t by_kernel[] = { /* IF_OPER_UNKNOWN .. IF_OPER_UP of linux/if.h */
	    EASE_IF_STATUS_UNKNOWN, EASE_IF_NOT_PRESENT, EASE_IF_DOWN, EASE_IF_LOWER_LAYER_DOWN,
	    EASE_IF_TESTING, EASE_IF_DORMANT, EASE_IF_UP};
	uint8_t status = link->oper_state < sizeof(by_kernel) ? by_kernel[link->oper_state]
							      : EASE_IF_STATUS_UNKNOWN;

	/* The kernel says so of veth, too, whose peer is down: nothing that ifStackTable has is below. */
	if (status == EASE_IF_LOWER_LAYER_DOWN && link->lower == 0)
		return EASE_IF_DOWN;
	/* Some drivers never report a state: "unknown" then is a link that carries frames. */
	if (status == EASE_IF_STATUS_UNKNOWN)
		return link->flags & IFF_RUNNING ? EASE_IF_UP : EASE_IF_DOWN;
	return status;
}

/* A link that is down is so at once (RFC 2863 section 3.1.13); whether it comes up is not known yet. */
void
links_set_up(struct rtnl_link *link, bool up)
{
	link->flags = up ? link->flags | IFF_UP : link->flags & ~(unsigned)(IFF_UP | IFF_RUNNING);
	if (!up)
		link->oper_state = IF_OPER_DOWN;
}

bool
links_differ(const struct rtnl_link *a, const struct rtnl_link *b)
{
	return a->flags != b->flags || a->promiscuous != b->promiscuous || a->oper_state != b->oper_state ||
	    a->mtu_octets != b->mtu_octets || a->master != b->master ||
	    a->lower != b->lower || a->bridge_port != b->bridge_port ||
	    memcmp(a->mac, b->mac, sizeof(a->mac)) != 0 || strcmp(a->name, b->name) != 0 ||
	    strcmp(a->alias, b->alias) != 0 || strcmp(a->kind, b->kind) != 0 ||
	    strcmp(a->master_kind, b->master_kind) != 0 || a->conduit != b->conduit ||
	    memcmp(&a->switch_id, &b->switch_id, sizeof(a->switch_id)) != 0;
}

/* ---- numbers of bridge ports ---- */

bool
links_is_bridged(const struct rtnl_link *link)
{
	return strcmp(link->kind, "bridge") == 0 || strcmp(link->master_kind, "bridge") == 0;
}

/* In order of ifIndex, each bridge that has none gets the lowest turn that no other has. */
static void
give_turns(struct links *links)
{
	unsigned taken = 0;

	for (size_t i = 0; i < links->n; i++)
		taken |= 1u << links->ports[i].bridge_turn;
	for (size_t i = 0; i < links->n; i++) {
		struct links_port *bridge = &links->ports[i];

		if (bridge->bridge_turn > 0 || strcmp(bridge->link.kind, "bridge") != 0 || bridge->share_of)
			continue;
		for (bridge->bridge_turn = 1; bridge->bridge_turn <= LINKS_BRIDGES_NUMBERED; bridge->bridge_turn++)
			if (!(taken >> bridge->bridge_turn & 1))
				break;
		taken |= 1u << bridge->bridge_turn;
	}
}

/* 0: none that follows from the kernel's. */
static uint16_t
wanted_base_port(const struct links *links, const struct rtnl_link *link)
{
	const struct links_port *bridge = links_find_kernel(links, link->master);

	if (!bridge || bridge->bridge_turn == 0 || bridge->bridge_turn > LINKS_BRIDGES_NUMBERED ||
	    link->bridge_port == 0 || link->bridge_port >= LINKS_BRIDGE_PORTS)
		return 0;
	return (uint16_t)((bridge->bridge_turn - 1) * LINKS_BRIDGE_PORTS + link->bridge_port);
}

void
links_number_ports(struct links *links)
{
	bool taken[LINKS_BASE_PORTS + 1] = {true};
	uint16_t highest = LINKS_BASE_PORTS;

	give_turns(links);
	for (size_t i = 0; i < links->n; i++)
		taken[links->ports[i].base_port] = true;
	for (size_t i = 0; i < links->n; i++) {
		struct links_port *port = &links->ports[i];

		if (port->base_port > 0 || port->share_of || strcmp(port->link.master_kind, "bridge") != 0)
			continue;
		port->base_port = wanted_base_port(links, &port->link);
		if (taken[port->base_port]) {
			while (taken[highest])
				highest--; /* there are no more ports than numbers */
			port->base_port = highest;
		}
		taken[port->base_port] = true;
	}
}

/* ---- numbers by name ---- */

/* name: a field of IFNAMSIZ octets, filled up with NULs. */
static struct links_name *
links_find_name(const struct links *links, const char *name)
{
	for (size_t i = 0; i < links->n_names; i++)
		if (memcmp(links->names[i].name, name, IFNAMSIZ) == 0)
			return &links->names[i];
	return NULL;
}

static bool
number_is_named(const struct links *links, uint32_t if_index)
{
	for (size_t i = 0; i < links->n_names; i++)
		if (links->names[i].if_index == if_index)
			return true;
	return false;
}

/* Makes room for one more item. Returns the array, which may have moved, or NULL if out of memory. */
static void *
grow_by_one(void *items, size_t *room, size_t n, size_t item_octets)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (n < *room)
		return items;
	grown = realloc(items, more * item_octets);
	if (grown)
		*room = more;
	return grown;
}

/* At the limit the oldest name is forgotten, so that a host that creates and removes thousands of
 * interfaces does not run out of memory. */
static int
remember_name(struct links *links, const char *name, uint32_t if_index)
{
	struct links_name *known = links_find_name(links, name);

	if (links->numbers == LINKS_KERNEL_NUMBERS)
		return 0;
	if (known) {
		known->if_index = if_index;
		return 0;
	}
	if (links->n_names == LINKS_NAMES_MAX)
		memmove(links->names, links->names + 1, --links->n_names * sizeof(*links->names));
	known = grow_by_one(links->names, &links->names_room, links->n_names, sizeof(*known));
	if (!known)
		return -ENOMEM;
	links->names = known;
	known = &links->names[links->n_names++];
	*known = (struct links_name){.if_index = if_index};
	memcpy(known->name, name, strnlen(name, IFNAMSIZ - 1));
	return 0;
}

/* The number that the name had; else the kernel's index, if no other name has that number; else the
 * first free number. */
static uint32_t
choose_number(const struct links *links, const struct rtnl_link *link)
{
	const struct links_name *known = links_find_name(links, link->name);
	uint32_t if_index = link->kernel_index;

	if (links->numbers == LINKS_KERNEL_NUMBERS)
		return if_index;
	if (known && !links_find(links, known->if_index))
		return known->if_index;
	if (!links_find(links, if_index) && !number_is_named(links, if_index))
		return if_index;
	for (if_index = 1; links_find(links, if_index) || number_is_named(links, if_index);)
		if_index++;
	return if_index;
}

/* ---- the table ---- */

int
links_init(struct links *links, enum links_numbers numbers, const struct links_name *kept, size_t n_kept)
{
	int rc = 0;

	*links = (struct links){.numbers = numbers};
	for (size_t i = 0; i < n_kept && rc == 0; i++)
		if (kept[i].if_index != 0 && !number_is_named(links, kept[i].if_index))
			rc = remember_name(links, kept[i].name, kept[i].if_index);
	if (rc < 0)
		links_free(links);
	return rc;
}

void
links_free(struct links *links)
{
	free(links->ports);
	free(links->by_kernel);
	free(links->names);
	*links = (struct links){0};
}

static size_t
links_place_of(const struct links *links, uint32_t if_index)
{
	return SORTED_POSITION_OF(links->ports, links->n, if_index, if_index);
}

static size_t
kernel_place_of(const struct links *links, uint32_t kernel_index)
{
	return SORTED_POSITION_OF(links->by_kernel, links->n, kernel_index, kernel_index);
}

struct links_port *
links_find(const struct links *links, uint32_t if_index)
{
	size_t place = kernel_place_of(links, if_index);

	/* Mostly the kernel's numbers are the ports', and their list is short enough for a quick search. */
	if (place < links->n && links->ports[place].if_index == if_index)
		return &links->ports[place];
	place = links_place_of(links, if_index);
	return place < links->n && links->ports[place].if_index == if_index ? &links->ports[place] : NULL;
}

struct links_port *
links_find_kernel(const struct links *links, uint32_t kernel_index)
{
	size_t place = kernel_place_of(links, kernel_index);

	if (place == links->n || links->by_kernel[place].kernel_index != kernel_index)
		return NULL;
	return links_find(links, links->by_kernel[place].if_index);
}

static int
links_make_room(struct links *links)
{
	struct links_port *ports = grow_by_one(links->ports, &links->room, links->n, sizeof(*ports));
	struct links_kernel *by_kernel;

	if (!ports)
		return -ENOMEM;
	links->ports = ports;
	by_kernel = grow_by_one(links->by_kernel, &links->by_kernel_room, links->n, sizeof(*by_kernel));
	if (!by_kernel)
		return -ENOMEM;
	links->by_kernel = by_kernel;
	return 0;
}

/* The kernel's indexes are below this: they are positive numbers of 32 bits. */
#define SHARE_KEY 0x80000000u

static void
insert_link(struct links *links, const struct links_port *fresh, struct links_port **result)
{
	size_t place = links_place_of(links, fresh->if_index);
	size_t kernel_place = kernel_place_of(links, fresh->link.kernel_index);

	memmove(&links->ports[place + 1], &links->ports[place], (links->n - place) * sizeof(*links->ports));
	memmove(&links->by_kernel[kernel_place + 1], &links->by_kernel[kernel_place],
	    (links->n - kernel_place) * sizeof(*links->by_kernel));
	links->n++;
	links->by_kernel[kernel_place] = (struct links_kernel){fresh->link.kernel_index, fresh->if_index};
	links->ports[place] = *fresh;
	*result = &links->ports[place];
}

int
links_add(struct links *links, const struct rtnl_link *link, struct links_port **result)
{
	struct links_port fresh = {.link = *link, .stats = link->stats, .kernel.link = link->stats};

	if (links->n >= LINKS_MAX)
		return -ENOSPC;
	fresh.if_index = choose_number(links, link);
	if (links_find(links, fresh.if_index)) /* the kernel's number is that of a CPU share */
		return -EEXIST;
	if (links_make_room(links) < 0 || remember_name(links, link->name, fresh.if_index) < 0)
		return -ENOMEM;
	insert_link(links, &fresh, result);
	return 0;
}

int
links_add_share(struct links *links, uint32_t kernel_index, struct links_port **share)
{
	const struct links_port *port = links_find_kernel(links, kernel_index);
	struct links_port fresh = {.share_of = kernel_index};

	assert(port != NULL);
	if (links->n >= LINKS_MAX)
		return -ENOSPC;
	if (port->if_index >= LINKS_SHARE || links_find(links, port->if_index + LINKS_SHARE))
		return -ERANGE;
	fresh.if_index = port->if_index + LINKS_SHARE;
	fresh.link = port->link;
	fresh.link.kernel_index = kernel_index | SHARE_KEY;
	if (links_make_room(links) < 0)
		return -ENOMEM;
	insert_link(links, &fresh, share);
	return 0;
}

struct links_port *
links_find_short(const struct links *links, uint16_t kernel_index)
{
	size_t n_links = kernel_place_of(links, SHARE_KEY);

	if (n_links > 0 && links->by_kernel[n_links - 1].kernel_index > UINT16_MAX)
		return NULL;
	return links_find_kernel(links, kernel_index);
}

struct links_port *
links_share(const struct links *links, uint32_t kernel_index)
{
	return links_find_kernel(links, kernel_index | SHARE_KEY);
}

void
links_remove(struct links *links, struct links_port *port)
{
	size_t place = (size_t)(port - links->ports);
	size_t kernel_place = kernel_place_of(links, port->link.kernel_index);

	assert(place < links->n && links->by_kernel[kernel_place].kernel_index == port->link.kernel_index);
	if (port->share_of == 0)
		(void)remember_name(links, port->link.name, port->if_index);
	links->n--;
	memmove(port, port + 1, (links->n - place) * sizeof(*port));
	memmove(&links->by_kernel[kernel_place], &links->by_kernel[kernel_place + 1],
	    (links->n - kernel_place) * sizeof(*links->by_kernel));
}

void
links_forget(struct links *links, const char *name)
{
	char padded[IFNAMSIZ] = "";
	struct links_name *known;

	memcpy(padded, name, strnlen(name, IFNAMSIZ - 1));
	known = links_find_name(links, padded);
	if (!known || links_find(links, known->if_index))
		return;
	links->n_names--;
	memmove(known, known + 1, (size_t)(links->names + links->n_names - known) * sizeof(*known));
}
