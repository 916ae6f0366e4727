/*
 * One thread's gate: from a datagram to its verdict. May its sender send, is it a notification that
 * the fast way takes, and if so, its records; else whether it is for the slow way, or why it is
 * refused, which is counted and logged here. Each thread that decodes has a gate of its own, which
 * remembers shapes of messages and the last sender's text. Allocates nothing after admission_new.
 */
#ifndef EASE_COLLECTOR_INPUT_ADMISSION_H
#define EASE_COLLECTOR_INPUT_ADMISSION_H

#include "collector/input/fair_share.h"
#include "collector/input/input_config.h"
#include "collector/input/receive.h"

struct admission;

enum admission_verdict {
	ADMISSION_REFUSED,
	ADMISSION_RECORDS, /* admission_result() has them */
	ADMISSION_SLOW_PATH,   /* for the slow way */
};

size_t admission_memory(void); /* octets of one */

/* Both are borrowed; stats are those of enum input_stat_id. 0 or -ENOMEM. */
int admission_new(struct admission **out, const struct input_config *config, const struct stat_set *stats);
void admission_free(struct admission *g);

/* Text of an address without its port, until the next call. */
const char *admission_sender(struct admission *g, const struct sockaddr *from);

/* True if that sender, whose text it is, may send. */
bool admission_allows(const struct admission *g, const struct sockaddr *from, const char *sender);

/* Leaves out of what was just read of a socket what its senders have beyond their shares; counted
 * and told. Strangers have no share: they are refused by admission_allows. */
void admission_limit_senders(struct admission *g, struct fair_share *share, const struct receiver *r, size_t socket,
    struct receive_batch *b);

/* Looks into a notification of an admitted sender. */
enum admission_verdict admission_decode(struct admission *g, const void *octets, size_t n,
    const struct decode_origin *origin);

/* What the last ADMISSION_RECORDS gave, until the next call; also room for whoever decodes otherwise. */
struct decode_result *admission_result(struct admission *g);

#endif
