/*
 * Parses devlink's answers about the ports of switch chips: what sort of port stands behind an interface, and by
 * which name `devlink port show` calls it. Pure, as in rtnl.h. Attributes are defined in linux/devlink.h.
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

#endif
