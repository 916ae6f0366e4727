/*
 * Static addresses: the rows of dot1dStaticTable (RFC 4188) that managers make, and their way into
 * the device. A row ties a unicast address, wherever it comes from (receive port 0), to one port:
 * that is what switch chips can do. Rows with deleteOnReset live as long as the agent runs. All on
 * the main loop, but hold and release of a view, which are the SNMP thread's.
 */
#ifndef EASE_AGENT_STATICS_H
#define EASE_AGENT_STATICS_H

#include "agent/hal/hal.h"
#include "agent/snmp/managed_table.h"
#include "mibs/mib_statics.h"

struct statics;

/* hal is borrowed. */
int statics_create(struct hal *hal, struct statics **statics);
void statics_destroy(struct statics *statics); /* NULL allowed; no view is held any more */
struct managed_table *statics_managed(struct statics *statics);

/* Publishes the rows if they have changed. */
void statics_publish(struct statics *statics);
const struct mib_statics *statics_view_hold(struct statics *statics); /* NULL before the first */
void statics_view_release(struct statics *statics, const struct mib_statics *view);

#endif
