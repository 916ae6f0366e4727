/*
 * Reads notifications and sFlow datagrams from the sockets, checks their senders, decodes them and
 * passes the records to one sink. Each refused datagram is counted by its reason and logged at a
 * limited rate, and nothing of it is passed on. Reading never waits; the caller polls.
 *
 * If there are receiver threads (receiver_threads.h), they read and decode. The sink is still
 * called only by the thread that calls input_read, with the records in the order in which the
 * datagrams arrived.
 */
#ifndef EASE_COLLECTOR_INPUT_INPUT_H
#define EASE_COLLECTOR_INPUT_INPUT_H

#include "collector/input/input_config.h"
#include "collector/input/receive.h"
#include "collector/input/sflow_state.h"
#include "collector/polled.h"

struct input;

enum { INPUT_POLLS_MAX = 2 * RECEIVE_SOCKETS_MAX };

/* Opens the sockets. 0, or -errno with the reason in error. */
int input_open(struct input **out, const struct input_config *config, char *error, size_t error_size);

/* Starts the receiver threads, if the configuration wants any. 0 or -errno. */
int input_start(struct input *in);
void input_close(struct input *in);

/* The sockets, to poll them and to log their addresses. NULL if there are none. */
const struct receiver *input_receiver(const struct input *in);
const struct receiver *input_sflow_receiver(const struct input *in);

/* Octets of memory that the input takes with so many threads. */
uint64_t input_memory(unsigned threads);

/* Reads one batch from each socket, or takes one that a receiver thread has read, and passes its
 * records on. Returns the number of datagrams; the caller calls again while there are many. */
size_t input_read(struct input *in);

/* To wait for datagrams: fills polls and returns their number. Call input_sleep before the poll; if
 * it returns false, there is something to read already. Call input_awake after the poll. */
size_t input_polls(const struct input *in, struct pollfd polls[static INPUT_POLLS_MAX]);
bool input_sleep(struct input *in);
void input_awake(struct input *in);

/* Ends the receiver threads, if there are any. From then on input_read takes what they have read,
 * and then reads the sockets itself until nothing is left. */
void input_stop(struct input *in);

/* Changes the allow-list and the communities, which are borrowed as before. When it returns, no
 * thread uses the old ones any more; that takes at most as long as one batch. */
void input_allow(struct input *in, const struct prefix *senders, size_t n_senders,
    const char *const *communities, size_t n_communities);

/* Has it asked anew who may speak for each sFlow agent, because the rules changed. */
void input_forget_sources(struct input *in);

/* The wall clock was set forward by so much, to now_us. */
void input_clock_set(struct input *in, int64_t by_us, uint64_t now_us);

/* Adds the datagrams that the kernel dropped since the last call to input.kernel_drops. */
void input_count_drops(struct input *in);

/* Handles one datagram that was not read from a socket, as input_read does each. */
void input_take(struct input *in, const struct sockaddr *from, const void *octets, size_t n);
void input_take_sflow(struct input *in, const struct sockaddr *from, const void *octets, size_t n);

/* Of what the collector asks switches itself (collector/polled.h). Tells of the port at a place, of INPUT_PLACES; false:
 * none is there that may be asked. And takes what was answered of one, which goes to the sink; false: it is not there
 * any more. */
enum { INPUT_PLACES = SFLOW_MAX_PORTS, INPUT_AGENT_PLACES = SFLOW_MAX_AGENTS };
bool input_place(const struct input *in, uint32_t place, struct polled_place *to);
bool input_take_polled(struct input *in, const struct polled_port *polled);

/* Fills in the id of such an agent; false: it is not there any more. */
bool input_agent_of(const struct input *in, const struct polled_agent *polled, uint8_t id[EASE_AGENT_ID_LEN]);

const struct stat_set *input_stats(const struct input *in);

/* The counters of sFlow; input_stats counts its datagrams, refused senders and records, too. */
const struct stat_set *input_sflow_stats(const struct input *in);
const struct stat_set *input_sflow_unread_stats(const struct input *in);

#endif
