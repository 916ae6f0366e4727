/* Any octets at all as a master's stream behind a good Open, in pieces of any length: what the
 * library is given are whole, well formed PDUs of the session, and the end comes when it must. */
#include "agent/snmp/master_link.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t given[AGENTX_PDU_OCTETS_MAX];

static void
check(const uint8_t *octets, ssize_t n)
{
	for (ssize_t at = 0; at < n;) {
		struct agentx_pdu_header h;

		if (!agentx_pdu_read_header(octets + at, &h) || agentx_pdu_check(octets + at, &h) ||
		    (h.session != 7 && h.type != AGENTX_PDU_RESPONSE))
			abort();
		at += AGENTX_PDU_HEADER_OCTETS + h.payload_octets;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t open_pdu[20] = {1, 1, [12] = 1};
	static const uint8_t opened[28] = {1, 18, [4] = 7, [12] = 1, [16] = 8};
	struct master_link *stream;
	ssize_t n;
	int ends[2];

	if (master_link_create(&clock_system, 1, &stream) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 0;
	master_link_open(stream, ends[0]);
	master_link_write(stream, open_pdu, sizeof(open_pdu));
	if (write(ends[1], opened, sizeof(opened)) < 0 ||
	    master_link_read(stream, given, sizeof(given)) != sizeof(opened))
		abort();
	for (size_t at = 0, piece; at < size; at += piece) {
		piece = 1u + data[at] < size - at ? 1u + data[at] : size - at;
		if (send(ends[1], data + at, piece, MSG_NOSIGNAL) < 0)
			break;
		check(given, master_link_read(stream, given, sizeof(given)));
	}
	shutdown(ends[1], SHUT_WR);
	while ((n = master_link_read(stream, given, sizeof(given))) >= 0)
		check(given, n);
	close(ends[0]);
	close(ends[1]);
	master_link_destroy(stream);
	return 0;
}
