/*
 * The hand that sets skips on agents: what is to be sent to whom next, and what an answer means. Pure: jobs out, answers
 * in, the time is passed in, by a clock that cannot step.
 *
 * Of each agent (EASE-SAMPLING-MIB): the rows of its ports are read first. Then a lease is claimed and renewed with each
 * SET, every STEERING_RENEW_S at the latest; rows are read again two seconds after a SET and with each renewal. So a lost
 * SET, an agent that began anew and a request that somebody ended are all seen, and requested again within the hour's
 * number of SETs. An agent whose lease is somebody else's is asked by GET alone until it is free; a port that was set by
 * hand is left alone until it is released. What refuses is left alone for an hour. When we leave, the time to live is set
 * to 0.
 */
#ifndef EASE_COLLECTOR_PRECISION_STEERING_H
#define EASE_COLLECTOR_PRECISION_STEERING_H

#include "collector/precision/plan.h"

enum {
	STEERING_AGENTS_MAX = 1024,
	STEERING_PORTS_MAX = 4096,
	STEERING_OF_AGENT = STEERING_PORTS_MAX / 8, /* so that one that invents ports takes the room of no other */
	STEERING_A_JOB = 8, /* ports */
	STEERING_OWNER = 17, /* octets of a name with its NUL */
	STEERING_TTL_S = 300,
	STEERING_RENEW_S = 100,
};

/* What keeps an agent or a port from being set. */
enum steering_trouble {
	STEERING_FINE,
	STEERING_NOT_READ,  /* nothing is known of it yet */
	STEERING_NO_LEASES, /* its agent does not take requests */
	STEERING_FOREIGN,   /* another station has the lease */
	STEERING_REFUSES,
	STEERING_SILENT,
	STEERING_HELD,	    /* the port was set by hand */
	STEERING_N_TROUBLES,
};
const char *steering_trouble_text(enum steering_trouble trouble);

/* What happens to a skip beside what a plan says (enum precision_move). */
enum steering_happening {
	STEERING_SET = 1, /* why: the move that was wanted */
	STEERING_LOST,	  /* the agent began anew, or somebody ended the request */
	STEERING_RETURNED,
	STEERING_TROUBLE, /* of a port, or of an agent: port NULL */
	STEERING_TAKEN,	  /* the trouble is over */
};

struct steered_port {
	uint32_t agent, if_index;
	uint32_t next; /* of the same agent: index + 1, 0 at the end */
	bool is_read;
	uint32_t configured, in_force, requested, reason; /* as the agent says */
	bool is_held;
	uint32_t want_skip, want_cap; /* 0: nothing is asked for */
	enum precision_move why;
	bool is_set; /* the agent has it, as far as is known */
	uint32_t before; /* the skip before this one */
	unsigned failures;
	uint64_t retry_us, read_us; /* not before */
	struct sflow_port { /* steering_sflow.h */
		uint32_t walk;	   /* that saw it */
		uint32_t instance; /* of its sampler that is ours or free; 0: none is */
		uint32_t rate, settled; /* the sampler's, and what the switch made of the rate that was set; 0: not known */
		bool is_ours, seen_ours, seen_other;
	} sflow;
};

struct steered_agent {
	int64_t id;
	int64_t boot; /* 0: not known */
	uint32_t first_port; /* index + 1 */
	enum steering_trouble trouble;
	bool is_leased, in_flight;
	bool is_sflow; /* of another make: by steering_sflow.h */
	unsigned failures;
	uint64_t renewed_us, retry_us;
};

struct steering_event {
	enum steering_happening what;
	int64_t agent;
	uint32_t if_index; /* 0: of the agent */
	uint32_t before, after;
	enum precision_move why;
	enum steering_trouble trouble;
};
typedef void steering_teller(void *arg, const struct steering_event *event);

struct steering {
	char owner[STEERING_OWNER];
	steering_teller *tell;
	void *arg;
	bool leaving;
	uint32_t n_agents, n_ports, next_agent;
	struct steered_agent agents[STEERING_AGENTS_MAX];
	struct steered_port ports[STEERING_PORTS_MAX];
	struct precision_port plans[STEERING_PORTS_MAX]; /* of the same ports */
	uint64_t sets, refused; /* so far: SETs that were sent, agents and ports that there was no room for */
};

enum steering_kind { STEERING_READ, STEERING_ASK };
struct steering_job {
	enum steering_kind kind;
	uint32_t agent; /* index */
	uint32_t ttl_s; /* of an ASK, whose owner is the steering's */
	uint32_t n_ports, port[STEERING_A_JOB]; /* indexes */
	uint32_t if_index[STEERING_A_JOB], skip[STEERING_A_JOB], cap[STEERING_A_JOB];
};

struct steering_answer {
	bool has_answer; /* else it is silent, or what came was none */
	uint32_t error_status; /* RFC 3416 */
	char owner[STEERING_OWNER]; /* of a READ; longer ones are cut */
	struct steering_row {
		uint32_t configured, in_force, requested, held, reason;
	} rows[STEERING_A_JOB];
};

/* NULL without memory. owner is cut to its length. */
struct steering *steering_new(const char *owner, steering_teller *tell, void *arg);

/* Finds a port, or adds it; UINT32_MAX: there is no room, or the agent has its share. */
uint32_t steering_port(struct steering *s, int64_t agent, uint32_t if_index);

/* The agent's boot, as its samples say: another one has lost all requests. */
void steering_note_boot(struct steering *s, int64_t agent, int64_t boot, uint64_t now_us);

/* Wants another skip of the port (0: the configured one), from the plan's move on. */
void steering_want(struct steering *s, uint32_t port, uint32_t skip, uint32_t cap, enum precision_move why);

/* From now on everything is returned. */
void steering_leave(struct steering *s);
bool steering_has_left(const struct steering *s);

/* Fills in the next job; false: none is due. Each job gets an answer, or one without. */
bool steering_next(struct steering *s, uint64_t now_us, struct steering_job *job);
void steering_take(struct steering *s, uint64_t now_us, const struct steering_job *job, const struct steering_answer *answer);

/* Why the port is not steered, if it is not. */
enum steering_trouble steering_trouble_of(const struct steering *s, uint32_t port);

#endif
