/*
 * Decodes notifications that are stored as events: linkUp, linkDown, RMON's alarms,
 * entConfigChange, and those of EASE-SAMPLING-MIB that carry no part to account. No I/O, no state.
 */
#ifndef EASE_COLLECTOR_INPUT_EVENT_H
#define EASE_COLLECTOR_INPUT_EVENT_H

#include "collector/input/v2c.h"
#include "collector/record.h"

#include <sys/socket.h>

/* The event's number in the store (enum ease_event_kind, or the notification's own number below
 * 1,000), or 0 for a notification that is not stored. */
uint32_t event_kind_of(const struct ber_oid *trap_oid);

/* Writes what to call a notification that is not stored: its OID, and its name if it is one of the
 * usual ones that every agent sends. */
enum { EVENT_NAME_MAX = 128 };
void event_name_foreign(const struct ber_oid *trap_oid, char text[EVENT_NAME_MAX]);

/* Reads the variable bindings after snmpTrapOID. Sets if_index, agent_id and boot as far as they
 * are there; the caller sets the rest of *event. 0, or -EBADMSG if one of them is malformed. */
int event_decode(struct v2c_message *m, struct ease_event *event);

/* The identity of a source whose notification has no easeAgentId, see struct ease_event. */
void event_source_of_engine(const uint8_t *engine_id, size_t n, uint8_t id[EASE_AGENT_ID_LEN]);
void event_source_of_address(const struct sockaddr *address, uint8_t id[EASE_AGENT_ID_LEN]);

#endif
