#include "collector/input/input.h"
#include "collector/input/admission.h"
#include "collector/input/receiver_threads.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "input"

static const struct stat_name stat_names[INPUT_N_STATS] = {
    [INPUT_STAT_DATAGRAMS] = {"input.datagrams", "datagrams read"},
    [INPUT_STAT_NOTIFICATIONS] = {"input.notifications", "notifications accepted"},
    [INPUT_STAT_RECORDS] = {"input.records", "samples, counter snapshots and other parts accepted"},
    [INPUT_STAT_IGNORED_VARBINDS] = {"input.ignored_varbinds",
	"variable bindings skipped: of other MIBs, or newer than this program"},
    [INPUT_STAT_KERNEL_DROPS] = {"input.kernel_drops",
	"datagrams lost because a socket's buffer was full"},
    [INPUT_STAT_REFUSED_SENDER] = {"input.refused_sender",
	"datagrams from addresses that are not in senders"},
    [INPUT_STAT_REFUSED_OVERSIZE] = {"input.refused_oversize",
	"datagrams longer than 9,216 octets"},
    [INPUT_STAT_REFUSED_PARSE] = {"input.refused_parse",
	"datagrams that are not valid SNMP messages"},
    [INPUT_STAT_REFUSED_VERSION] = {"input.refused_version",
	"messages of SNMPv1, or of SNMPv3 while no user is configured"},
    [INPUT_STAT_REFUSED_COMMUNITY] = {"input.refused_community",
	"messages with a community that is not in communities"},
    [INPUT_STAT_REFUSED_PDU] = {"input.refused_pdu", "messages that are neither trap nor inform"},
    [INPUT_STAT_IGNORED_NOTIFICATIONS] = {"input.ignored_notifications",
	"notifications that the collector does not store, as coldStart"},
    [INPUT_STAT_REFUSED_VALUE] = {"input.refused_value",
	"notifications with a value that breaks EASE-SAMPLING-MIB"},
    [INPUT_STAT_REFUSED_PARTS] = {"input.refused_parts",
	"notifications whose parts are missing or of another kind"},
    [INPUT_STAT_REFUSED_TOO_MANY] = {"input.refused_too_many", "notifications with too many parts"},
    [INPUT_STAT_OVER_SHARE] = {"input.over_share",
	"datagrams dropped unread in an overload, because their sender exceeded its fair share"},
    [INPUT_STAT_READ_ERRORS] = {"input.read_errors", "failed reads of a socket"},
    [INPUT_STAT_ACCOUNTING_BEHIND] = {"input.accounting_behind",
	"times a receiver thread waited because accounting was behind"},
    [INPUT_STAT_REFUSED_UNNAMED] = {"input.refused_unnamed",
	"refused datagrams that the list in `agents` does not have: too many came at once, or of too many addresses"},
};

struct input {
	struct input_config config;
	struct receiver *receiver, *sflow_receiver;
	struct receive_batch *batch;
	struct admission *admission;
	struct fair_share *share; /* used by the thread that reads */
	struct receiver_threads *threads; /* NULL: the caller's thread reads */
	bool threads_stopped;
	struct sflow_input *sflow;
	/* The current read: its socket (-1: none), when it was, and its datagrams so far. */
	int reading_fd;
	uint64_t read_us;
	size_t n_read;
	struct stat_set stats;
	_Atomic uint64_t values[INPUT_N_STATS];
};

/* A block of a receiver thread has room for one datagram a message, and several threads share the
 * kernel's work on each message anyway, so they do not merge. */
static bool
reads_merged(unsigned threads)
{
	return threads <= 1;
}

static int
open_receivers(struct input *in, char *error, size_t error_size)
{
	const struct input_config *c = &in->config;
	bool merged = reads_merged(c->threads);
	int r = 0;

	if (c->n_listen > 0)
		r = receiver_open(&in->receiver, c->listen, c->n_listen, c->buffer_octets, merged, error, error_size);
	if (r == 0 && c->n_sflow_listen > 0)
		r = receiver_open(&in->sflow_receiver, c->sflow_listen, c->n_sflow_listen,
		    c->buffer_octets, merged, error, error_size);
	return r;
}

static int
input_make_parts(struct input *in)
{
	const struct input_config *c = &in->config;
	int r = sflow_input_new(&in->sflow, c->seed, &c->accounting);

	if (r == 0)
		r = fair_share_new(&in->share, c->seed);
	if (r == 0)
		r = admission_new(&in->admission, c, &in->stats);
	if (r == 0)
		r = receive_batch_new(&in->batch, reads_merged(c->threads));
	return r;
}

int
input_start(struct input *in)
{
	const struct input_config *c = &in->config;

	if (c->threads <= 1 || (!in->receiver && !in->sflow_receiver))
		return 0;
	return receiver_threads_start(&in->threads, c->threads, in->receiver, in->sflow_receiver,
	    in->share, c, &in->stats);
}

int
input_open(struct input **out, const struct input_config *config, char *error, size_t error_size)
{
	struct input *in = calloc(1, sizeof(*in));
	int r;

	if (!in) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	in->config = *config;
	in->reading_fd = -1;
	in->stats = (struct stat_set){stat_names, INPUT_N_STATS, in->values};
	r = open_receivers(in, error, error_size);
	if (r == 0) {
		r = input_make_parts(in);
		if (r < 0)
			snprintf(error, error_size, "cannot set up the input: %s", strerror(-r));
	}
	if (r < 0) {
		input_close(in);
		return r;
	}
	*out = in;
	return 0;
}

void
input_close(struct input *in)
{
	if (!in)
		return;
	receiver_threads_free(in->threads);
	receiver_close(in->receiver);
	receiver_close(in->sflow_receiver);
	receive_batch_free(in->batch);
	admission_free(in->admission);
	fair_share_free(in->share);
	sflow_input_free(in->sflow);
	free(in);
}

uint64_t
input_memory(unsigned threads)
{
	return admission_memory() + receive_batch_memory(reads_merged(threads)) +
	    (threads > 1 ? receiver_threads_memory(threads) : 0);
}

const struct receiver *
input_receiver(const struct input *in)
{
	return in->receiver;
}

const struct receiver *
input_sflow_receiver(const struct input *in)
{
	return in->sflow_receiver;
}

const struct stat_set *
input_sflow_stats(const struct input *in)
{
	return sflow_input_stats(in->sflow);
}

const struct stat_set *
input_sflow_unread_stats(const struct input *in)
{
	return sflow_input_unread_stats(in->sflow);
}

const struct stat_set *
input_stats(const struct input *in)
{
	return &in->stats;
}

/* One datagram */

static void
pass_on(struct input *in, const struct ease_record *records, size_t n)
{
	stat_add_own(&in->stats, INPUT_STAT_RECORDS, n);
	in->config.sink(in->config.sink_arg, records, n);
}

static void
pass_on_notification(struct input *in, const struct ease_record *records, size_t n, size_t n_ignored)
{
	stat_add_own(&in->stats, INPUT_STAT_NOTIFICATIONS, 1);
	stat_add_own(&in->stats, INPUT_STAT_IGNORED_VARBINDS, n_ignored);
	pass_on(in, records, n);
}

/* Handles a notification of an admitted sender. */
static void
take_notification(struct input *in, const struct sockaddr *from, const void *octets, size_t n,
    const struct decode_origin *origin)
{
	const struct decode_result *result = admission_result(in->admission);

	switch (admission_decode(in->admission, octets, n, origin)) {
	case ADMISSION_RECORDS:
		pass_on_notification(in, result->records, result->n, result->n_ignored);
		break;
	case ADMISSION_SLOW_PATH:
		slow_path_put(in->config.slow_path, from, in->reading_fd, octets, n);
		break;
	case ADMISSION_REFUSED:
		break;
	}
}

static void
take_sflow(struct input *in, const struct sockaddr *from, const void *octets, size_t n,
    const struct decode_origin *origin)
{
	struct decode_result *result = admission_result(in->admission);

	forward_put(in->config.forward, from, octets, n);
	sflow_input_take(in->sflow, octets, n, origin, result);
	if (sflow_input_refusal(in->sflow))
		refused_senders_note(in->config.refused, origin->sender, sflow_input_refusal(in->sflow),
		    origin->received_us);
	if (result->n > 0)
		pass_on(in, result->records, result->n);
}

/* True if the sender is allowed. */
static bool
admit_sender(const struct input *in, const struct sockaddr *from, struct decode_origin *origin)
{
	*origin = (struct decode_origin){
	    .sender = admission_sender(in->admission, from),
	    .listener = admission_listener(in->admission, in->reading_fd),
	    .received_us = in->read_us,
	};
	return admission_allows(in->admission, from, origin);
}

static void
input_take_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	struct decode_origin origin;
	struct input *in = arg;

	in->n_read++;
	if (admit_sender(in, from, &origin))
		take_notification(in, from, octets, n, &origin);
}

static void
take_sflow_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	struct decode_origin origin;
	struct input *in = arg;

	in->n_read++;
	if (admit_sender(in, from, &origin))
		take_sflow(in, from, octets, n, &origin);
}

/* Time and counts are taken once a read: for each datagram they would cost as much as its
 * decoding. */
static void
start_read(struct input *in)
{
	in->read_us = clock_wall_us(in->config.clock);
	in->n_read = 0;
}

static void
count_read(struct input *in, size_t n, size_t oversize)
{
	stat_add(&in->stats, INPUT_STAT_REFUSED_OVERSIZE, oversize);
	stat_add(&in->stats, INPUT_STAT_DATAGRAMS, n + oversize);
}

void
input_take(struct input *in, const struct sockaddr *from, const void *octets, size_t n)
{
	start_read(in);
	input_take_datagram(in, from, octets, n);
	count_read(in, 1, 0);
}

void
input_take_sflow(struct input *in, const struct sockaddr *from, const void *octets, size_t n)
{
	start_read(in);
	take_sflow_datagram(in, from, octets, n);
	count_read(in, 1, 0);
}

bool
input_place(const struct input *in, uint32_t place, struct polled_place *to)
{
	return sflow_input_place(in->sflow, place, clock_wall_us(in->config.clock), to);
}

bool
input_take_polled(struct input *in, const struct polled_port *polled)
{
	struct decode_result *result = admission_result(in->admission);

	if (!sflow_input_take_polled(in->sflow, polled, clock_wall_us(in->config.clock), result))
		return false;
	if (result->n > 0)
		pass_on(in, result->records, result->n);
	return true;
}

bool
input_agent_of(const struct input *in, const struct polled_agent *polled, uint8_t id[EASE_AGENT_ID_LEN])
{
	return sflow_input_agent_of(in->sflow, polled, id);
}

/* Reading */

static size_t
input_read_all(struct input *in, struct receiver *receiver, receive_fn *fn)
{
	size_t total = 0, oversize;

	for (size_t i = 0; receiver && i < receiver_sockets(receiver); i++) {
		int n = receiver_fill(receiver, i, in->batch);

		in->reading_fd = receiver_fd(receiver, i);
		if (n < 0) {
			stat_add(&in->stats, INPUT_STAT_READ_ERRORS, 1);
			log_warn_limited(ROOM, "cannot read from a socket: %s", strerror(-n));
			continue;
		}
		start_read(in);
		admission_limit_senders(in->admission, in->share, receiver, i, in->batch);
		oversize = receive_each(in->batch, fn, in);
		count_read(in, in->n_read, oversize);
		total += (size_t)n;
	}
	in->reading_fd = -1;
	return total;
}

/* Handles a datagram that a receiver thread read and, as far as it could, decoded. */
static void
take_received(struct input *in, const struct received_block *b, const struct received_datagram *d)
{
	const struct decode_origin origin = {
	    .sender = d->sender,
	    .listener = admission_listener(in->admission, b->fd),
	    .received_us = b->received_us,
	};

	switch (d->kind) {
	case RECEIVED_REFUSED:
		break;
	case RECEIVED_RECORDS:
		pass_on_notification(in, d->records, d->n_records, d->n_ignored);
		break;
	case RECEIVED_SLOW_PATH:
		slow_path_put(in->config.slow_path, d->from, b->fd, d->octets, d->n);
		break;
	case RECEIVED_SFLOW:
		take_sflow(in, d->from, d->octets, d->n, &origin);
		break;
	case RECEIVED_UNDECODED:
		in->reading_fd = b->fd;
		take_notification(in, d->from, d->octets, d->n, &origin);
		in->reading_fd = -1;
		break;
	}
}

static size_t
read_from_threads(struct input *in)
{
	struct received_block *b = receiver_threads_take(in->threads);
	size_t n;

	if (!b)
		return 0;
	n = b->n + b->oversize;
	for (size_t i = 0; i < b->n; i++)
		take_received(in, b, &b->datagrams[i]);
	count_read(in, b->n, b->oversize);
	receiver_threads_done(in->threads, b);
	return n;
}

size_t
input_read(struct input *in)
{
	size_t n = in->threads ? read_from_threads(in) : 0;

	if (in->threads && (n > 0 || !in->threads_stopped))
		return n;
	n = input_read_all(in, in->receiver, input_take_datagram);
	return n + input_read_all(in, in->sflow_receiver, take_sflow_datagram);
}

void
input_stop(struct input *in)
{
	if (!in->threads)
		return;
	receiver_threads_stop(in->threads);
	in->threads_stopped = true;
}

void
input_clock_set(struct input *in, int64_t by_us, uint64_t now_us)
{
	sflow_input_clock_set(in->sflow, by_us, now_us);
}

void
input_forget_sources(struct input *in)
{
	sflow_input_forget_sources(in->sflow);
}

void
input_allow(struct input *in, const struct prefix *senders, size_t n_senders,
    const char *const *communities, size_t n_communities)
{
	if (in->threads)
		receiver_threads_pause(in->threads);
	in->config.senders = senders;
	in->config.n_senders = n_senders;
	in->config.communities = communities;
	in->config.n_communities = n_communities;
	in->config.allowed_since++;
	if (in->threads)
		receiver_threads_resume(in->threads);
}

/* Waiting */

static size_t
fill_polls(const struct receiver *r, struct pollfd *polls)
{
	size_t n = 0;

	for (; r && n < receiver_sockets(r); n++)
		polls[n] = (struct pollfd){.fd = receiver_fd(r, n), .events = POLLIN};
	return n;
}

size_t
input_polls(const struct input *in, struct pollfd polls[static INPUT_POLLS_MAX])
{
	size_t n;

	if (in->threads) {
		polls[0] = (struct pollfd){
		    .fd = receiver_threads_fd(in->threads),
		    .events = POLLIN,
		};
		return 1;
	}
	n = fill_polls(in->receiver, polls);
	return n + fill_polls(in->sflow_receiver, polls + n);
}

bool
input_sleep(struct input *in)
{
	return !in->threads || receiver_threads_sleep(in->threads);
}

void
input_awake(struct input *in)
{
	if (in->threads)
		receiver_threads_awake(in->threads);
}

void
input_count_drops(struct input *in)
{
	uint64_t drops = 0;

	if (in->receiver)
		drops += receiver_drops(in->receiver);
	if (in->sflow_receiver)
		drops += receiver_drops(in->sflow_receiver);
	if (drops == 0)
		return;
	stat_add(&in->stats, INPUT_STAT_KERNEL_DROPS, drops);
	log_warn_limited(ROOM, "the kernel dropped %llu datagrams, because a socket's buffer was "
			       "full; raise receive_buffer, or threads", (unsigned long long)drops);
}
