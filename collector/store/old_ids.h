/*
 * Ids that the collector made for agents up to version 25 of the store: hashes that could be turned round. Where an
 * agent's old one follows from its address or engine ID, it gets the id that is made of it now (common/made_id.h), and
 * goes on as the same agent, because all else refers to agents by number.
 *
 * Of an sFlow agent whose id was made of its sender's address, too, the store does not have its own address. Those that
 * makers set are tried (0.0.0.0, 127.0.0.1, 128.0.0.0/24, 240.127.1.1, ::, ::1, none); of others that stand in
 * sflow_shared_agents a new agent is begun.
 */
#ifndef EASE_COLLECTOR_STORE_OLD_IDS_H
#define EASE_COLLECTOR_STORE_OLD_IDS_H

struct sqlite3;

/* Defines made_id_now(agent_id, address, source) in the database, which returns the id that the agent has from now on.
 * An SQLite code. */
int old_ids_define(struct sqlite3 *db);

#endif
