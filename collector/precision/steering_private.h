/*
 * What steering.c and steering_sflow.c share: what happens to a port is told, planned and waited for alike, by whichever MIB
 * it is set. Nobody else includes it.
 */
#ifndef EASE_COLLECTOR_PRECISION_STEERING_PRIVATE_H
#define EASE_COLLECTOR_PRECISION_STEERING_PRIVATE_H

#include "collector/precision/steering.h"

#define SECOND_US UINT64_C(1000000)
#define PAUSE_US  (3600 * SECOND_US) /* of what refuses, or does not take a skip */

enum { FAILURES_MOST = 3 };

/* Each port of the agent, as i. */
#define EACH_PORT(s, i, of) (uint32_t i = (s)->agents[of].first_port; i-- > 0; i = (s)->ports[i].next)

/* port NULL: of the agent. */
void steering_tell(const struct steering *s, const struct steered_agent *agent, const struct steered_port *port,
    enum steering_happening what, uint32_t before, uint32_t after);
/* Tells it if it is another one. */
void steering_change_trouble(const struct steering *s, struct steered_agent *agent, enum steering_trouble trouble);
/* What the plan may do with the agent's ports now. */
void steering_update_plans(struct steering *s, uint32_t agent);
/* A question without an answer: if it asked for a lease, the agent may have given one, which is to be given back. */
void steering_doubt_lease(struct steered_agent *agent, uint64_t now_us, bool was_asked);
/* Until it is asked again, after so many failures in a row, from 1 on. */
uint64_t steering_pause_after(unsigned failures);

#endif
