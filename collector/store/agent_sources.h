/*
 * The sources that agents are bound to, read and changed by hand in a store that a collector may be
 * using: by a connection of its own. Agents without a source are left out.
 */
#ifndef EASE_COLLECTOR_STORE_AGENT_SOURCES_H
#define EASE_COLLECTOR_STORE_AGENT_SOURCES_H

#include "collector/store/batch.h"

/* Reads all sources into *rows, which the caller frees. 0, or -errno with the reason in error. */
int agent_sources_read(const char *path, struct store_agent_source **rows, size_t *n, char *error,
    size_t error_size);

/* Calls row for each agent with a source. 0, or -errno with the reason in error. */
typedef void agent_sources_row(void *arg, const uint8_t agent_id[EASE_AGENT_ID_LEN],
    const struct store_agent_source *source);
int agent_sources_each(const char *path, agent_sources_row *row, void *arg, char *error, size_t error_size);

/* Deletes the source of an agent. 0, or -errno with the reason in error: -ENOENT if the store has
 * no source for that agent. */
int agent_sources_forget(const char *path, const uint8_t agent_id[EASE_AGENT_ID_LEN], char *error,
    size_t error_size);

#endif
