/*
 * Several threads at the sockets, for one thread that keeps the books. Whoever has the turn reads
 * one batch of datagrams, numbers it and passes the turn on before decoding, so that one busy
 * sender keeps all of them at work; and the books get the batches by their numbers, in the order
 * in which the kernel gave them. So neither duplicates, nor reordering, nor what sFlow remembers
 * can come out otherwise than with one thread, which sockets of their own for each thread could
 * not promise: a thread that sleeps for ten milliseconds at 400,000 a second would make samples
 * too late to be told from duplicates.
 *
 * Blocks of datagrams and records go to and fro in rings without a lock. Each thread has
 * CREW_BLOCKS; while the books have them all it reads no more (input.books_behind), and the
 * kernel's buffer is the queue. What needs memory of what came before (sFlow, the slow way) is
 * left to the books. Waiting for the turn is what a thread does that has nothing to do.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H
#define EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H

#include "collector/input/admission.h"
#include "collector/input/receive.h"

enum {
	CREW_MAX = 16,
	/* One being filled, one with the books, two on their way: 256 datagrams a thread. */
	CREW_BLOCKS = 4,
	/* Records of a block: 64 notifications of 1,400 octets have some 600. Beyond, the books
	 * decode what is left themselves. */
	CREW_RECORDS = 1024,
};

enum crew_kind {
	CREW_REFUSED, /* counted by its reason already */
	CREW_RECORDS_READY,
	CREW_ASIDE,
	CREW_SFLOW, /* not looked into */
	CREW_WHOLE, /* a notification not looked into */
};

struct crew_datagram {
	enum crew_kind kind;
	const struct sockaddr *from;
	const void *octets;
	size_t n;
	const struct ease_record *records;
	size_t n_records, n_ignored;
	char sender[ENDPOINT_TEXT];
};

struct crew_block {
	uint64_t number; /* 0, 1, 2, … over all threads */
	unsigned thread;
	int fd; /* socket that it came by */
	bool is_sflow;
	uint64_t received_us;
	size_t oversize;
	size_t n, n_records;
	struct crew_datagram datagrams[RECEIVE_BATCH];
	struct ease_record records[CREW_RECORDS];
	struct receive_batch *batch;
};

struct crew;

/* Octets that a crew of so many threads takes. */
uint64_t crew_memory(unsigned threads);

/* Starts the threads; receivers, which do not merge, may be NULL, the rest is borrowed; the share
 * is theirs until crew_stop. 0 or -errno. */
int crew_start(struct crew **out, unsigned threads, struct receiver *receiver,
    struct receiver *sflow_receiver, struct share *share, const struct input_config *config,
    const struct stat_set *stats);

/* Between these no thread looks into a datagram or at what may be sent. */
void crew_pause(struct crew *c);
void crew_resume(struct crew *c);

/* Ends the threads; what they have read can still be taken. */
void crew_stop(struct crew *c);
void crew_free(struct crew *c); /* stops, too; NULL is fine */

/* The next block, the caller's until crew_done; NULL if there is none yet. Never waits. */
struct crew_block *crew_take(struct crew *c);
void crew_done(struct crew *c, struct crew_block *block);

/* To wait for blocks: crew_sleep says that the caller is about to poll crew_fd, or returns false if
 * there is something to take already. crew_awake after the poll. */
int crew_fd(const struct crew *c);
bool crew_sleep(struct crew *c);
void crew_awake(struct crew *c);

#endif
