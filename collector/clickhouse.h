/*
 * The cluster that the configuration names, for all who ship to it or ask it: servers, database,
 * credentials. What the first address says of database and cluster comes before the options.
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
	struct cluster_place place;  /* borrowed of servers or the configuration, as what follows */
	const char *user, *password;
};

/* The configuration is borrowed. 0, or -ENOMEM; clickhouse_free in both cases. */
int clickhouse_read(struct clickhouse *c, const struct collector_config *config);
void clickhouse_free(struct clickhouse *c);

/* Ships to it from now on; nothing (*ship is NULL) where there is none. 0, or -errno with the
 * reason in error. */
int clickhouse_ship(struct ship **ship, const struct clickhouse *c,
    const struct collector_config *config, char *error, size_t error_size);

/* What the configuration says now of how long the cluster keeps what is in force. ship may be NULL. */
void clickhouse_keep_for(struct ship *ship, const struct collector_config *config);

/* Prints the statements that bring the cluster's tables to this program's version: what is missing
 * on each server that answers, or all of them where none does or is named. */
void clickhouse_print_schema(const struct clickhouse *c, FILE *out);

#endif
