/*
 * Static addresses: the rows of dot1dStaticTable (RFC 4188) that managers make, and what they set in
 * the device. A row ties a unicast address to one port, whatever port a frame comes from (receive
 * port 0), because switch chips can do no more. Rows with deleteOnReset live until the agent stops.
 * Main loop only, except static_addresses_hold and static_addresses_release, which the SNMP thread
 * calls.
 */
#ifndef EASE_AGENT_STATIC_ADDRESSES_H
#define EASE_AGENT_STATIC_ADDRESSES_H

#include "agent/hal/hal.h"
#include "agent/snmp/managed_table.h"
#include "mibs/mib_static_addresses.h"

struct static_addresses;

/* hal is borrowed. */
int static_addresses_create(struct hal *hal, struct static_addresses **static_addresses);
/* NULL allowed. All tables must have been released. */
void static_addresses_destroy(struct static_addresses *static_addresses);
struct managed_table *static_addresses_managed(struct static_addresses *static_addresses);

/* Something happened to a port: the addresses of one that came back, or back into its bridge, are tied to it
 * again. */
void static_addresses_port(
    struct static_addresses *static_addresses, const struct hal_port_event *event);

/* Publishes the rows if they have changed. */
void static_addresses_publish(struct static_addresses *static_addresses);
/* Returns the newest table, or NULL before the first one. It never changes. */
const struct mib_static_address_table *static_addresses_hold(
    struct static_addresses *static_addresses);
/* NULL allowed. */
void static_addresses_release(const struct mib_static_address_table *table);

#endif
