/*
 * What a plan knows of switches and their ports, for poll_plan.c, which says who is asked when and reads names and
 * counters, and poll_plan_links.c, which reads neighbours.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_PLAN_PRIVATE_H
#define EASE_COLLECTOR_POLL_POLL_PLAN_PRIVATE_H

#include "collector/poll/poll_links.h"
#include "collector/poll/poll_plan.h"

#define SECOND_US UINT64_C(1000000)

enum { LIST_MAX = 64 }; /* ports of a switch that are due, of one look at all of them */

struct planned_port {
	uint32_t number, if_index; /* of whom the rest is; number 0: nobody's */
	uint32_t agent;		   /* its place */
	uint64_t names[2];	   /* hashes of ifName and ifDescr, by which LLDP's ports are found; 0: none */
	bool is_uplink;
	bool has_counted;
	uint32_t discontinuity_cs, uptime_cs; /* when it was counted */
	uint64_t met_us, named_us, counted_us; /* 0: not yet */
};

/* Of LLDP's tables: first the rows of neighbours are read, then what the local ports in them are called. */
enum links_step { LINKS_READ, LINKS_ROWS, LINKS_PORTS };

struct planned_agent {
	uint32_t number, target;
	uint32_t job; /* the question on its way; 0: none */
	bool answers;	   /* its last question was answered */
	bool was_answering;    /* when it was asked */
	unsigned failures; /* in a row */
	unsigned parts;	   /* of the list */
	uint64_t next_us, asked_us;
	uint32_t n_list, at; /* places that are due, and which is the next */
	uint32_t n_asked;    /* the question's are the last ones before it */
	uint32_t list[LIST_MAX];
	unsigned asked; /* the parts of the question on its way */
	enum links_step step;
	struct poll_links links, fresh; /* as read last, and as being read */
	uint32_t cursor[POLL_CURSOR];
	uint32_t local_ports[POLL_PORTS_MAX]; /* that the question is for */
	uint64_t links_us;
	uint32_t linked_to; /* while links are told: the number of the switch that they are of */
	bool has_new_ports;
	uint64_t seen_us; /* when a port of it was there */
	bool is_small; /* its messages have room for one port only */
	struct polled_agent known; /* times monotonic */
	bool has_news;
	uint64_t told_us;
	char address[ENDPOINT_TEXT];
};

struct poll_plan {
	struct poll_source source;
	struct poll_settings settings;
	struct planned_port *ports;
	struct planned_agent *agents;
	struct poll_links **links; /* those of each agent, and by whom they name: */
	struct poll_pairs pairs;
	uint32_t serial, next_agent;
	uint32_t in_flight, unanswered; /* unanswered: of these, to switches that have not answered lately */
	uint64_t looked_us, idle_until_us, n_crowded;
	double tokens;
	uint64_t tokens_us;
};

/* Who takes what comes of an answer. */
struct taking {
	poll_take *take;
	void *arg;
	uint64_t now_us;
};

/* Begins to read a switch's neighbours, if it is time and nothing else is due. */
void poll_plan_begin_links(const struct poll_plan *plan, struct planned_agent *a, uint64_t now_us);

/* Fills in the next question for them. */
void poll_plan_ask_links(struct planned_agent *a, struct poll_job *job);

/* Takes its answer; when all is read, tells which ports are uplinks. */
void poll_plan_take_links(
    struct poll_plan *plan, struct planned_agent *a, const struct poll_answer *answer, const struct taking *to);

/* They are not asked for again before it is time. */
void poll_plan_give_up_links(struct planned_agent *a, uint64_t now_us);

void poll_plan_forget_links(struct poll_plan *plan, struct planned_agent *a);

#endif
