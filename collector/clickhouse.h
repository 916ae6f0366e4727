/*
 * The cluster of the configuration, for shipping and for queries: servers, database, credentials.
 * Database and cluster of the first URL take precedence over the options.
 */
#ifndef EASE_COLLECTOR_CLICKHOUSE_H
#define EASE_COLLECTOR_CLICKHOUSE_H

#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"
#include "collector/config.h"
#include "collector/ship/ship.h"

struct clickhouse {
	struct cluster_url *servers; /* owned */
	size_t n_servers;	     /* 0: there is no cluster */
	struct cluster_place place;  /* texts of servers or of the configuration, as below */
	const char *user, *password;
};

/* The configuration is borrowed. 0, or -ENOMEM; clickhouse_free in both cases. */
int clickhouse_read(struct clickhouse *c, const struct collector_config *config);
void clickhouse_free(struct clickhouse *c);

/* Starts shipping; *ship is NULL if there is no cluster. damaged: see struct ship_config. 0, or -errno with the reason in error. */
int clickhouse_ship(struct ship **ship, const struct clickhouse *c,
    const struct collector_config *config, void (*damaged)(void *arg, uint64_t inode), void *damaged_arg, char *error,
    size_t error_size);

/* Applies the configuration's cluster_keep_… options. ship may be NULL. */
void clickhouse_set_retention(struct ship *ship, const struct collector_config *config);

/* Prints the statements that migrate the cluster's tables to this program's version: those missing
 * on each server that answers, or all if no server answers or is configured. */
void clickhouse_print_schema(const struct clickhouse *c, FILE *out);

/* Prints the statements that make the tables, and all others that easecapd sends, as texts. No server is asked. */
void clickhouse_print_sql(const struct clickhouse *c, FILE *out);

#endif
