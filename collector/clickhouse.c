#include "collector/clickhouse.h"
#include "collector/cluster/migration.h"
#include "collector/ship/ship_sql.h"
#include "collector/ship/ship_upkeep.h"

#include <errno.h>
#include <stdlib.h>

enum {
	/* For one statement: a batch of rows takes a second, the roll-up of days some ten. */
	TIMEOUT_MS = 30000,
	SCHEMA_TIMEOUT_MS = 5000,
};

#define HOUR_US (3600 * (uint64_t)1000000)
#define DAY_US (24 * HOUR_US)

static const char *
clickhouse_first_of(const char *a, const char *b)
{
	return *a ? a : b;
}

int
clickhouse_read(struct clickhouse *c, const struct collector_config *config)
{
	static const struct cluster_url none;
	const struct cluster_url *first = &none;
	const char *reason;

	*c = (struct clickhouse){.user = config->clickhouse_user,
	    .password = config->clickhouse_password};
	if (config->clickhouse.n > 0) {
		c->servers = calloc(config->clickhouse.n, sizeof(*c->servers));
		if (!c->servers)
			return -ENOMEM;
		/* they were checked when the file was read */
		for (; c->n_servers < config->clickhouse.n; c->n_servers++)
			cluster_url_parse(config->clickhouse.items[c->n_servers], &c->servers[c->n_servers], &reason);
		first = c->servers;
	}
	c->place.database = clickhouse_first_of(first->database, config->clickhouse_database);
	c->place.cluster = clickhouse_first_of(first->cluster, config->clickhouse_cluster);
	return 0;
}

void
clickhouse_free(struct clickhouse *c)
{
	free(c->servers);
	*c = (struct clickhouse){0};
}

static struct ship_keep
clickhouse_keep_of(const struct collector_config *config)
{
	return (struct ship_keep){
	    .level_us = {
		[LEVEL_1_MIN] = config->cluster_keep_1min_h * HOUR_US,
		[LEVEL_5_MIN] = config->cluster_keep_5min_d * DAY_US,
		[LEVEL_1_H] = config->cluster_keep_1h_d * DAY_US,
		[LEVEL_1_D] = config->cluster_keep_1d_d * DAY_US,
	    },
	    .samples_us = config->cluster_keep_samples_h * HOUR_US,
	};
}

void
clickhouse_set_retention(struct ship *ship, const struct collector_config *config)
{
	const struct ship_keep keep = clickhouse_keep_of(config);

	if (ship)
		ship_set_keep(ship, &keep);
}

int
clickhouse_ship(struct ship **ship, const struct clickhouse *c,
    const struct collector_config *config, void (*damaged)(void *arg, uint64_t inode), void *damaged_arg, char *error,
    size_t error_size)
{
	const struct ship_config ship_config = {
	    .store = config->store,
	    .servers = c->servers,
	    .n_servers = c->n_servers,
	    .place = c->place,
	    .user = c->user,
	    .password = c->password,
	    .version = EASE_VERSION,
	    .samples = config->clickhouse_samples,
	    .interval_s = config->clickhouse_interval_s,
	    .timeout_ms = TIMEOUT_MS,
	    .keep = clickhouse_keep_of(config),
	    .damaged = damaged,
	    .damaged_arg = damaged_arg,
	};

	*ship = NULL;
	return c->n_servers == 0 ? 0 : ship_open(ship, &ship_config, error, error_size);
}

/* The schema */

static void
print_from(const struct clickhouse *c, FILE *out, unsigned version)
{
	bool is_ours = version < CLUSTER_VERSION && (version == 0 || version >= CLUSTER_FIRST_VERSION);

	for (size_t i = 0; is_ours && cluster_write_migration(out, &c->place, version, i); i++)
		fputs(";\n", out);
}

static bool
print_by_server(const struct clickhouse *c, FILE *out, struct cluster_http *http)
{
	struct ship_upkeep upkeep;
	bool any = false;

	if (ship_upkeep_init(&upkeep, http, &c->place) < 0)
		return false;
	for (size_t i = 0; i < c->n_servers; i++) {
		int64_t version;

		if (ship_upkeep_version(&upkeep, (int)i, &version) < 0) {
			fprintf(out, "-- %s\n", cluster_http_error(http));
			continue;
		}
		fprintf(out, "-- %s has version %lld of %d\n", cluster_http_server(http, i),
		    (long long)version, CLUSTER_VERSION);
		print_from(c, out, (unsigned)version);
		any = true;
	}
	ship_upkeep_free(&upkeep);
	return any;
}

void
clickhouse_print_schema(const struct clickhouse *c, FILE *out)
{
	const struct cluster_http_config config = {.servers = c->servers,
	    .n_servers = c->n_servers, .user = c->user, .password = c->password,
	    .timeout_ms = SCHEMA_TIMEOUT_MS};
	char error[CLUSTER_ERROR_TEXT];
	struct cluster_http *http = NULL;
	bool any = false;

	if (c->n_servers > 0) {
		if (cluster_http_open(&http, &config, error, sizeof(error)) == 0)
			any = print_by_server(c, out, http);
		else
			fprintf(out, "-- %s\n", error);
		cluster_http_close(http);
	}
	if (!any)
		print_from(c, out, 0);
}

void
clickhouse_print_sql(const struct clickhouse *c, FILE *out)
{
	fputs("-- The tables, on each server:\n", out);
	print_from(c, out, 0);
	fputs("\n-- What is sent to them. In braces stands what differs: me (the collector), level (minutes of a window),\n"
	      "-- below (those of the level below), span_us (of a window), from_us and to_us (of a range), now_us (by the\n"
	      "-- cluster's clock), table and its columns, names, sums, zeros and values of these, key (of a window's\n"
	      "-- rows), dirty (batches or minutes that are not in a level yet), a text with a name of its own, and\n"
	      "-- numbers of a batch.\n\n", out);
	sql_print(out, &c->place, &cluster_sql[CLUSTER_SQL_VERSION], CLUSTER_N_SQL - CLUSTER_SQL_VERSION);
	ship_print_sql(out, &c->place);
}
