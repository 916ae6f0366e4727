#include "tests/collector/dialects/capture.h"

#include "tests/collector/dialects/ipfix_form.h"

#include <assert.h>
#include <pcap/pcap.h>
#include <stdlib.h>

enum { IP_UDP = 28, UDP = 8, FRAME = 9000 };
#define COLLECTOR 0xc0000201u /* 192.0.2.1 */

struct capture {
	pcap_t *pcap;
	pcap_dumper_t *out;
	uint16_t from_port;
	bool is_ipfix;
};

struct capture *
capture_begin(const char *path)
{
	struct capture *c = calloc(1, sizeof(*c));

	assert(c);
	c->pcap = pcap_open_dead(DLT_RAW, FRAME);
	c->out = pcap_dump_open(c->pcap, path);
	assert(c->out);
	return c;
}

static void
put_headers(struct wbuf *w, uint32_t sender, uint16_t from_port, uint16_t port, size_t n)
{
	wbuf_be16(w, 0x4500);
	wbuf_be16(w, (uint16_t)(n + IP_UDP));
	wbuf_be32(w, 0);
	wbuf_be32(w, 0x40110000); /* time to live, UDP */
	wbuf_be32(w, sender);
	wbuf_be32(w, COLLECTOR);
	wbuf_be16(w, from_port);
	wbuf_be16(w, port);
	wbuf_be32(w, (uint32_t)(n + UDP) << 16);
}

static void
dump(void *arg, uint32_t sender, uint64_t at_us, const uint8_t *octets, size_t n)
{
	const struct capture *c = arg;
	uint8_t frame[FRAME];
	struct wbuf w = wbuf_of(frame, sizeof(frame));
	struct pcap_pkthdr h = {.caplen = (bpf_u_int32)(n + IP_UDP), .len = (bpf_u_int32)(n + IP_UDP)};

	h.ts.tv_sec = (time_t)(at_us / 1000000);
	h.ts.tv_usec = (suseconds_t)(at_us % 1000000);
	put_headers(&w, sender, c->from_port, c->is_ipfix ? IPFIX_FORM_PORT : CAPTURE_PORT, n);
	wbuf_put(&w, octets, n);
	assert(!w.failed);
	pcap_dump((u_char *)c->out, &h, frame);
}

void
capture_row(struct capture *c, const struct dialect *d, uint16_t from_port, struct passed *passed)
{
	c->from_port = from_port;
	c->is_ipfix = d->speech.ipfix != NULL;
	speaker_run(&d->traffic, &d->speech, dump, c, passed);
}

void
capture_end(struct capture *c)
{
	pcap_dump_close(c->out);
	pcap_close(c->pcap);
	free(c);
}
