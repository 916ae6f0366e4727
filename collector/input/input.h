/*
 * The way in: notifications and sFlow datagrams from the sockets, checked for who sends them,
 * decoded, and given as records to one sink. What is refused is counted by its reason and logged
 * at a limited rate, and nothing of it goes further. Reading never waits; the caller polls. With
 * several threads they read and decode (crew.h), and what calls the sink is still the one thread
 * that calls input_read, with the records in the order in which the datagrams came.
 */
#ifndef EASE_COLLECTOR_INPUT_INPUT_H
#define EASE_COLLECTOR_INPUT_INPUT_H

#include "collector/input/receive.h"
#include "collector/input/sflow_input.h"
#include "collector/input/slow_path.h"
#include "collector/record.h"
#include "common/clock.h"
#include "common/stat.h"

struct input;

enum { INPUT_POLLS_MAX = 2 * RECEIVE_SOCKETS_MAX };

enum input_stat_id {
	INPUT_STAT_DATAGRAMS,
	INPUT_STAT_NOTIFICATIONS,
	INPUT_STAT_RECORDS,
	INPUT_STAT_IGNORED_VARBINDS,
	INPUT_STAT_KERNEL_DROPS,
	INPUT_STAT_REFUSED_SENDER,
	INPUT_STAT_REFUSED_OVERSIZE,
	INPUT_STAT_REFUSED_PARSE,
	INPUT_STAT_REFUSED_VERSION,
	INPUT_STAT_REFUSED_COMMUNITY,
	INPUT_STAT_REFUSED_PDU,
	INPUT_STAT_REFUSED_FOREIGN,
	INPUT_STAT_REFUSED_VALUE,
	INPUT_STAT_REFUSED_PARTS,
	INPUT_STAT_REFUSED_TOO_MANY,
	INPUT_STAT_OVER_SHARE,
	INPUT_STAT_READ_ERRORS,
	INPUT_STAT_ACCOUNTING_BEHIND,
	INPUT_N_STATS,
};

/* Everything is borrowed as long as the input lives. */
struct input_config {
	const struct endpoint *listen;
	size_t n_listen; /* 0: no sockets, input_take only */
	const struct endpoint *sflow_listen;
	size_t n_sflow_listen; /* 0: no sFlow from the network, input_take_sflow only */
	sflow_known_boot *known_boot; /* may be NULL; called with sink_arg */
	uint64_t seed; /* of hashes that strangers must not foresee */
	const struct prefix *senders;
	size_t n_senders; /* 0: nobody may send */
	const char *const *communities;
	size_t n_communities; /* 0: none is right */
	unsigned allowed_since; /* the input's own: how often input_allow was called */
	size_t buffer_octets;
	unsigned threads; /* that receive and decode; up to 1: the caller's */
	const struct clock *clock;
	ease_record_sink *sink;
	void *sink_arg;
	struct slow_path *slow_path; /* takes v3, informs and events; NULL: they are refused */
};

/* Opens the sockets. 0, or -errno with the reason in error. */
int input_open(struct input **out, const struct input_config *config, char *error,
    size_t error_size);

/* Starts the other threads, if there are to be any. 0 or -errno. */
int input_start(struct input *in);
void input_close(struct input *in);

/* The sockets, for poll and for saying where we listen. NULL if there are none. */
const struct receiver *input_receiver(const struct input *in);
const struct receiver *input_sflow_receiver(const struct input *in);

/* Octets that the way in takes with so many threads. */
uint64_t input_memory(unsigned threads);

/* Reads one batch of each socket, or takes one that another thread has read; the datagrams in it.
 * Call again while it gives many. */
size_t input_read(struct input *in);

/* To wait for datagrams: what to poll, how many. Before the poll input_sleep, and if that is false
 * there is something to read already; after it input_awake. */
size_t input_polls(const struct input *in, struct pollfd polls[static INPUT_POLLS_MAX]);
bool input_sleep(struct input *in);
void input_awake(struct input *in);

/* Ends the other threads, if there are any; from then on input_read gives what they have read and
 * then reads the sockets itself, until nothing is left. */
void input_stop(struct input *in);

/* Other senders and communities from now on, borrowed as before; the former ones are in nobody's
 * use any more when it returns, which takes as long as a batch at most. */
void input_allow(struct input *in, const struct prefix *senders, size_t n_senders,
    const char *const *communities, size_t n_communities);

/* Adds what the kernel dropped since the last call to input.kernel_drops. */
void input_count_drops(struct input *in);

/* One datagram from anywhere: what input_read does with each. */
void input_take(struct input *in, const struct sockaddr *from, const void *octets, size_t n);
void input_take_sflow(struct input *in, const struct sockaddr *from, const void *octets, size_t n);

const struct stat_set *input_stats(const struct input *in);

/* What sFlow says of itself; datagrams, refused senders and records are in input_stats too. */
const struct stat_set *input_sflow_stats(const struct input *in);

#endif
