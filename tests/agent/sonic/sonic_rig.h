/*
 * A Redis server of a test's own on a private socket, filled as SONiC fills its databases: the words are those of
 * SONiC's schema (sonic-swss-common, schema.h) and of SAI, not those of the agent. What each row must be follows from
 * its number, by the functions below.
 */
#ifndef EASE_TESTS_SONIC_RIG_H
#define EASE_TESTS_SONIC_RIG_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sonic_server {
	char dir[64], socket[96], config[96]; /* config: database_config.json */
	bool events;			      /* keyspace events are on, as SONiC has them */
	uint16_t port;			      /* of 127.0.0.1; 0: no TCP */
	pid_t pid;			      /* 0: it does not run */
	redisContext *redis;
};

/* Ports 0 to n_ports - 1 are Ethernet0, Ethernet1, …; the last 2 * n_lags are members of LAGs. */
struct sonic_plan {
	uint32_t n_ports, n_lags, n_vlans, n_addresses;
	int64_t without_counters; /* this port has none; -1: all have */
};

/* Fails the program if there is no server. */
void sonic_server_start(struct sonic_server *server, bool events);
/* The same, to be reached by TCP, too. */
void sonic_server_start_tcp(struct sonic_server *server, bool events);
/* Starts it again after sonic_server_kill, on the same socket, with empty databases. */
void sonic_server_restart(struct sonic_server *server);
void sonic_server_kill(struct sonic_server *server);
void sonic_server_end(struct sonic_server *server);

/* One command to a database, of words with blanks between them; \1 is a blank within a word. The answer is thrown away; an error fails the program. */
void sonic_command(struct sonic_server *server, int database, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A hash's field as text; "" if it is not there. Overwritten by the next call. */
const char *sonic_field(struct sonic_server *server, int database, const char *key, const char *field);

/* Writes everything. t_s: seconds of traffic. */
void sonic_fill(struct sonic_server *server, const struct sonic_plan *plan, uint64_t t_s);
/* Writes counters alone. */
void sonic_count(struct sonic_server *server, const struct sonic_plan *plan, uint64_t t_s);

/* ---- the truth ---- */

/* The fields of COUNTERS that are written, without SAI_PORT_STAT_, and what each has at a port. */
extern const char *const sonic_counter_fields[];
extern const size_t sonic_n_counter_fields;
uint64_t sonic_counter(uint32_t port, size_t field, uint64_t t_s);
size_t sonic_counter_field(const char *name); /* fails the program if there is none */

uint32_t sonic_speed_mbps(uint32_t port);
bool sonic_admin_up(uint32_t port);
bool sonic_oper_up(uint32_t port);
void sonic_description(uint32_t port, char *text, size_t size);
int64_t sonic_lag_of(const struct sonic_plan *plan, uint32_t port); /* N of PortChannelN; -1: none */
uint32_t sonic_vlan(const struct sonic_plan *plan, uint32_t i);	    /* of the i-th; they repeat */
uint32_t sonic_pvid(const struct sonic_plan *plan, uint32_t port);  /* 0: a LAG's member */
uint32_t sonic_tagged(const struct sonic_plan *plan, uint32_t port);
void sonic_address(const struct sonic_plan *plan, uint32_t i, uint8_t mac[6], uint32_t *vlan, uint32_t *port);

#endif
