#include "collector/import.h"

#include "common/buf.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ETHERTYPE_V4 = 0x0800,
	ETHERTYPE_V6 = 0x86dd,
	TAG_C = 0x8100, /* IEEE 802.1Q, 802.1ad */
	TAG_S = 0x88a8,
	PROTOCOL_UDP = 17,
	PROTOCOL_FRAGMENT = 44,
	V4_FRAGMENT = 0x3fff, /* more fragments, or an offset */
	V4_HEADER_MIN = 20,
	UDP_HEADER = 8,
	MAC_PAIR = 12,
	SLL_HEAD = 14,	/* before the ethertype */
	SLL2_REST = 18, /* after it */
	FRAMES_A_CHECK = 1024, /* between two calls of progress: a millisecond or two */
};

/* Skips the link header. *ethertype: 0 if the first octet of the packet gives the IP version. */
static int
import_open_link(int link_type, struct rbuf *r, uint16_t *ethertype)
{
	*ethertype = 0;
	switch (link_type) {
	case DLT_EN10MB:
		rbuf_take(r, MAC_PAIR);
		*ethertype = rbuf_be16(r);
		while (*ethertype == TAG_C || *ethertype == TAG_S) {
			rbuf_take(r, 2);
			*ethertype = rbuf_be16(r);
			if (r->failed)
				return -ENOENT;
		}
		return 0;
	case DLT_LINUX_SLL:
		rbuf_take(r, SLL_HEAD);
		*ethertype = rbuf_be16(r);
		return 0;
	case DLT_LINUX_SLL2:
		*ethertype = rbuf_be16(r);
		rbuf_take(r, SLL2_REST);
		return 0;
	case DLT_NULL:
	case DLT_LOOP:
		rbuf_take(r, 4); /* an address family of the capturing system */
		return 0;
	case DLT_RAW:
		return 0;
	}
	return -EINVAL;
}

static int
open_v4(struct rbuf *r, struct sockaddr_storage *from, struct rbuf *payload)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)from;
	size_t start = r->pos;
	size_t header = 4u * (rbuf_u8(r) & 0x0f), total, fragment;
	const uint8_t *source;
	uint8_t protocol;

	rbuf_take(r, 1);
	total = rbuf_be16(r);
	rbuf_take(r, 2);
	fragment = rbuf_be16(r);
	rbuf_take(r, 1);
	protocol = rbuf_u8(r);
	rbuf_take(r, 2);
	source = rbuf_take(r, sizeof(v4->sin_addr));
	if (!source || header < V4_HEADER_MIN || total < header || protocol != PROTOCOL_UDP)
		return -ENOENT;
	v4->sin_family = AF_INET;
	memcpy(&v4->sin_addr, source, sizeof(v4->sin_addr));
	r->pos = start;
	rbuf_take(r, header);
	*payload = rbuf_sub(r, total - header);
	return fragment & V4_FRAGMENT ? -ENOTSUP : payload->failed ? -EMSGSIZE : 0;
}

/* Packets with other extension headers than that of fragments count as not UDP, because no exporter sends
 * them. */
static int
open_v6(struct rbuf *r, struct sockaddr_storage *from, struct rbuf *payload)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)from;
	const uint8_t *source;
	uint8_t protocol;
	size_t octets;

	rbuf_take(r, 4);
	octets = rbuf_be16(r);
	protocol = rbuf_u8(r);
	rbuf_take(r, 1);
	source = rbuf_take(r, sizeof(v6->sin6_addr));
	rbuf_take(r, sizeof(v6->sin6_addr));
	if (!source || r->failed)
		return -ENOENT;
	if (protocol == PROTOCOL_FRAGMENT && rbuf_u8(r) == PROTOCOL_UDP)
		return -ENOTSUP;
	if (protocol != PROTOCOL_UDP)
		return -ENOENT;
	v6->sin6_family = AF_INET6;
	memcpy(&v6->sin6_addr, source, sizeof(v6->sin6_addr));
	*payload = rbuf_sub(r, octets);
	return payload->failed ? -EMSGSIZE : 0;
}

int
import_datagram(int link_type, const uint8_t *frame, size_t n, struct sockaddr_storage *from,
    const uint8_t **octets, size_t *n_octets)
{
	struct rbuf r = rbuf_of(frame, n), udp;
	uint16_t ethertype, source_port, length;
	int e = import_open_link(link_type, &r, &ethertype);

	memset(from, 0, sizeof(*from));
	if (e < 0)
		return e;
	if (r.failed || rbuf_left(&r) == 0)
		return -ENOENT;
	if (ethertype == 0)
		ethertype = r.data[r.pos] >> 4 == 6 ? ETHERTYPE_V6 : ETHERTYPE_V4;
	if (ethertype != ETHERTYPE_V4 && ethertype != ETHERTYPE_V6)
		return -ENOENT;
	e = ethertype == ETHERTYPE_V4 ? open_v4(&r, from, &udp) : open_v6(&r, from, &udp);
	if (e < 0)
		return e;
	source_port = rbuf_be16(&udp);
	rbuf_take(&udp, 2);
	length = rbuf_be16(&udp);
	rbuf_take(&udp, 2);
	if (udp.failed || length < UDP_HEADER || length > udp.size)
		return -EMSGSIZE;
	((struct sockaddr_in *)from)->sin_port = htons(source_port); /* where IPv6 has it, too */
	*octets = udp.data + UDP_HEADER;
	*n_octets = length - (size_t)UDP_HEADER;
	return 0;
}

static int
give_frame(int link_type, const struct pcap_pkthdr *h, const uint8_t *frame, import_fn *fn,
    void *arg, struct import_counts *counts)
{
	uint64_t us = (uint64_t)h->ts.tv_sec * 1000000 + (uint64_t)h->ts.tv_usec;
	struct sockaddr_storage from;
	const uint8_t *octets;
	size_t n;
	int r = import_datagram(link_type, frame, h->caplen, &from, &octets, &n);

	counts->frames++;
	switch (r) {
	case 0:
		counts->datagrams++;
		fn(arg, (const struct sockaddr *)&from, us, octets, n);
		return 0;
	case -ENOENT:
		counts->not_udp++;
		return 0;
	case -EMSGSIZE:
		counts->incomplete++;
		return 0;
	case -ENOTSUP:
		counts->fragments++;
		return 0;
	}
	return r;
}

/* The part of the file that has been read, 0 to 1; 0 for a pipe. */
static double
part_read(pcap_t *pcap)
{
	struct stat st;
	FILE *file = pcap_file(pcap);

	if (!file || fstat(fileno(file), &st) < 0 || st.st_size == 0)
		return 0;
	return (double)ftello(file) / (double)st.st_size;
}

static int
import_read_frames(pcap_t *pcap, import_fn *fn, void *arg, const struct progress *progress,
    struct import_counts *counts, int *more)
{
	struct pcap_pkthdr *h;
	const uint8_t *frame;
	int r = 0;

	while (r == 0 && (*more = pcap_next_ex(pcap, &h, &frame)) == 1) {
		r = give_frame(pcap_datalink(pcap), h, frame, fn, arg, counts);
		if (counts->frames % FRAMES_A_CHECK == 0 && !progress_go_on(progress, "import", part_read(pcap)))
			return -ECANCELED;
	}
	return r;
}

int
import_file(const char *path, import_fn *fn, void *arg, const struct progress *progress,
    struct import_counts *counts, char *error, size_t error_size)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = pcap_open_offline(path, why);
	int r, more = 0;

	*counts = (struct import_counts){0};
	if (!pcap) {
		snprintf(error, error_size, "%s", why);
		return -EIO;
	}
	r = import_read_frames(pcap, fn, arg, progress, counts, &more);
	if (r == -ECANCELED) {
		snprintf(error, error_size, "%s: stopped after %llu frames, whose data is stored; "
					    "import the file again later: nothing counts twice",
		    path, (unsigned long long)counts->frames);
	} else if (r < 0) {
		snprintf(error, error_size, "%s: link type %d is not supported", path, pcap_datalink(pcap));
	} else if (more != PCAP_ERROR_BREAK) { /* the end of the file */
		snprintf(error, error_size, "%s: %s", path, pcap_geterr(pcap));
		r = -EIO;
	}
	pcap_close(pcap);
	return r;
}
