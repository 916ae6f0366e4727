#include "agent/snmp/master_link.h"

#include "common/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* For how many reads the end of a stream is hidden from the library while requests are pending. Each
 * request passes through the library's queues in a few turns of its loop, and the socket stays
 * readable, so these turns follow each other at once. */
enum { TURNS_OF_A_REQUEST = 4, TURNS_AT_LEAST = 16 };

static const struct stat_name stat_names[MASTER_N_STATS] = {
	[MASTER_ABSENT] = {"master.absent", "attempts to connect: nothing listened at agentx_socket"},
	[MASTER_BUSY] = {"master.busy", "attempts to connect: the master did not accept in time"},
	[MASTER_ANSWERS] = {"master.answers", "AgentX requests answered"},
	[MASTER_SLOWEST_US] = {"master.slowest_answer_us",
	    "longest time in microseconds from an AgentX request to its answer"},
	[MASTER_REFUSED] = {"master.refused",
	    "AgentX requests refused: malformed, too long, or of another session"},
	[MASTER_DROPPED] = {"master.dropped", "AgentX PDUs dropped: not one a master sends, or of another session"},
	[MASTER_BROKEN] = {"master.broken", "sessions ended: what the master sent was not valid AgentX"},
	[MASTER_STALLED] = {"master.stalled", "sessions ended: the master did not read in time"},
	[MASTER_SILENT] = {"master.silent", "sessions ended: the master did not answer in time"},
	[MASTER_CUT_OFF] = {"master.cut_off", "sessions that ended before the master had answered a request"},
};

struct master_link {
	const struct clock *clock;
	unsigned timeout_s;
	int fd;
	bool over;
	int logged_error; /* -errno of the last failed attempt to connect; 0: connected since */
	pthread_mutex_t lock; /* guards shared_fd and abandoned */
	int shared_fd;	      /* another thread may shut it down; -1: none */
	bool abandoned;
	/* The request whose response the library waits for in a loop of its own; type 0: none. */
	struct agentx_pdu_header awaited;
	bool has_session;
	uint32_t session;
	uint32_t uptime_cs; /* the master's sysUpTime in its last Response */
	size_t n_open; /* requests that the library has and has not answered */
	bool tests;	   /* one of them is a TestSet, with this packet number */
	uint32_t test_packet;
	uint64_t came_us;  /* arrival of the newest of them */
	size_t turns_left; /* reads for which the end is still hidden from the library */
	size_t to_skip;	   /* octets left of a PDU that is too long */
	size_t n;	   /* octets in `in` */
	uint8_t in[AGENTX_PDU_OCTETS_MAX];
	struct stat_set stats;
	_Atomic uint64_t values[MASTER_N_STATS];
};

int
master_link_create(const struct clock *clock, unsigned timeout_s, struct master_link **out)
{
	struct master_link *link = calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->clock = clock;
	link->timeout_s = timeout_s;
	link->over = true;
	pthread_mutex_init(&link->lock, NULL);
	link->shared_fd = -1;
	link->stats = (struct stat_set){stat_names, MASTER_N_STATS, link->values};
	*out = link;
	return 0;
}

void
master_link_destroy(struct master_link *link)
{
	if (link)
		pthread_mutex_destroy(&link->lock);
	free(link);
}

static void
count_link_event(struct master_link *link, enum master_link_stat which)
{
	stat_add_own(&link->stats, which, 1);
}

static const char *
what_to_do(int error)
{
	switch (error) {
	case -ENOENT:
	case -ECONNREFUSED:
		return "; snmpd does not run, or its configuration lacks \"master agentx\" or has another agentXSocket";
	case -EACCES:
		return "; agentXPerms in snmpd's configuration does not let this user write there";
	default:
		return "";
	}
}

void
master_link_unreached(struct master_link *link, const char *address, int error)
{
	bool busy = error == -EAGAIN || error == -ETIMEDOUT;

	count_link_event(link, busy ? MASTER_BUSY : MASTER_ABSENT);
	if (error != link->logged_error) /* there may be an attempt each second for days */
		log_warn("snmp", "cannot connect to the master at %s: %s%s", address,
		    busy ? "it does not accept connections" : strerror(-error), what_to_do(error));
	link->logged_error = error;
}

/* False if the link was abandoned. */
static bool
share_fd(struct master_link *link, int fd)
{
	bool abandoned;

	pthread_mutex_lock(&link->lock);
	abandoned = link->abandoned;
	link->shared_fd = abandoned ? -1 : fd;
	pthread_mutex_unlock(&link->lock);
	return !abandoned;
}

void
master_link_close(struct master_link *link)
{
	share_fd(link, -1);
}

void
master_link_abandon(struct master_link *link)
{
	pthread_mutex_lock(&link->lock);
	link->abandoned = true;
	if (link->shared_fd >= 0)
		shutdown(link->shared_fd, SHUT_RDWR);
	pthread_mutex_unlock(&link->lock);
}

int
master_link_open(struct master_link *link, int fd)
{
	const struct timeval limit = {.tv_sec = link->timeout_s};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		log_warn_limited("snmp", "cannot set a time limit for sending to the master: %s", strerror(errno));
	if (!link->over && link->awaited.type != 0) /* the library gave up waiting for its Open */
		count_link_event(link, MASTER_SILENT);
	if (!share_fd(link, fd))
		return -ECANCELED;
	link->logged_error = 0;
	link->fd = fd;
	link->over = false;
	link->awaited.type = 0;
	link->has_session = false;
	link->n_open = 0;
	link->tests = false;
	link->to_skip = 0;
	link->n = 0;
	return 0;
}

bool
master_link_is_over(const struct master_link *link)
{
	return link->over;
}

const struct stat_set *
master_link_stats(const struct master_link *link)
{
	return &link->stats;
}

/* The shutdown makes the socket readable for good, so that the library calls master_link_read. */
static void
end_link(struct master_link *link)
{
	if (link->over)
		return;
	link->over = true;
	link->turns_left = TURNS_AT_LEAST + TURNS_OF_A_REQUEST * link->n_open;
	shutdown(link->fd, SHUT_RDWR);
}

static void
end_broken(struct master_link *link, const char *what)
{
	log_warn_limited("snmp", "session with the master ended: it sent %s", what);
	count_link_event(link, MASTER_BROKEN);
	end_link(link);
}

/* ---- sending ---- */

static void
send_octets(struct master_link *link, const uint8_t *octets, size_t n)
{
	while (n > 0 && !link->over) {
		ssize_t sent = send(link->fd, octets, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			count_link_event(link, MASTER_STALLED);
			log_warn_limited("snmp",
			    "session with the master ended: it has not read for %u s",
			    link->timeout_s);
		}
		if (sent < 0) {
			end_link(link);
			return;
		}
		octets += sent;
		n -= (size_t)sent;
	}
}

static void
link_note_answer(struct master_link *link, const struct agentx_pdu_header *h)
{
	if (link->n_open == 0)
		return;
	link->n_open--;
	if (link->tests && h->packet == link->test_packet)
		link->tests = false;
	count_link_event(link, MASTER_ANSWERS);
	stat_raise(&link->stats, MASTER_SLOWEST_US, clock_mono_us(link->clock) - link->came_us);
}

static void
note_request(struct master_link *link, const struct agentx_pdu_header *h)
{
	if (link->awaited.type != 0 && !link->over) {
		count_link_event(link, MASTER_SILENT);
		if (h->type != AGENTX_PDU_CLOSE)
			end_link(link);
	}
	link->awaited = *h;
}

void
master_link_write(struct master_link *link, const void *octets, size_t n)
{
	struct agentx_pdu_header h;

	if (n < AGENTX_PDU_HEADER_OCTETS)
		return;
	agentx_pdu_read_header(octets, &h);
	if (h.type == AGENTX_PDU_RESPONSE)
		link_note_answer(link, &h);
	else if (h.type != AGENTX_PDU_NOTIFY)
		note_request(link, &h);
	send_octets(link, octets, n);
	/* Nothing needs the answer to a Close, and a master that hangs would not send it. */
	if (h.type == AGENTX_PDU_CLOSE)
		end_link(link);
}

static void
refuse_pdu(struct master_link *link, const struct agentx_pdu_header *h, uint16_t error)
{
	uint8_t octets[AGENTX_PDU_RESPONSE_OCTETS];

	count_link_event(link, MASTER_REFUSED);
	agentx_pdu_put_response(octets, h, link->uptime_cs, error);
	if (h->type != AGENTX_PDU_CLEANUP_SET) /* it has no response: section 7.2.4.4 */
		send_octets(link, octets, sizeof(octets));
}

/* ---- receiving ---- */

/* Whether the library may have this request. It would take a request with the packet number of its
 * own pending one for the response. */
static enum agentx_pdu_error
request_fault(const struct master_link *link, const struct agentx_pdu_header *h, const uint8_t *pdu)
{
	if (!link->has_session || h->session != link->session)
		return AGENTX_PDU_NOT_OPEN;
	if (link->awaited.type != 0 && h->packet == link->awaited.packet)
		return AGENTX_PDU_GEN_ERR;
	return agentx_pdu_check(pdu, h);
}

/* Net-SNMP 5.9 uses a freed transaction if the next phase of a SET comes before it has answered the
 * TestSet. */
static bool
is_out_of_turn(const struct master_link *link, const struct agentx_pdu_header *h)
{
	return link->tests && h->type >= AGENTX_PDU_TEST_SET;
}

static bool
accept_request(struct master_link *link, const struct agentx_pdu_header *h, const uint8_t *pdu)
{
	enum agentx_pdu_error fault = request_fault(link, h, pdu);

	if (fault != AGENTX_PDU_NO_ERROR) {
		refuse_pdu(link, h, (uint16_t)fault);
		return false;
	}
	if (is_out_of_turn(link, h)) {
		end_broken(link, "a phase of a SET before the answer to the phase before");
		return false;
	}
	link->n_open++;
	link->came_us = clock_mono_us(link->clock);
	if (h->type == AGENTX_PDU_TEST_SET) {
		link->tests = true;
		link->test_packet = h->packet;
	}
	return true;
}

static bool
accept_response(struct master_link *link, const struct agentx_pdu_header *h, const uint8_t *pdu)
{
	bool awaited = link->awaited.type != 0 && h->packet == link->awaited.packet;

	if (agentx_pdu_check(pdu, h) != AGENTX_PDU_NO_ERROR) {
		end_broken(link, "a malformed Response");
		return false;
	}
	if (awaited && link->awaited.type == AGENTX_PDU_OPEN) {
		link->has_session = agentx_pdu_response_error(pdu, h) == 0;
		link->session = h->session;
	} else if (!link->has_session || h->session != link->session) {
		count_link_event(link, MASTER_DROPPED);
		return false;
	}
	link->uptime_cs = agentx_pdu_response_uptime(pdu, h);
	if (awaited)
		link->awaited.type = 0;
	return true;
}

/* True if the library is to get this PDU. */
static bool
accept_pdu(struct master_link *link, const struct agentx_pdu_header *h, const uint8_t *pdu)
{
	if (h->type == AGENTX_PDU_RESPONSE)
		return accept_response(link, h, pdu);
	if (agentx_pdu_is_request(h->type))
		return accept_request(link, h, pdu);
	if (h->type == AGENTX_PDU_CLOSE && link->has_session && h->session == link->session)
		end_link(link);
	else
		count_link_event(link, MASTER_DROPPED);
	return false;
}

/* A manager's request can become a PDU that is longer than the library parses. */
static void
skip_too_long(struct master_link *link, const struct agentx_pdu_header *h)
{
	if (!agentx_pdu_is_request(h->type)) {
		end_broken(link, "a PDU that is too long");
		return;
	}
	refuse_pdu(link, h, AGENTX_PDU_GEN_ERR);
	link->to_skip = AGENTX_PDU_HEADER_OCTETS + (size_t)h->payload_octets;
}

/* Skips what `in` holds from `at` on of a PDU that is too long. */
static size_t
skip_rest(struct master_link *link, size_t at)
{
	size_t n = link->n - at < link->to_skip ? link->n - at : link->to_skip;

	link->to_skip -= n;
	return at + n;
}

/* Moves whole PDUs from `in` to octets; what remains in `in` is the beginning of one. */
static size_t
link_hand_over(struct master_link *link, uint8_t *octets)
{
	size_t at = 0, given = 0;

	while (!link->over && (at = skip_rest(link, at)) + AGENTX_PDU_HEADER_OCTETS <= link->n) {
		const uint8_t *pdu = link->in + at;
		struct agentx_pdu_header h;
		size_t n;

		if (!agentx_pdu_read_header(pdu, &h)) {
			end_broken(link, "a PDU of another version than 1, or of an impossible length");
			break;
		}
		n = AGENTX_PDU_HEADER_OCTETS + (size_t)h.payload_octets;
		if (n > AGENTX_PDU_OCTETS_MAX) {
			skip_too_long(link, &h);
			continue;
		}
		if (n > link->n - at)
			break;
		if (accept_pdu(link, &h, pdu)) {
			memcpy(octets + given, pdu, n);
			given += n;
		}
		at += n;
	}
	link->n -= at;
	memmove(link->in, link->in + at, link->n);
	return given;
}

/* ---- the end ---- */

/* The response ends the library's own loop, so that control returns to ours, the only place where it
 * survives the end of the stream. */
static ssize_t
answer_for_the_master(struct master_link *link, uint8_t *octets)
{
	uint16_t error = AGENTX_PDU_PROCESSING_ERROR;

	if (link->awaited.type == AGENTX_PDU_CLOSE)
		error = AGENTX_PDU_NO_ERROR;
	else
		count_link_event(link, MASTER_CUT_OFF);
	agentx_pdu_put_response(octets, &link->awaited, link->uptime_cs, error);
	link->awaited.type = 0;
	return AGENTX_PDU_RESPONSE_OCTETS;
}

static ssize_t
after_the_end(struct master_link *link, uint8_t *octets)
{
	if (link->awaited.type != 0)
		return answer_for_the_master(link, octets);
	if (link->n_open > 0 && link->turns_left > 0) {
		link->turns_left--;
		return 0;
	}
	return -1;
}

ssize_t
master_link_read(struct master_link *link, void *octets, size_t size)
{
	ssize_t got, given;

	if (link->over)
		return after_the_end(link, octets);
	if (size < AGENTX_PDU_OCTETS_MAX)
		return -1;
	got = recv(link->fd, link->in + link->n, sizeof(link->in) - link->n, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if (got <= 0) {
		end_link(link);
		return after_the_end(link, octets);
	}
	link->n += (size_t)got;
	given = (ssize_t)link_hand_over(link, octets);
	return given > 0 || !link->over ? given : after_the_end(link, octets);
}
