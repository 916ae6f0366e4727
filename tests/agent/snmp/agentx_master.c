#include "tests/agent/snmp/agentx_master.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUIET_MS = 300, ANSWER_MS = 10000 };

int
agentx_master_open(struct agentx_master *m, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(m, 0, sizeof(*m));
	m->fd = -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	m->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (m->listener < 0 || bind(m->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(m->listener, 4) < 0)
		return -errno;
	return 0;
}

void
agentx_master_hang_up(struct agentx_master *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	m->n_got = 0;
}

void
agentx_master_close(struct agentx_master *m)
{
	agentx_master_hang_up(m);
	if (m->listener >= 0)
		close(m->listener);
}

int
agentx_master_send(struct agentx_master *m, const void *octets, size_t n)
{
	const uint8_t *at = octets;

	while (n > 0) {
		ssize_t sent = m->fd < 0 ? -1 : send(m->fd, at, n, MSG_NOSIGNAL);

		if (sent < 0) {
			agentx_master_hang_up(m);
			return -EPIPE;
		}
		at += sent;
		n -= (size_t)sent;
	}
	return 0;
}

struct agentx_header
agentx_master_header(struct agentx_master *m, uint8_t type, bool big)
{
	return (struct agentx_header){.version = 1, .type = type,
	    .flags = big ? AGENTX_BIG_ENDIAN : 0, .session = m->session,
	    .transaction = m->transaction, .packet = ++m->packet};
}

/* ---- what comes ---- */

/* The octets of the first PDU that has come; 0: not all of it has. */
static size_t
whole_pdu(const struct agentx_master *m)
{
	struct agentx_header h;
	size_t n;

	if (m->n_got < AGENTX_HEADER_OCTETS)
		return 0;
	agentx_read(m->got, m->n_got, &h);
	n = AGENTX_HEADER_OCTETS + (size_t)h.payload_octets;
	return n <= m->n_got ? n : 0;
}

static int
receive(struct agentx_master *m, int timeout_ms)
{
	struct pollfd p = {.fd = m->fd, .events = POLLIN};
	ssize_t n;

	if (m->fd < 0)
		return -EPIPE;
	if (poll(&p, 1, timeout_ms) != 1)
		return -ETIMEDOUT;
	n = recv(m->fd, m->got + m->n_got, sizeof(m->got) - m->n_got, 0);
	if (n <= 0) {
		agentx_master_hang_up(m);
		return -EPIPE;
	}
	m->n_got += (size_t)n;
	return 0;
}

void
agentx_master_yes(struct agentx_master *m, const struct agentx_header *asked, struct agentx_pdu *answer)
{
	struct agentx_header h = *asked;

	if (h.type == AGENTX_OPEN)
		h.session = m->session = ++m->n_sessions;
	h.type = AGENTX_RESPONSE;
	h.flags &= AGENTX_BIG_ENDIAN;
	agentx_begin(answer, &h);
	agentx_put_u32(answer, 100); /* sysUpTime: its first second, for ever */
	agentx_put_u32(answer, 0);   /* error and index */
	agentx_end(answer);
}

/* Yes, whatever it is, unless the hook says otherwise. */
static int
see_to(struct agentx_master *m, const struct agentx_header *asked, const uint8_t *octets, size_t n)
{
	static struct agentx_pdu pdu;

	if (m->hook && m->hook(m, asked, octets, n))
		return m->fd < 0 ? -EPIPE : 0;
	m->n_notified += asked->type == AGENTX_NOTIFY;
	agentx_master_yes(m, asked, &pdu);
	return agentx_master_send(m, pdu.octets, pdu.n);
}

/* Takes the first PDU that has come or comes. 0 and its header; the PDU stays at the front. */
static int
next_pdu(struct agentx_master *m, struct agentx_header *h, size_t *n, int timeout_ms)
{
	int rc = 0;

	while ((*n = whole_pdu(m)) == 0 && rc == 0)
		rc = receive(m, timeout_ms);
	if (rc == 0)
		agentx_read(m->got, *n, h);
	return rc;
}

static void
drop_pdu(struct agentx_master *m, size_t n)
{
	m->n_got -= n;
	memmove(m->got, m->got + n, m->n_got);
}

/* Sent by the subagent without a request; an answer to a request that has timed out is dropped. */
static int
take_pdu(struct agentx_master *m, const struct agentx_header *h, size_t n)
{
	static uint8_t octets[AGENTX_PDU_MAX];

	memcpy(octets, m->got, n);
	drop_pdu(m, n);
	return h->type == AGENTX_RESPONSE ? 0 : see_to(m, h, octets, n);
}

static int
accept_one(struct agentx_master *m, int timeout_ms)
{
	struct pollfd p = {.fd = m->listener, .events = POLLIN};

	if (poll(&p, 1, timeout_ms) != 1)
		return -ETIMEDOUT;
	m->fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);
	return m->fd < 0 ? -errno : 0;
}

int
agentx_master_turn(struct agentx_master *m, int timeout_ms)
{
	struct agentx_header h;
	size_t n;
	int rc = m->fd < 0 ? accept_one(m, timeout_ms) : 0;

	if (rc == 0)
		rc = next_pdu(m, &h, &n, timeout_ms);
	return rc == 0 ? take_pdu(m, &h, n) : rc;
}

int
agentx_master_accept(struct agentx_master *m, int timeout_ms)
{
	struct agentx_header h;
	unsigned before = m->n_sessions;
	size_t n;
	int rc;

	agentx_master_hang_up(m);
	rc = accept_one(m, timeout_ms);
	while (rc == 0) {
		rc = next_pdu(m, &h, &n, m->n_sessions > before ? QUIET_MS : timeout_ms);
		if (rc == 0)
			rc = take_pdu(m, &h, n);
	}
	return m->n_sessions > before && rc == -ETIMEDOUT ? 0 : rc;
}

int
agentx_master_answer(struct agentx_master *m, uint32_t packet, struct agentx_reader *answer)
{
	static uint8_t octets[AGENTX_PDU_MAX];
	struct agentx_header h;
	size_t n;
	int rc = 0;

	while (rc == 0 && (rc = next_pdu(m, &h, &n, ANSWER_MS)) == 0) {
		memcpy(octets, m->got, n);
		drop_pdu(m, n);
		if (h.type == AGENTX_RESPONSE && h.packet == packet) {
			*answer = agentx_read(octets, n, &h);
			return 0;
		}
		if (h.type != AGENTX_RESPONSE)
			rc = see_to(m, &h, octets, n);
	}
	return rc;
}
