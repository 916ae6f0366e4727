/*
 * Static addresses: the rows of dot1dStaticTable (RFC 4188) that managers make, and their way into
 * the device. A row ties a unicast address, wherever it comes from (receive port 0), to one port:
 * that is what switch chips can do. Rows with deleteOnReset live as long as the agent runs. All on
 * the main loop, but hold and release of a table, which are the SNMP thread's.
 */
#ifndef EASE_AGENT_STATIC_ADDRESSES_H
#define EASE_AGENT_STATIC_ADDRESSES_H

#include "agent/hal/hal.h"
#include "agent/snmp/managed_table.h"
#include "mibs/mib_static_addresses.h"

struct static_addresses;

/* hal is borrowed. */
int static_addresses_create(struct hal *hal, struct static_addresses **static_addresses);
void static_addresses_destroy(
    struct static_addresses *static_addresses); /* NULL allowed; no table is held any more */
struct managed_table *static_addresses_managed(struct static_addresses *static_addresses);

/* Publishes the rows if they have changed. */
void static_addresses_publish(struct static_addresses *static_addresses);
const struct mib_static_address_table *static_addresses_hold(
    struct static_addresses *static_addresses); /* NULL before the first */
void static_addresses_release(
    struct static_addresses *static_addresses, const struct mib_static_address_table *table);

#endif
