/*
 * Plausibility of what an sFlow agent states: no single field is believed where another one refutes it. A rate is held
 * against the pool, the numbers and the port's counters; numbers against those of the datagrams and against drops; the
 * time an agent has run against the collector's clock; octets against frames, speed and time; a frame's length against
 * its IP header's own. What is refuted begins anew and is told as a bit of enum ease_oddity. Arithmetic on small
 * structs without I/O or allocation; a zeroed struct is the start.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_PLAUSIBLE_H
#define EASE_COLLECTOR_INPUT_SFLOW_PLAUSIBLE_H

#include "collector/record.h"
#include "common/sflow_wire.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- how many frames a sample stands for ---- */

struct rate_block {
	uint64_t pkts, most_pkts; /* in all steps, and in the largest one */
	uint32_t numbers, most_numbers, steps;
};

enum { RATE_LINES = 4 };

/* What each sample needs stands first. */
struct rate_check {
	uint32_t stated;   /* the rate that is believed, as the agent states it; 0: none yet */
	uint32_t made_up;  /* rises of the pool in a row that come of rate or number */
	uint8_t leaps;	   /* steps of the pool that no count takes, lately */
	uint8_t line;	   /* of the newest sample */
	bool is_split;	   /* among several samplers, whose pools say the rate */
	bool is_shared;	   /* the pool is that of several sources */
	bool is_denied;	   /* the port's counters agree with the stated rate, and not with the pool */
	bool is_sent;	   /* the newest sample whose direction is sure left here */
	uint8_t turns;	   /* of the direction, in a row, whose samples each stated their direction's rate */
	uint32_t by_direction[2]; /* the newest stated rate of what came in, and of what left */
	uint64_t n_samples;
	uint64_t numbers_since;	     /* numbers since the newest counters */
	uint64_t pkts, numbers;	     /* of blocks that agree, since the stated rate changed */
	struct rate_block open;	     /* that is being filled */
	/* Number and pool of the newest sample; where the pool goes back all the time, of each of several samplers that
	 * share the source, as sFlow's errata allow. */
	struct rate_line {
		uint32_t number, pool;
		uint64_t used; /* the sample, counted from 1; 0: never */
	} lines[RATE_LINES];
	uint32_t other;	   /* another rate that it stated, and numbers and pool of its samples while it was not believed */
	uint64_t other_numbers, other_pkts;
	struct rate_block odd; /* the last one that disagreed */
	uint64_t counted_pkts, counted_numbers; /* what the port counted, and numbers meanwhile */
};

/* Notes the rate and the pool of a source's newest sample, whose number of ours is so many above the one before.
 * Returns bits of oddities. *rise: frames by the pool since the sample before; 0 where it is refuted. */
uint32_t rate_check_sample(struct rate_check *c, const struct sflow_flow *f, uint32_t numbers, uint32_t *rise);

/* Notes how many frames the port counted, in the directions that it samples, since its counters before. */
uint32_t rate_check_counted(struct rate_check *c, uint64_t pkts);

/* Whether the pool rises by so much more than the rate says that it may be that of several sources: pools that rise as
 * one do so by chance where ports are alike, but then the rate is as stated. Who knows the others sets is_shared. */
static inline bool
rate_check_may_be_shared(const struct rate_check *c)
{
	return c->numbers >= 64 && c->stated > 0 && 10 * c->pkts > 13 * c->numbers * c->stated;
}

/* Returns the frames that a sample stands for: the stated rate, or what pool and numbers show clearly where nothing
 * refutes them (*differs is then set). 0: nothing says it. */
uint32_t rate_check_weight(const struct rate_check *c, bool *differs);

/* False if the pool is no count of this port's frames: Open vSwitch states the number of samples times the rate. */
bool rate_check_pool_is_real(const struct rate_check *c);

/* ---- numbers of samples, and drops ---- */

/* What the datagram of a sample says of its place among others. */
struct number_context {
	bool newer;	  /* than all before */
	bool again;	  /* it has come before */
	uint64_t missing; /* datagrams of the agent that did not come, so far */
	uint32_t most;	  /* samples in a datagram of it */
};

struct number_line {
	bool started;
	uint8_t odd;	   /* numbers that no single line has, lately */
	uint32_t sequence; /* of the newest sample, as the agent has it, */
	uint32_t own;	   /* and ours */
	uint32_t known;	   /* the highest of ours that an earlier collector gave; 0: none */
	uint64_t missing;  /* datagrams, by then */
	bool has_drops, drops_back;
	uint32_t drops, drops_pending; /* a rise that the next sample has to confirm */
};

struct number_step {
	uint32_t number;  /* the sample's, in one line without gaps but for losses */
	uint32_t advance; /* above the newest one before; 0: it is no newer */
	bool is_again;	  /* it has come before: it must not be used */
	uint32_t dropped; /* of the numbers missing before it, those that the agent says it dropped, */
	uint32_t dropped_apart; /* and samples that it dropped without numbers */
	uint32_t odd;	  /* bits of oddities */
};

/* Drops of an agent whose sources all state the same count, so that each counts once. */
struct drops_shared {
	bool is_apart; /* each source has its own */
	uint32_t newest;
};

/* Begins a line, with the number after `after`, or if that is 0 with the agent's own. is_used: false if the sample
 * itself cannot be read, so that it gets no number. */
void number_line_begin(struct number_line *l, const struct sflow_flow *f, uint32_t after, const struct number_context *c,
    struct drops_shared *shared, bool is_used);

/* Judges the number of a sample of a line that has begun. A number counts as lost where datagrams are missing or the
 * agent says that it dropped samples; else the agent numbers otherwise than one by one. */
void number_line_take(struct number_line *l, const struct sflow_flow *f, const struct number_context *c,
    struct drops_shared *shared, bool is_used, struct number_step *step);

/* ---- time ---- */

enum uptime_verdict { UPTIME_GOES_ON, UPTIME_RESTARTED, UPTIME_REFUTED };

/* Judges the time that an agent says it has run, when elapsed_us have passed since the datagram that said before_ms.
 * goes_on: the numbers of its datagrams do, so it has not begun anew. begins: they do; it may have run for less time
 * than one datagram takes to overtake another. */
enum uptime_verdict uptime_judge(uint32_t before_ms, uint32_t now_ms, uint64_t elapsed_us, bool goes_on, bool begins);

/* ---- counters ---- */

/* Repairs a speed: 0 where an agent states none that an interface has. *odd: it was no such speed. */
uint64_t speed_judge(uint64_t stated_bps, bool *odd);

enum octets_verdict { OCTETS_GO_ON, OCTETS_WRAPPED, OCTETS_BEGIN_ANEW, OCTETS_REFUTED };

/* Judges one direction's octets, when pkts frames (UINT64_MAX: not known) and elapsed_us passed since those before.
 * expected: octets by the samples meanwhile; 0: too few. is_32: they have wrapped at 32 bits. *rise: octets meanwhile,
 * of OCTETS_GO_ON and OCTETS_WRAPPED (which they do, or may have done). */
enum octets_verdict octets_judge(uint64_t before, uint64_t now, uint64_t pkts, uint64_t expected, bool is_32,
    uint64_t elapsed_us, uint64_t *rise);

/* ---- a frame's length ---- */

/* What a port's samples say of lengths since its newest counters, and which of both these agree with. */
struct length_check {
	bool is_of_packets; /* lengths are those that IP headers say; the stated ones leave out what was not kept */
	uint8_t n_off;	    /* of those looked at, lately, whose IP header says clearly another length */
	uint32_t n_seen, n;
	uint64_t stated_octets, packet_octets, counted_octets, counted_pkts;
};

/* Returns the length in octets of the frame that a sampled header is of, with FCS: the stated one, or if no frame can
 * have that, or the port's counters refute it, what its IP header says; 0: nothing tells. */
uint32_t frame_length_judge(
    struct length_check *c, uint32_t stated_octets, bool is_packet, const uint8_t *header, uint32_t kept_octets);

/* Whether the stated lengths are as a rule not those of the packets. */
static inline bool
length_check_is_odd(const struct length_check *c)
{
	return c->n_off >= 8;
}

/* Notes what the port counted meanwhile, in the directions that it samples. */
void length_check_counted(struct length_check *c, uint64_t octets, uint64_t pkts);

#endif
