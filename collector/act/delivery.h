/*
 * One fact to one receiver, in a process of its own that does nothing else and is ended if it takes too long. Each
 * returns that process's exit status, 0: taken; otherwise a line on standard error says why. Blocking.
 */
#ifndef EASE_COLLECTOR_ACT_DELIVERY_H
#define EASE_COLLECTOR_ACT_DELIVERY_H

#include "collector/act/receiver.h"

/* Becomes the command: `PATH raised|over`, the JSON on its standard input, and in its environment EASE_EVENT, EASE_ID,
 * EASE_RULE, EASE_KEY, EASE_SOURCE, EASE_DESTINATION, EASE_AGENT and EASE_PORT. Returns only if that fails. */
int deliver_by_command(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json);

/* POSTs the JSON; a status of 200 to 299 is an answer that takes it. Redirections are not followed. In a build without
 * libcurl nothing is taken; the configuration refuses alarm_post there. */
int deliver_by_post(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json);

/* Sends easeAlarmRaised or easeAlarmOver of EASE-COLLECTOR-MIB as an inform, and waits for its acknowledgement. */
int deliver_by_inform(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json);

#endif
