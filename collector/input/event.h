/*
 * Notifications that are events and no more: linkUp, linkDown, RMON's alarms, entConfigChange, and
 * those of EASE-SAMPLING-MIB that carry no part this program counts with. Pure: variable bindings in, one
 * struct ease_event out.
 */
#ifndef EASE_COLLECTOR_INPUT_EVENT_H
#define EASE_COLLECTOR_INPUT_EVENT_H

#include "collector/input/v2c.h"
#include "collector/record.h"

#include <sys/socket.h>

/* The event's number in the store (enum ease_event_kind, or the notification's own number below
 * 1,000), or 0 for a notification of another MIB. */
uint32_t event_kind_of(const struct ber_oid *trap_oid);

/* Reads the variable bindings behind snmpTrapOID. Sets if_index, and agent_id and boot if they are
 * told; the rest of *event is the caller's. 0; -EBADMSG for a mistake in them. */
int event_decode(struct v2c_message *m, struct ease_event *event);

/* The identity of a source that tells none, see struct ease_event. */
void event_source_of_engine(const uint8_t *engine_id, size_t n, uint8_t id[EASE_AGENT_ID_LEN]);
void event_source_of_address(const struct sockaddr *address, uint8_t id[EASE_AGENT_ID_LEN]);

/* FNV-1a over some octets, going on from hash (EVENT_HASH at the start). */
#define EVENT_HASH 0xcbf29ce484222325ull
uint64_t event_hash(uint64_t hash, const void *octets, size_t n);

#endif
