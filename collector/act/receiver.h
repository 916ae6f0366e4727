/*
 * A receiver of alarms outside the collector, and the process that tells it: a command that is run, a URL that is posted
 * to, or an SNMP manager that gets informs. The process is begun before the collector gives privileges away, becomes
 * nobody where it may, has no capability and nothing of the collector's but one socket. For each fact it begins another
 * process, which has DELIVERY_S seconds; so neither a receiver that hangs nor what its answer does to a library costs
 * more than this fact.
 *
 * When the collector ends, in whatever way, the process tells the receiver that all that it took as raised is over, for
 * RECEIVER_ENDS_S seconds at most, and ends: no route stays because a collector died.
 */
#ifndef EASE_COLLECTOR_ACT_RECEIVER_H
#define EASE_COLLECTOR_ACT_RECEIVER_H

#include "collector/alarm/alarm_outbox.h"
#include "collector/poll/poll_job.h"
#include "common/privilege.h"

enum {
	RECEIVER_LABEL = 64,
	RECEIVER_TARGET = 1024,
	RECEIVER_REASON = 160,
	DELIVERY_S = 10,
	RECEIVER_ENDS_S = 30,
	COMMAND_EVERY_MS = 1000, /* of a command: from one start to the next */
};

enum receiver_kind { RECEIVER_COMMAND, RECEIVER_POST, RECEIVER_INFORM };

struct alarm_receiver {
	enum receiver_kind kind;
	char label[RECEIVER_LABEL];   /* for messages: its option */
	char target[RECEIVER_TARGET]; /* a path, a URL, or ADDRESS:PORT */
	struct poll_credentials as;   /* RECEIVER_INFORM */
};

/* What the process says on its socket of each struct alarm_fact that it is sent there. */
struct receiver_answer {
	bool is_taken;
	char reason[RECEIVER_REASON]; /* printable; "": taken, or not known */
};

/* Begins the process. *fd: the collector's end of the socket, each call on which takes a struct alarm_fact or gives a
 * struct receiver_answer; another fact may be sent once the one before is answered. user: as whom it works, "" as we do. 0,
 * or -errno; -ENOENT: there is no user nobody, and nothing is run as root. */
int receiver_start(const struct alarm_receiver *receiver, int *fd, char user[PRIVILEGE_NAME]);

/* Closes the socket, and waits until the process has ended, RECEIVER_ENDS_S seconds at most. */
void receiver_stop(int fd);

#endif
