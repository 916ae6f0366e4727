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
 * RECEIVER_THREAD_BLOCKS; while the books have them all it reads no more (input.accounting_behind), and the
 * kernel's buffer is the queue. What needs memory of what came before (sFlow, the slow way) is
 * left to the books. Waiting for the turn is what a thread does that has nothing to do.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H
#define EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H

#include "collector/input/fair_share.h"
#include "collector/input/input_config.h"
#include "collector/input/receive.h"

enum {
	RECEIVER_THREADS_MAX = 16,
	/* One being filled, one with the books, two on their way: 256 datagrams a thread. */
	RECEIVER_THREAD_BLOCKS = 4,
	/* Records of a block: 64 notifications of 1,400 octets have some 600. Beyond, the books
	 * decode what is left themselves. */
	RECEIVED_BLOCK_RECORDS = 1024,
};

enum received_kind {
	RECEIVED_REFUSED, /* counted by its reason already */
	RECEIVED_RECORDS,
	RECEIVED_SLOW_PATH,
	RECEIVED_SFLOW, /* not looked into */
	RECEIVED_UNDECODED, /* a notification not looked into */
};

struct received_datagram {
	enum received_kind kind;
	const struct sockaddr *from;
	const void *octets;
	size_t n;
	const struct ease_record *records;
	size_t n_records, n_ignored;
	char sender[ENDPOINT_TEXT];
};

struct received_block {
	uint64_t number; /* 0, 1, 2, … over all threads */
	unsigned thread;
	int fd; /* socket that it came by */
	bool is_sflow;
	uint64_t received_us;
	size_t oversize;
	size_t n, n_records;
	struct received_datagram datagrams[RECEIVE_BATCH];
	struct ease_record records[RECEIVED_BLOCK_RECORDS];
	struct receive_batch *batch;
};

struct receiver_threads;

/* Octets that a crew of so many threads takes. */
uint64_t receiver_threads_memory(unsigned threads);

/* Starts the threads; receivers, which do not merge, may be NULL, the rest is borrowed; the share
 * is theirs until receiver_threads_stop. 0 or -errno. */
int receiver_threads_start(struct receiver_threads **out, unsigned threads, struct receiver *receiver,
    struct receiver *sflow_receiver, struct fair_share *share, const struct input_config *config,
    const struct stat_set *stats);

/* Between these no thread looks into a datagram or at what may be sent. */
void receiver_threads_pause(struct receiver_threads *c);
void receiver_threads_resume(struct receiver_threads *c);

/* Ends the threads; what they have read can still be taken. */
void receiver_threads_stop(struct receiver_threads *c);
void receiver_threads_free(struct receiver_threads *c); /* stops, too; NULL is fine */

/* The next block, the caller's until receiver_threads_done; NULL if there is none yet. Never waits. */
struct received_block *receiver_threads_take(struct receiver_threads *c);
void receiver_threads_done(struct receiver_threads *c, struct received_block *block);

/* To wait for blocks: receiver_threads_sleep says that the caller is about to poll receiver_threads_fd, or returns false if
 * there is something to take already. receiver_threads_awake after the poll. */
int receiver_threads_fd(const struct receiver_threads *c);
bool receiver_threads_sleep(struct receiver_threads *c);
void receiver_threads_awake(struct receiver_threads *c);

#endif
