/*
 * The way in: notifications and sFlow datagrams from the sockets, checked for who sends them,
 * decoded, and given as records to one sink. What is refused is counted by its reason and logged
 * at a limited rate, and nothing of it goes further. Reading never waits; the caller polls. With
 * several threads they read and decode (crew.h), and what calls the sink is still the one thread
 * that calls input_read, with the records in the order in which the datagrams came.
 */
#ifndef EASE_COLLECTOR_INPUT_INPUT_H
#define EASE_COLLECTOR_INPUT_INPUT_H

#include "collector/input/input_config.h"
#include "collector/input/receive.h"

struct input;

enum { INPUT_POLLS_MAX = 2 * RECEIVE_SOCKETS_MAX };

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
