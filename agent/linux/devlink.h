/*
 * Parses devlink's answers about switch chips: what sort of port stands behind an interface, and by which name
 * `devlink port show` calls it; what they do with packets that they do not forward (`devlink trap show`). Pure, as in rtnl.h. Attributes are defined in linux/devlink.h.
 */
#ifndef EASE_AGENT_LINUX_DEVLINK_H
#define EASE_AGENT_LINUX_DEVLINK_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

enum { DEVLINK_NAME_MAX = 63 };

struct devlink_port {
	uint32_t kernel_index; /* of its interface; 0: it has none, as the port to the CPU */
	bool has_flavour;
	uint16_t flavour; /* enum devlink_port_flavour */
	char name[DEVLINK_NAME_MAX + 1]; /* "pci/0000:03:00.0/1" */
};

/* One port of a dump. 0; -EPROTO if the message is damaged; -ENOMSG if it is of another command. */
int devlink_parse_port(const struct nlmsghdr *message, struct devlink_port *port);

enum { DEVLINK_TRAP_MAX = 63 };

/* What a chip does with packets of one sort. Counters are since the device was made. */
struct devlink_trap {
	char device[DEVLINK_NAME_MAX + 1]; /* "pci/0000:03:00.0" */
	char name[DEVLINK_TRAP_MAX + 1], group[DEVLINK_TRAP_MAX + 1];
	uint8_t action;	  /* enum devlink_trap_action: dropped, given to the CPU, or that as well as forwarded */
	bool is_of_drops; /* the packets are not forwarded; else they are the CPU's own */
	uint64_t pkts;	  /* given to the CPU */
	bool has_dropped; /* its driver counts */
	uint64_t dropped_pkts; /* packets dropped, which nobody got */
};

/* As devlink_parse_port. */
int devlink_parse_trap(const struct nlmsghdr *message, struct devlink_trap *trap);

#endif
