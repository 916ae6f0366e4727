#include "collector/input/receiver_threads.h"
#include "collector/input/admission.h"
#include "common/log.h"
#include "common/spsc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ROOM "input"

enum { PAUSE_POLL_US = 100 };

_Static_assert((int)RECEIVER_THREAD_BLOCKS <= (int)SPSC_ITEMS,
    "a ring holds all blocks of a thread, so it is never full");

struct receiver_thread {
	struct receiver_threads *owner;
	pthread_t thread;
	struct spsc full, empty; /* blocks to the consumer, and back */
	sem_t n_empty;		 /* blocks in empty */
	struct admission *admission;
	atomic_bool working; /* it decodes, or reads the allow-list */
	struct received_block *blocks[RECEIVER_THREAD_BLOCKS];
};

struct receiver_threads {
	const struct input_config *config;
	const struct stat_set *stats;
	struct pollfd polls[2 * RECEIVE_SOCKETS_MAX + 1]; /* the last one: stop_fd */
	struct source {
		struct receiver *receiver;
		size_t socket;
		bool is_sflow;
	} sources[2 * RECEIVE_SOCKETS_MAX];
	size_t n_sources;
	int stop_fd;
	atomic_bool stopping, paused;
	sem_t turn;	      /* 1: no thread has it */
	/* Used only by the thread that has the turn. */
	struct fair_share *share;
	size_t next_source;
	uint64_t next_number;
	int ready_fd;
	atomic_bool consumer_asleep;
	uint64_t next_taken; /* used only by the consumer */
	unsigned n_threads, n_started;
	struct receiver_thread threads[RECEIVER_THREADS_MAX];
};

uint64_t
receiver_threads_memory(unsigned threads)
{
	uint64_t block = sizeof(struct received_block) + receive_batch_memory(false);

	return threads * (admission_memory() + RECEIVER_THREAD_BLOCKS * block);
}

/* Decoding */

struct decoding {
	struct admission *admission;
	struct received_block *block;
	const char *listener;
};

static enum received_kind
threads_keep_records(struct received_block *b, const struct decode_result *result, struct received_datagram *d)
{
	struct ease_record *records = &b->records[b->n_records];

	if (result->n > RECEIVED_BLOCK_RECORDS - b->n_records)
		return RECEIVED_UNDECODED;
	memcpy(records, result->records, result->n * sizeof(*records));
	for (size_t i = 0; i < result->n; i++)
		records[i].sender = d->sender;
	d->records = records;
	d->n_records = result->n;
	d->n_ignored = result->n_ignored;
	b->n_records += result->n;
	return RECEIVED_RECORDS;
}

static enum received_kind
decode_datagram(struct decoding *f, struct received_datagram *d)
{
	const struct decode_origin origin = {
	    .sender = d->sender,
	    .listener = f->listener,
	    .received_us = f->block->received_us,
	};

	if (!admission_allows(f->admission, d->from, &origin))
		return RECEIVED_REFUSED;
	if (f->block->is_sflow)
		return RECEIVED_SFLOW;
	switch (admission_decode(f->admission, d->octets, d->n, &origin)) {
	case ADMISSION_RECORDS:
		return threads_keep_records(f->block, admission_result(f->admission), d);
	case ADMISSION_SLOW_PATH:
		return RECEIVED_SLOW_PATH;
	case ADMISSION_REFUSED:
		break;
	}
	return RECEIVED_REFUSED;
}

static void
add_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	struct decoding *f = arg;
	struct received_datagram *d = &f->block->datagrams[f->block->n++];

	d->from = from;
	d->octets = octets;
	d->n = n;
	memcpy(d->sender, admission_sender(f->admission, from), sizeof(d->sender));
	d->kind = decode_datagram(f, d);
}

/* Receiving */

/* Either this sees the pause, or receiver_threads_pause sees that this works. */
static void
begin_work(struct receiver_thread *m)
{
	atomic_store(&m->working, true);
	while (atomic_load(&m->owner->paused)) {
		atomic_store(&m->working, false);
		while (atomic_load(&m->owner->paused))
			usleep(PAUSE_POLL_US);
		atomic_store(&m->working, true);
	}
}

static void
end_work(struct receiver_thread *m)
{
	atomic_store(&m->working, false);
}

/* Reads once from the next socket that has datagrams; false if none has. Needs the turn. */
static bool
read_once(struct receiver_threads *c, struct receiver_thread *m, struct received_block *b)
{
	for (size_t k = 0; k < c->n_sources; k++) {
		size_t at = (c->next_source + k) % c->n_sources;
		const struct source *source = &c->sources[at];
		int n = receiver_fill(source->receiver, source->socket, b->batch);

		if (n < 0) {
			stat_add(c->stats, INPUT_STAT_READ_ERRORS, 1);
			log_warn_limited(ROOM, "cannot read from a socket: %s", strerror(-n));
		}
		if (n <= 0)
			continue;
		begin_work(m);
		admission_limit_senders(m->admission, c->share, source->receiver, source->socket, b->batch);
		end_work(m);
		b->number = c->next_number++;
		b->received_us = clock_wall_us(c->config->clock);
		b->fd = c->polls[at].fd;
		b->is_sflow = source->is_sflow;
		c->next_source = at + 1;
		return true;
	}
	return false;
}

/* Waits for the turn and for datagrams; false when stopping. */
static bool
receive_block(struct receiver_threads *c, struct receiver_thread *m, struct received_block *b)
{
	bool got = false;

	while (sem_wait(&c->turn) < 0)
		;
	while (!atomic_load(&c->stopping) && !(got = read_once(c, m, b)))
		poll(c->polls, c->n_sources + 1, -1);
	sem_post(&c->turn);
	return got;
}

/* Waits for an empty block; NULL when stopping. */
static struct received_block *
wait_for_block(struct receiver_thread *m)
{
	if (sem_trywait(&m->n_empty) < 0) {
		stat_add(m->owner->stats, INPUT_STAT_ACCOUNTING_BEHIND, 1);
		while (sem_wait(&m->n_empty) < 0)
			;
	}
	return atomic_load(&m->owner->stopping) ? NULL : spsc_take(&m->empty);
}

static void
threads_hand_over(struct receiver_thread *m, struct received_block *b)
{
	static const uint64_t one = 1;
	struct receiver_threads *c = m->owner;

	spsc_put(&m->full, b);
	if (atomic_exchange(&c->consumer_asleep, false) && write(c->ready_fd, &one, sizeof(one)) < 0)
		log_warn_limited(ROOM, "cannot wake the accounting thread: %s", strerror(errno));
}

static void *
serve_blocks(void *arg)
{
	struct receiver_thread *m = arg;
	struct received_block *b;

	while ((b = wait_for_block(m)) != NULL && receive_block(m->owner, m, b)) {
		struct decoding f = {m->admission, b,
		    admission_listener(m->admission, b->fd)};

		b->n = b->n_records = 0;
		begin_work(m);
		b->oversize = receive_each(b->batch, add_datagram, &f);
		end_work(m);
		threads_hand_over(m, b);
	}
	return NULL;
}

/* Starting and stopping */

static void
threads_add_sources(struct receiver_threads *c, struct receiver *receiver, bool is_sflow)
{
	for (size_t i = 0; receiver && i < receiver_sockets(receiver); i++) {
		c->sources[c->n_sources] = (struct source){receiver, i, is_sflow};
		c->polls[c->n_sources++] = (struct pollfd){
		    .fd = receiver_fd(receiver, i), .events = POLLIN};
	}
}

static int
make_block(struct receiver_thread *m, unsigned i)
{
	struct received_block *b = malloc(sizeof(*b));

	m->blocks[i] = b;
	if (!b)
		return -ENOMEM;
	memset(b, 0xff, sizeof(*b)); /* for its page faults, see receive_batch_new */
	b->thread = (unsigned)(m - m->owner->threads);
	b->batch = NULL;
	spsc_put(&m->empty, b);
	return receive_batch_new(&b->batch, false);
}

static int
make_thread(struct receiver_threads *c, struct receiver_thread *m)
{
	int r = admission_new(&m->admission, c->config, c->stats);

	m->owner = c;
	sem_init(&m->n_empty, 0, RECEIVER_THREAD_BLOCKS);
	for (unsigned i = 0; r == 0 && i < RECEIVER_THREAD_BLOCKS; i++)
		r = make_block(m, i);
	return r;
}

static int
start_thread(struct receiver_threads *c, struct receiver_thread *m)
{
	char name[16];
	int r = -pthread_create(&m->thread, NULL, serve_blocks, m);

	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "receive-%u", ++c->n_started);
	pthread_setname_np(m->thread, name);
	return 0;
}

int
receiver_threads_start(struct receiver_threads **out, unsigned threads, struct receiver *receiver,
    struct receiver *sflow_receiver, struct fair_share *share, const struct input_config *config,
    const struct stat_set *stats)
{
	struct receiver_threads *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	c->config = config;
	c->share = share;
	c->stats = stats;
	c->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->ready_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	sem_init(&c->turn, 0, 1);
	if (c->stop_fd < 0 || c->ready_fd < 0)
		r = -errno;
	threads_add_sources(c, receiver, false);
	threads_add_sources(c, sflow_receiver, true);
	c->polls[c->n_sources] = (struct pollfd){.fd = c->stop_fd, .events = POLLIN};
	for (; r == 0 && c->n_threads < threads; c->n_threads++)
		r = make_thread(c, &c->threads[c->n_threads]);
	for (unsigned i = 0; r == 0 && i < threads; i++)
		r = start_thread(c, &c->threads[i]);
	if (r < 0) {
		receiver_threads_free(c);
		return r;
	}
	*out = c;
	return 0;
}

void
receiver_threads_pause(struct receiver_threads *c)
{
	atomic_store(&c->paused, true);
	for (size_t i = 0; i < c->n_threads; i++)
		while (atomic_load(&c->threads[i].working))
			usleep(PAUSE_POLL_US);
}

void
receiver_threads_resume(struct receiver_threads *c)
{
	atomic_store(&c->paused, false);
}

void
receiver_threads_stop(struct receiver_threads *c)
{
	static const uint64_t one = 1;

	atomic_store(&c->stopping, true);
	if (write(c->stop_fd, &one, sizeof(one)) < 0)
		log_error(ROOM, "cannot stop the receiver threads: %s", strerror(errno));
	for (unsigned i = 0; i < c->n_started; i++)
		sem_post(&c->threads[i].n_empty);
	for (unsigned i = 0; i < c->n_started; i++)
		pthread_join(c->threads[i].thread, NULL);
	c->n_started = 0;
}

static void
free_thread(struct receiver_thread *m)
{
	for (unsigned i = 0; i < RECEIVER_THREAD_BLOCKS && m->blocks[i]; i++) {
		receive_batch_free(m->blocks[i]->batch);
		free(m->blocks[i]);
	}
	sem_destroy(&m->n_empty);
	admission_free(m->admission);
}

void
receiver_threads_free(struct receiver_threads *c)
{
	if (!c)
		return;
	receiver_threads_stop(c);
	for (unsigned i = 0; i < c->n_threads; i++)
		free_thread(&c->threads[i]);
	sem_destroy(&c->turn);
	if (c->ready_fd >= 0)
		close(c->ready_fd);
	if (c->stop_fd >= 0)
		close(c->stop_fd);
	free(c);
}

/* For the consumer */

/* The thread whose ring begins with the next block; NULL if that block is not ready. */
static struct receiver_thread *
thread_with_next(struct receiver_threads *c)
{
	for (unsigned i = 0; i < c->n_threads; i++) {
		const struct received_block *b = spsc_first(&c->threads[i].full);

		if (b && b->number == c->next_taken)
			return &c->threads[i];
	}
	return NULL;
}

struct received_block *
receiver_threads_take(struct receiver_threads *c)
{
	struct receiver_thread *m = thread_with_next(c);

	if (!m)
		return NULL;
	c->next_taken++;
	return spsc_take(&m->full);
}

void
receiver_threads_done(struct receiver_threads *c, struct received_block *block)
{
	struct receiver_thread *m = &c->threads[block->thread];

	spsc_put(&m->empty, block);
	sem_post(&m->n_empty);
}

int
receiver_threads_fd(const struct receiver_threads *c)
{
	return c->ready_fd;
}

bool
receiver_threads_sleep(struct receiver_threads *c)
{
	atomic_store(&c->consumer_asleep, true);
	if (!thread_with_next(c))
		return true;
	atomic_store(&c->consumer_asleep, false);
	return false;
}

void
receiver_threads_awake(struct receiver_threads *c)
{
	uint64_t events;

	atomic_store(&c->consumer_asleep, false);
	if (read(c->ready_fd, &events, sizeof(events)) < 0 && errno != EAGAIN)
		log_warn_limited(ROOM, "cannot read the wake-up event: %s", strerror(errno));
}
