/*
 * Reads SONiC's database_config.json: which Redis server has each database, and by which number
 * (sonic-swss-common, common/database_config.json). What is in the file is checked; no name is looked up.
 */
#ifndef EASE_AGENT_SONIC_DATABASE_CONFIG_H
#define EASE_AGENT_SONIC_DATABASE_CONFIG_H

#include "agent/sonic/redis.h"

/* The databases that the device reads. */
enum sonic_database {
	SONIC_APPL, SONIC_ASIC, SONIC_COUNTERS, SONIC_CONFIG, SONIC_STATE,
	SONIC_N_DATABASES
};

extern const char *const sonic_database_names[SONIC_N_DATABASES];

/* Fills an address for each database. by_tcp: the server's hostname and port are taken, not its Unix socket. -errno
 * with the reason in error, which begins with the file's name. */
int database_config_read(const char *file, bool by_tcp, struct redis_address addresses[SONIC_N_DATABASES],
    char *error, size_t error_size);
/* The same from text, without the name. */
int database_config_parse(const char *text, size_t octets, bool by_tcp,
    struct redis_address addresses[SONIC_N_DATABASES], char *error, size_t error_size);

#endif
