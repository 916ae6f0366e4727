/*
 * Steers switches of other makes by SFLOW-MIB 1.3, whose receivers are the lease: one that is free is taken with our name
 * and a time to live, sends to us, and each sampler that nobody else has is given to it, at first with a rate of its own.
 * From then on its rate follows the plan. Released, or not renewed in time, a receiver and its samplers are as they were:
 * off. Pure: questions out, answers in, time is passed in.
 *
 * Every STEERING_RENEW_S it is looked who has the receiver, which is renewed, or taken again after a reboot; then all
 * samplers are read. A sampler that another receiver has, and one whose rate somebody else has changed, is left alone until
 * the receiver is taken anew. A switch may make of a rate the nearest that it can: that is not somebody else.
 */
#ifndef EASE_COLLECTOR_PRECISION_STEERING_SFLOW_H
#define EASE_COLLECTOR_PRECISION_STEERING_SFLOW_H

#include "collector/poll/poll_job.h"
#include "collector/precision/steering.h"

enum { SFLOW_SWITCHES_MAX = 256 };

struct sflow_switch {
	uint32_t agent; /* index in steering */
	struct poll_sflow to; /* where its datagrams go: to_octets, to, to_port */
	uint32_t first_rate;
	uint32_t receiver; /* ours, or that shall be; 0: none */
	enum sflow_step { SFLOW_LOOK, SFLOW_TAKE, SFLOW_RENEW, SFLOW_WALK, SFLOW_READY } step;
	bool is_leaving, is_directed; /* is_directed: its receiver has `to` */
	uint32_t walk, n_rows, cursor[POLL_SFLOW_CURSOR]; /* n_rows: so far, of the walk */
};

struct sflow_steering {
	struct steering *steering;
	uint32_t n, next;
	struct sflow_switch switches[SFLOW_SWITCHES_MAX];
};

/* Adds a switch of which nothing has been heard yet, and returns its index; UINT32_MAX: there is no room. */
uint32_t sflow_lease_add(struct sflow_steering *x, const struct poll_sflow *to, uint32_t first_rate);

/* Its datagrams go to another address from now on, or begin at another rate; one that was given back is taken again. */
void sflow_lease_direct(struct sflow_steering *x, uint32_t i, const struct poll_sflow *to, uint32_t first_rate);

/* The number that the store knows it by, once its samples came. */
void sflow_lease_set_agent(struct sflow_steering *x, uint32_t i, int64_t agent);

/* Gives the receiver back, and asks for nothing any more. */
void sflow_lease_release(struct sflow_steering *x, uint32_t i);
bool sflow_lease_is_released(const struct sflow_steering *x, uint32_t i);

/* Fills in the parts of the next question that are SFLOW-MIB's, of switch *i; false: none is due. Each gets an answer. */
bool sflow_lease_next(struct sflow_steering *x, uint64_t now_us, uint32_t *i, struct poll_job *job);
void sflow_lease_take(struct sflow_steering *x, uint32_t i, uint64_t now_us, const struct poll_job *job,
    const struct poll_answer *answer);

#endif
