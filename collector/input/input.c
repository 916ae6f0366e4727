#include "collector/input/input.h"
#include "collector/input/decode.h"
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
	"datagrams lost because the socket's buffer was full"},
    [INPUT_STAT_REFUSED_SENDER] = {"input.refused_sender", "datagrams of addresses not allowed"},
    [INPUT_STAT_REFUSED_OVERSIZE] = {"input.refused_oversize", "datagrams too long for us"},
    [INPUT_STAT_REFUSED_PARSE] = {"input.refused_parse", "datagrams that are no SNMP message"},
    [INPUT_STAT_REFUSED_VERSION] = {"input.refused_version", "messages that are not SNMPv2c"},
    [INPUT_STAT_REFUSED_COMMUNITY] = {"input.refused_community",
	"messages of a community not allowed"},
    [INPUT_STAT_REFUSED_PDU] = {"input.refused_pdu", "messages that are no SNMPv2 trap"},
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
    [DECODE_BAD_VERSION] = {INPUT_STAT_REFUSED_VERSION, "not SNMPv2c"},
    [DECODE_BAD_COMMUNITY] = {INPUT_STAT_REFUSED_COMMUNITY, "community not allowed"},
    [DECODE_BAD_PDU] = {INPUT_STAT_REFUSED_PDU, "not an SNMPv2 trap"},
    [DECODE_FOREIGN] = {INPUT_STAT_REFUSED_FOREIGN, "a notification of another MIB"},
    [DECODE_BAD_VALUE] = {INPUT_STAT_REFUSED_VALUE, "a value is not as the MIB says"},
    [DECODE_BAD_PARTS] = {INPUT_STAT_REFUSED_PARTS, "parts missing or of another kind"},
    [DECODE_TOO_MANY] = {INPUT_STAT_REFUSED_TOO_MANY, "too many parts"},
};

struct input {
	struct input_config config;
	struct receiver *receiver;
	struct sockaddr_storage last_from; /* senders come in runs: its text is kept */
	char last_sender[ENDPOINT_TEXT];
	struct decode_result result;
	struct stat_set stats;
	_Atomic uint64_t values[INPUT_N_STATS];
};

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
	in->stats = (struct stat_set){stat_names, INPUT_N_STATS, in->values};
	r = config->n_listen == 0 ? 0
				  : receiver_open(&in->receiver, config->listen, config->n_listen,
					config->buffer_octets, error, error_size);
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
	free(in);
}

const struct receiver *
input_receiver(const struct input *in)
{
	return in->receiver;
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

void
input_take(struct input *in, const struct sockaddr *from, const void *octets, size_t n)
{
	const struct input_config *c = &in->config;
	struct decode_origin origin = {sender_text(in, from), clock_wall_us(c->clock)};
	enum decode_verdict verdict;

	stat_add(&in->stats, INPUT_STAT_DATAGRAMS, 1);
	if (!may_send(in, from)) {
		refuse(in, INPUT_STAT_REFUSED_SENDER, origin.sender, "address not allowed");
		return;
	}
	verdict = decode_notification(octets, n, c->communities, c->n_communities, &origin,
	    &in->result);
	if (verdict != DECODE_OK) {
		refuse(in, refusals[verdict].stat, origin.sender, refusals[verdict].why);
		return;
	}
	stat_add(&in->stats, INPUT_STAT_NOTIFICATIONS, 1);
	stat_add(&in->stats, INPUT_STAT_RECORDS, in->result.n);
	stat_add(&in->stats, INPUT_STAT_IGNORED_VARBINDS, in->result.n_ignored);
	c->sink(c->sink_arg, in->result.records, in->result.n);
}

static void
take_datagram(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	input_take(arg, from, octets, n);
}

size_t
input_read(struct input *in)
{
	struct receive_result result = {0};

	for (size_t i = 0; in->receiver && i < receiver_sockets(in->receiver); i++) {
		int r = receiver_read(in->receiver, i, take_datagram, in, &result);

		if (r < 0) {
			stat_add(&in->stats, INPUT_STAT_READ_ERRORS, 1);
			log_warn_limited(ROOM, "reading: %s", strerror(-r));
		}
	}
	stat_add(&in->stats, INPUT_STAT_KERNEL_DROPS, result.kernel_drops);
	stat_add(&in->stats, INPUT_STAT_REFUSED_OVERSIZE, result.oversize);
	stat_add(&in->stats, INPUT_STAT_DATAGRAMS, result.oversize);
	if (result.kernel_drops)
		log_warn_limited(ROOM, "the kernel dropped %llu datagrams: receive_buffer is too "
				       "small for this rate",
		    (unsigned long long)result.kernel_drops);
	return result.datagrams + result.oversize;
}
