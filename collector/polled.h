/*
 * What the collector has asked a switch itself (collector/poll), of one port, on its way to the input: it takes the
 * place of what an sFlow agent does not send. The input alone knows which sFlow agents and ports there are, and tells
 * whom to ask; of agents of EASE, which are asked for neighbours alone, the accounting does.
 */
#ifndef EASE_COLLECTOR_POLLED_H
#define EASE_COLLECTOR_POLLED_H

#include "common/sample.h"

#include <stdbool.h>
#include <stdint.h>

/* A port of an agent that was accepted, whose frames are sampled. */
struct polled_place {
	uint32_t place;	 /* in the input's table of ports, or behind it in the accounting's; */
	uint32_t number; /* of its agent: no other has it, also of those that left */
	uint32_t agent;	 /* the agent's place, */
	uint32_t if_index;
	const char *address; /* and the address that it states; borrowed for the call */
	bool sends_counters; /* it has sent counters lately, or another sub-agent of it has them */
};

/* What a port's state says that was asked for. */
enum polled_parts {
	POLLED_NAMES = 1u << 0,	   /* name, alias, lag_parent */
	POLLED_COUNTERS = 1u << 1, /* in, out, speed_bps and both statuses */
	POLLED_UPLINK = 1u << 2,   /* is_uplink */
};

struct polled_port {
	uint32_t place, number, if_index; /* as in struct polled_place */
	unsigned parts;			  /* enum polled_parts */
	uint64_t read_us; /* the middle between question and answer, since 1970 by the collector's clock */
	char name[EASE_NAME_MAX + 1], alias[EASE_NAME_MAX + 1]; /* cleaned; "" none */
	uint32_t lag_parent;					/* ifIndex; 0 none */
	uint64_t speed_bps;					/* 0 not known */
	uint8_t admin_status, oper_status;			/* enum ease_if_status */
	bool is_uplink; /* it leads to another switch that is asked, as both say of each other: */
	uint32_t other_place, other_number, other_if_index; /* the other end, as this one */
	bool began_anew; /* the device says that counters did since those before */
	struct ease_side in, out; /* EASE_COUNT_UNKNOWN: it does not count these */
};

/* What is known of a switch that is asked, by one of its ports (struct polled_place). Times are of the collector's clock,
 * since 1970; 0: never. */
struct polled_agent {
	uint32_t place, number, if_index;
	char name[EASE_NAME_MAX + 1]; /* sysName, cleaned; "" none */
	uint64_t names_us, counters_us; /* when those of a port were read last */
	uint64_t silent_us; /* since when it has not answered; 0: it did */
	uint8_t reason;	    /* why not: enum poll_verdict */
};

#endif
