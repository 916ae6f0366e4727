/*
 * Reads what lldpd's own client prints as JSON (lldpcli -f json0, lldpd 1.0): of `show interfaces` what this machine says of
 * itself at each interface, and of `show neighbors` who it hears there. Neighbours decide what is in it. What is no identity
 * of LLDP, at no interface that is asked about, or said by another protocol is left out. No I/O.
 */
#ifndef EASE_AGENT_LINUX_LLDPD_JSON_H
#define EASE_AGENT_LINUX_LLDPD_JSON_H

#include "agent/hal/hal.h"

/* The ifIndex of an interface; 0: it is none of ours. */
typedef uint32_t lldpd_if_index_fn(void *ctx, const char *name);

struct lldpd_reading {
	bool has_chassis;
	struct hal_lldp lldp; /* its rows are the arrays below */
	struct hal_lldp_port *ports;
	struct hal_neighbour *neighbours;
	size_t n_left_out; /* neighbours without an identity, or beyond HAL_MAX_NEIGHBOURS */
};

/* The text of each command. 0, or -EPROTO: one is not JSON as lldpcli prints it; -ENOMEM. lldpd_reading_free then and
 * afterwards. */
int lldpd_json_read(const char *own, size_t n_own, const char *neighbours, size_t n_neighbours, lldpd_if_index_fn *if_index,
    void *ctx, struct lldpd_reading *reading);
void lldpd_reading_free(struct lldpd_reading *reading);

#endif
