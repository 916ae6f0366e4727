#include "collector/input/input.h"
#include "collector/input/decode.h"
#include "collector/input/shape.h"
#include "common/log.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "input"

static const struct stat_name stat_names[INPUT_N_STATS] = {
    [INPUT_STAT_DATAGRAMS] = {"input.datagrams", "datagrams read"},
    [INPUT_STAT_NOTIFICATIONS] = {"input.notifications", "notifications taken"},
    [INPUT_STAT_RECORDS] = {"input.records", "parts of notifications taken"},
    [INPUT_STAT_IGNORED_VARBINDS] = {"input.ignored_varbinds",
	"variable bindings stepped over: not ours, or newer than this program"},
    [INPUT_STAT_KERNEL_DROPS] = {"input.kernel_drops",
	"datagrams lost because a socket's buffer was full"},
    [INPUT_STAT_REFUSED_SENDER] = {"input.refused_sender", "datagrams of addresses not allowed"},
    [INPUT_STAT_REFUSED_OVERSIZE] = {"input.refused_oversize", "datagrams too long for us"},
    [INPUT_STAT_REFUSED_PARSE] = {"input.refused_parse", "datagrams that are no SNMP message"},
    [INPUT_STAT_REFUSED_VERSION] = {"input.refused_version",
	"messages of SNMPv1, or of SNMPv3 without users"},
    [INPUT_STAT_REFUSED_COMMUNITY] = {"input.refused_community",
	"messages of a community not allowed"},
    [INPUT_STAT_REFUSED_PDU] = {"input.refused_pdu", "messages that are neither trap nor inform"},
    [INPUT_STAT_REFUSED_FOREIGN] = {"input.refused_foreign", "notifications of other MIBs"},
    [INPUT_STAT_REFUSED_VALUE] = {"input.refused_value",
	"notifications with a value that is not as the MIB says"},
    [INPUT_STAT_REFUSED_PARTS] = {"input.refused_parts",
	"notifications with parts that their kind does not have"},
    [INPUT_STAT_REFUSED_TOO_MANY] = {"input.refused_too_many", "notifications with too many parts"},
    [INPUT_STAT_READ_ERRORS] = {"input.read_errors", "failed reads of a socket"},
};

/* How each verdict is counted and told. */
static const struct {
	enum input_stat_id stat;
	const char *why;
} refusals[DECODE_N_VERDICTS] = {
    [DECODE_BAD_PARSE] = {INPUT_STAT_REFUSED_PARSE, "not an SNMP notification"},
    [DECODE_BAD_CODING] = {INPUT_STAT_REFUSED_PARSE, "not encoded as RFC 3417 has it"},
    [DECODE_V3] = {INPUT_STAT_REFUSED_VERSION, "SNMPv3, and no user is configured"},
    [DECODE_INFORM] = {INPUT_STAT_REFUSED_PDU, "an inform"},
    [DECODE_EVENT] = {INPUT_STAT_REFUSED_FOREIGN, "an event"},
    [DECODE_BAD_VERSION] = {INPUT_STAT_REFUSED_VERSION, "neither SNMPv2c nor SNMPv3"},
    [DECODE_BAD_COMMUNITY] = {INPUT_STAT_REFUSED_COMMUNITY, "community not allowed"},
    [DECODE_BAD_PDU] = {INPUT_STAT_REFUSED_PDU, "neither trap nor inform"},
    [DECODE_FOREIGN] = {INPUT_STAT_REFUSED_FOREIGN, "a notification of another MIB"},
    [DECODE_BAD_VALUE] = {INPUT_STAT_REFUSED_VALUE, "a value is not as the MIB says"},
    [DECODE_BAD_PARTS] = {INPUT_STAT_REFUSED_PARTS, "parts missing or of another kind"},
    [DECODE_TOO_MANY] = {INPUT_STAT_REFUSED_TOO_MANY, "too many parts"},
};

struct input {
	struct input_config config;
	struct receiver *receiver, *sflow_receiver;
	struct sflow_input *sflow;
	int reading_fd; /* the socket a datagram comes by; -1: none */
	struct sockaddr_storage last_from; /* senders come in runs: its text is kept */
	char last_sender[ENDPOINT_TEXT];
	struct decode_result result;
	struct shapes shapes;
	struct stat_set stats;
	_Atomic uint64_t values[INPUT_N_STATS];
};

static int
open_receivers(struct input *in, char *error, size_t error_size)
{
	const struct input_config *c = &in->config;
	int r = 0;

	if (c->n_listen > 0)
		r = receiver_open(&in->receiver, c->listen, c->n_listen, c->buffer_octets, error,
		    error_size);
	if (r == 0 && c->n_sflow_listen > 0)
		r = receiver_open(&in->sflow_receiver, c->sflow_listen, c->n_sflow_listen,
		    c->buffer_octets, error, error_size);
	return r;
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
	if (r == 0 && sflow_input_new(&in->sflow, config->seed, config->known_boot,
			  config->sink_arg) < 0) {
		snprintf(error, error_size, "out of memory");
		r = -ENOMEM;
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
	receiver_close(in->receiver);
	receiver_close(in->sflow_receiver);
	sflow_input_free(in->sflow);
	free(in);
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
input_stats(const struct input *in)
{
	return &in->stats;
}

static bool
may_send(const struct input *in, const struct sockaddr *from)
{
	for (size_t i = 0; i < in->config.n_senders; i++)
		if (prefix_holds(&in->config.senders[i], from))
			return true;
	return false;
}

/* Text of an address without its port, kept for the next datagram. */
static const char *
sender_text(struct input *in, const struct sockaddr *from)
{
	size_t len = from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						 : sizeof(struct sockaddr_in);

	if (in->last_sender[0] == '\0' || memcmp(&in->last_from, from, len) != 0) {
		memcpy(&in->last_from, from, len);
		endpoint_format(from, false, in->last_sender);
	}
	return in->last_sender;
}

static void
refuse(const struct input *in, enum input_stat_id stat, const char *sender, const char *why)
{
	stat_add(&in->stats, stat, 1);
	log_warn_limited(ROOM, "datagram from %s refused: %s", sender, why);
}

/* True if who sends may do so; origin is set in both cases. */
static bool
admit(struct input *in, const struct sockaddr *from, struct decode_origin *origin)
{
	*origin = (struct decode_origin){sender_text(in, from), clock_wall_us(in->config.clock)};
	stat_add(&in->stats, INPUT_STAT_DATAGRAMS, 1);
	if (may_send(in, from))
		return true;
	refuse(in, INPUT_STAT_REFUSED_SENDER, origin->sender, "address not allowed");
	return false;
}

static void
give(struct input *in)
{
	stat_add(&in->stats, INPUT_STAT_RECORDS, in->result.n);
	in->config.sink(in->config.sink_arg, in->result.records, in->result.n);
}

/* True if this is for the slow way, and there is one. */
static bool
lay_aside(struct input *in, enum decode_verdict verdict, const struct sockaddr *from,
    const void *octets, size_t n)
{
	struct slow *slow = in->config.slow;

	if (!slow || (verdict != DECODE_INFORM && verdict != DECODE_EVENT &&
			 verdict != DECODE_BAD_CODING && !(verdict == DECODE_V3 && slow_takes_v3(slow))))
		return false;
	slow_put(slow, from, in->reading_fd, octets, n);
	return true;
}

void
input_take(struct input *in, const struct sockaddr *from, const void *octets, size_t n)
{
	const struct input_config *c = &in->config;
	struct decode_origin origin;
	enum decode_verdict verdict;

	if (!admit(in, from, &origin))
		return;
	verdict = shapes_decode(&in->shapes, octets, n, c->communities, c->n_communities, &origin,
	    &in->result);
	if (verdict != DECODE_OK) {
		if (lay_aside(in, verdict, from, octets, n))
			return;
		refuse(in, refusals[verdict].stat, origin.sender, refusals[verdict].why);
		return;
	}
	stat_add(&in->stats, INPUT_STAT_NOTIFICATIONS, 1);
	stat_add(&in->stats, INPUT_STAT_IGNORED_VARBINDS, in->result.n_ignored);
	give(in);
}

void
input_take_sflow(struct input *in, const struct sockaddr *from, const void *octets, size_t n)
{
	struct decode_origin origin;

	if (!admit(in, from, &origin))
		return;
	sflow_input_take(in->sflow, octets, n, &origin, &in->result);
	if (in->result.n > 0)
		give(in);
}

static void
take_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	input_take(arg, from, octets, n);
}

static void
take_sflow_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	input_take_sflow(arg, from, octets, n);
}

static void
read_all(struct input *in, struct receiver *receiver, receive_fn *fn,
    struct receive_result *result)
{
	for (size_t i = 0; receiver && i < receiver_sockets(receiver); i++) {
		int r;

		in->reading_fd = receiver_fd(receiver, i);
		r = receiver_read(receiver, i, fn, in, result);
		if (r < 0) {
			stat_add(&in->stats, INPUT_STAT_READ_ERRORS, 1);
			log_warn_limited(ROOM, "reading: %s", strerror(-r));
		}
	}
}

size_t
input_read(struct input *in)
{
	struct receive_result result = {0};

	read_all(in, in->receiver, take_datagram, &result);
	read_all(in, in->sflow_receiver, take_sflow_datagram, &result);
	in->reading_fd = -1;
	stat_add(&in->stats, INPUT_STAT_REFUSED_OVERSIZE, result.oversize);
	stat_add(&in->stats, INPUT_STAT_DATAGRAMS, result.oversize);
	return result.datagrams + result.oversize;
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
	log_warn_limited(ROOM, "the kernel dropped %llu datagrams: receive_buffer is too small for "
			       "this rate", (unsigned long long)drops);
}
