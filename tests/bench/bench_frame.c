/*
 * bench_frame CAPTURE [ROUNDS]: nanoseconds a frame for the keys of sampled headers, the frames of
 * a savefile cut to the length that samples keep: the outer layer alone, as every sample costs, and
 * with every layer inside opened too. Medians of ROUNDS passes over all frames. One JSON line.
 */
#include "common/frame.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADER_OCTETS = 128, ROUNDS = 31 };

struct headers {
	uint8_t (*octets)[HEADER_OCTETS];
	uint8_t *len;
	size_t n, room;
};

static void
read_headers(struct headers *h, pcap_t *pcap)
{
	struct pcap_pkthdr *header;
	const uint8_t *octets;

	while (pcap_next_ex(pcap, &header, &octets) == 1) {
		if (h->n == h->room) {
			h->room = h->room ? 2 * h->room : 4096;
			h->octets = realloc(h->octets, h->room * sizeof(*h->octets));
			h->len = realloc(h->len, h->room);
			if (!h->octets || !h->len)
				abort();
		}
		h->len[h->n] = (uint8_t)(header->caplen < HEADER_OCTETS ? header->caplen
									: HEADER_OCTETS);
		memcpy(h->octets[h->n], octets, h->len[h->n]);
		h->n++;
	}
}

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds a frame of one pass; *inner: how many inner layers there were. */
static double
pass_ns(const struct headers *h, bool all_layers, uint64_t *inner)
{
	double start = now_ns();
	struct frame_keys keys;
	struct frame_inner layer;

	*inner = 0;
	for (size_t i = 0; i < h->n; i++) {
		frame_parse(h->octets[i], h->len[i], &keys);
		__asm__ volatile("" : : "g"(&keys) : "memory"); /* the keys are wanted */
		if (!all_layers || keys.carries == FRAME_NO_TUNNEL)
			continue;
		layer.keys = keys;
		while (frame_open(h->octets[i], h->len[i], &layer.keys, &layer))
			++*inner;
	}
	return (now_ns() - start) / (double)h->n;
}

static int
compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median_ns(const struct headers *h, bool all_layers, unsigned rounds, uint64_t *inner)
{
	double *ns = calloc(rounds, sizeof(*ns)), median;

	if (!ns)
		abort();
	for (unsigned i = 0; i < rounds; i++)
		ns[i] = pass_ns(h, all_layers, inner);
	qsort(ns, rounds, sizeof(*ns), compare_doubles);
	median = ns[rounds / 2];
	free(ns);
	return median;
}

int
main(int argc, char **argv)
{
	char error[PCAP_ERRBUF_SIZE];
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : ROUNDS;
	struct headers h = {.n = 0};
	uint64_t inner = 0;
	double outer_ns, all_ns;
	pcap_t *pcap;

	if (argc < 2 || rounds == 0) {
		fprintf(stderr, "usage: bench_frame CAPTURE [ROUNDS]\n");
		return 2;
	}
	pcap = pcap_open_offline(argv[1], error);
	if (!pcap) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	read_headers(&h, pcap);
	pcap_close(pcap);
	outer_ns = median_ns(&h, false, rounds, &inner);
	all_ns = median_ns(&h, true, rounds, &inner);
	printf("{\"bench\":\"frame\",\"capture\":\"%s\",\"frames\":%zu,\"header_octets\":%d,"
	       "\"outer_ns_per_frame\":%.1f,\"all_layers_ns_per_frame\":%.1f,"
	       "\"inner_layers\":%" PRIu64 "}\n",
	    argv[1], h.n, HEADER_OCTETS, outer_ns, all_ns, inner);
	free(h.octets);
	free(h.len);
	return 0;
}
