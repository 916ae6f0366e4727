/*
 * Several threads that receive and decode datagrams for one consumer, the thread that does the
 * accounting. The threads take turns: the one that has the turn reads one batch of datagrams,
 * numbers it, and passes the turn on before it decodes, so that even a single busy sender keeps all
 * of them at work. The consumer gets the batches by their numbers, in the order in which the kernel
 * delivered them. So duplicates, reordering and the state of sFlow agents come out as with one
 * thread. A socket for each thread could not promise that: if a thread slept for ten milliseconds
 * at 400,000 datagrams a second, its samples would be too late to be told from duplicates.
 *
 * Blocks of datagrams and records pass between the threads and the consumer in lock-free rings.
 * Each thread has RECEIVER_THREAD_BLOCKS of them; while the consumer has them all, the thread reads
 * no more (input.accounting_behind), and datagrams wait in the kernel's buffer. What depends on
 * earlier datagrams (sFlow, the slow path) is left to the consumer. An idle thread waits for the
 * turn.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H
#define EASE_COLLECTOR_INPUT_RECEIVER_THREADS_H

#include "collector/input/fair_share.h"
#include "collector/input/input_config.h"
#include "collector/input/receive.h"

enum {
	RECEIVER_THREADS_MAX = 16,
	/* One is being filled, one is with the consumer, two are in the rings: 256 datagrams a
	 * thread. */
	RECEIVER_THREAD_BLOCKS = 4,
	/* Records of a block: 64 notifications of 1,400 octets have some 600. What has no room,
	 * the consumer decodes. */
	RECEIVED_BLOCK_RECORDS = 1024,
};

enum received_kind {
	RECEIVED_REFUSED, /* counted already */
	RECEIVED_RECORDS,
	RECEIVED_SLOW_PATH,
	RECEIVED_SFLOW, /* not decoded yet */
	RECEIVED_UNDECODED, /* a notification whose records had no room */
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
	int fd; /* socket that it was read from */
	bool is_sflow;
	uint64_t received_us;
	size_t oversize;
	size_t n, n_records;
	struct received_datagram datagrams[RECEIVE_BATCH];
	struct ease_record records[RECEIVED_BLOCK_RECORDS];
	struct receive_batch *batch;
};

struct receiver_threads;

/* Octets of memory that so many threads take. */
uint64_t receiver_threads_memory(unsigned threads);

/* Starts the threads. Both receivers, which must not merge, may be NULL. All arguments are
 * borrowed; only the threads use share until receiver_threads_stop. 0 or -errno. */
int receiver_threads_start(struct receiver_threads **out, unsigned threads,
    struct receiver *receiver, struct receiver *sflow_receiver, struct fair_share *share,
    const struct input_config *config, const struct stat_set *stats);

/* Between these two no thread decodes a datagram or reads the allow-list. */
void receiver_threads_pause(struct receiver_threads *c);
void receiver_threads_resume(struct receiver_threads *c);

/* Ends the threads; the blocks that they have read can still be taken. */
void receiver_threads_stop(struct receiver_threads *c);
void receiver_threads_free(struct receiver_threads *c); /* also stops them; NULL is allowed */

/* The next block, which belongs to the caller until receiver_threads_done; NULL if there is none
 * yet. Never waits. */
struct received_block *receiver_threads_take(struct receiver_threads *c);
void receiver_threads_done(struct receiver_threads *c, struct received_block *block);

/* To wait for blocks: receiver_threads_sleep announces that the caller is about to poll
 * receiver_threads_fd, or returns false if there is a block already. Call receiver_threads_awake
 * after the poll. */
int receiver_threads_fd(const struct receiver_threads *c);
bool receiver_threads_sleep(struct receiver_threads *c);
void receiver_threads_awake(struct receiver_threads *c);

#endif
