/*
 * Decides what happens to each datagram: whether the allow-list admits its sender, whether it is a
 * notification that the fast path can decode, and if so, its records; else whether it goes to the
 * slow path or is refused. Refusals are counted and logged here.
 *
 * Each thread that decodes has a struct admission of its own, which caches decode templates and the
 * text of the last sender's address. It allocates nothing after admission_new.
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
	ADMISSION_SLOW_PATH,
};

size_t admission_memory(void); /* octets of one */

/* Both are borrowed; stats are those of enum input_stat_id. 0 or -ENOMEM. */
int admission_new(struct admission **out, const struct input_config *config, const struct stat_set *stats);
void admission_free(struct admission *a);

/* Text of an address without its port, valid until the next call. */
const char *admission_sender(struct admission *a, const struct sockaddr *from);

/* Text of the address that a socket listens at, valid until the next call; NULL for fd -1. */
const char *admission_listener(struct admission *a, int fd);

/* True if the allow-list holds the sender; origin describes it. */
bool admission_allows(const struct admission *a, const struct sockaddr *from, const struct decode_origin *origin);

/* Drops from a batch that was just read what its senders sent beyond their fair shares; counts and
 * logs that. Senders outside the allow-list have no share: admission_allows refuses them. */
void admission_limit_senders(struct admission *a, struct fair_share *share,
    const struct receiver *r, size_t socket, struct receive_batch *b);

/* Decodes a notification of an admitted sender. */
enum admission_verdict admission_decode(struct admission *a, const void *octets, size_t n,
    const struct decode_origin *origin);

/* The records of the last ADMISSION_RECORDS, valid until the next admission_decode. A caller that
 * decodes in another way may use it as its own memory. */
struct decode_result *admission_result(struct admission *a);

#endif
