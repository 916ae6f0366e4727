/*
 * A made switch that speaks sFlow: ports with a steady stream of frames of two hosts, which it samples at random,
 * and counters of them. Everything is drawn from a seed, so that a run is the same each time. What is odd about a
 * make changes a sample, its records, counters or a datagram just before they are written.
 *
 * The datagrams are written word by word from the specification's tables, without common/sflow_wire.c: reader and
 * writer must not share a mistake.
 */
#ifndef EASE_TESTS_SPEAKER_H
#define EASE_TESTS_SPEAKER_H

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SPEAKER_SWITCHES = 2,
	SPEAKER_PORTS = 4,
	SPEAKER_SUB_AGENTS = 5,
	SPEAKER_HEADER = 128,
	SPEAKER_HOSTS = 2, /* 10.0.0.1 and 10.0.0.2 */
	SPEAKER_FIRST_IF = 7,
	SPEAKER_NO_COUNTERS = UINT32_MAX,
};

/* 2023-11-14 22:14 UTC, the begin of a minute: an import takes nothing from the future. */
#define SPEAKER_START_US (1700000040ull * 1000000)
#define SPEAKER_SENDER	 0xc000020au /* 192.0.2.10; the second switch is 192.0.2.20 */
#define SPEAKER_INTERNAL 0x3fffffffu /* an interface of a sample: the device itself */

/* What passes a switch, and how it is sampled. 0 in a field: the number behind it. */
struct traffic {
	uint32_t switches;  /* 1: alike, each with a sender's address of its own */
	uint32_t ports;	    /* 1 */
	uint32_t seconds;   /* 300 */
	double frames_s;    /* 1,000 frames a second at each port */
	uint32_t one_in;    /* 100 */
	uint32_t later_one_in; /* in the second half; the same */
	uint32_t poll_s;    /* 20 s between counters; SPEAKER_NO_COUNTERS */
	bool ends_uncounted; /* no counters in the last second */
	double sent_part;   /* of the frames, those that a port sends; the others it receives */
	uint64_t speed_bps; /* 1 Gb/s */
	uint32_t lose_every; /* each datagram of that number is lost in the network; 0: none */
	uint32_t samples_a_datagram; /* 4 */
};

/* A flow sample as it is about to be written. Up to the header it is what stands in the sample. */
struct flow {
	bool expanded;
	uint32_t number, class, index, rate, pool, drops;
	uint32_t in_format, input, out_format, output;
	uint32_t protocol, frame_octets, stripped, kept;
	uint8_t header[SPEAKER_HEADER];

	uint32_t at_switch, sub_agent; /* whose datagram it goes into */
	/* what a row may look at */
	uint32_t nth;	      /* sample of its port, from 1 */
	uint32_t nth_of_all;  /* sample of its switch */
	uint32_t port, host;
	uint64_t frames;      /* of its port so far, with this one */
	uint64_t all_frames;  /* of its switch so far */
	uint32_t ip_octets;
	double at_s;
	bool sent; /* by the port, not received */
};

/* A counter sample of one port. */
struct counters {
	bool expanded;
	uint32_t number, class, index;
	uint32_t if_index, if_type, direction, status;
	uint64_t speed_bps, in_octets, out_octets;
	uint32_t in_pkts, out_pkts;
	uint32_t at_switch, sub_agent;
	uint32_t nth, port;
	double at_s;
};

struct datagram {
	uint32_t version, address_type;
	uint8_t address[16];
	uint32_t sub_agent, number, uptime_ms;
	uint32_t sender;
	/* what a row may look at */
	uint32_t at_switch, nth; /* datagram of its sub-agent, from 1 */
	double at_s;
	/* what the network does with it */
	bool lost, twice, late;
	bool unread; /* nobody can read it: its samples do not count */
};

struct ipfix_form;

/* How a make says it. Each function may be NULL: as the specification has it. */
struct speech {
	void (*flow)(struct flow *f);
	uint32_t (*records)(struct wbuf *w, const struct flow *f); /* returns how many it wrote */
	void (*counters)(struct counters *c);
	uint32_t (*counter_records)(struct wbuf *w, const struct counters *c);
	void (*more_samples)(struct wbuf *w, const struct counters *c, uint32_t *n); /* beside counters */
	void (*datagram)(struct datagram *d);
	uint32_t flow_tail, counters_tail, datagram_tail; /* octets of zero behind the last record or sample */
	const struct ipfix_form *ipfix; /* samples go by IPFIX (ipfix_form.h), and counters, if any, by sFlow; NULL: all by sFlow */
};

/* What really happened. */
struct passed {
	uint64_t flows; /* samples that reached the collector, each once */
	uint64_t lost;	/* those of lost datagrams */
	double seconds;
	double received_octets, sent_octets; /* of all ports */
	double host_part[SPEAKER_HOSTS];     /* of the octets of either direction */
};

typedef void speaker_send(void *arg, uint32_t sender, uint64_t at_us, const uint8_t *octets, size_t n);

void speaker_run(const struct traffic *traffic, const struct speech *speech, speaker_send *send, void *arg,
    struct passed *passed);

/* Parts that rows put together anew. */
void speaker_words(struct wbuf *w, size_t n, const uint32_t *words);
uint32_t speaker_header_record(struct wbuf *w, const struct flow *f); /* returns 1 */
uint32_t speaker_counters_record(struct wbuf *w, const struct counters *c, uint32_t more_octets); /* returns 1 */
/* Begins a record or a sample, and ends it: its length is what was written since. */
size_t speaker_begin(struct wbuf *w, uint32_t format);
void speaker_end(struct wbuf *w, size_t began);
/* Puts other octets before the IP header in place of the Ethernet header. */
void speaker_cut_ethernet(struct flow *f, uint32_t protocol, size_t n, const uint8_t *before);

#endif
