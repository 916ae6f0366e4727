/*
 * A board's input: frames of one or several captures in the order of their times, and of network
 * interfaces as they come, each with the port it comes in by. A capture may belong to one port, or
 * be dealt to several by source address or by the interface it was recorded at. Between the
 * frames come changes of links, at given times; and frames may be damaged on their way, at given
 * rates.
 *
 * Trusts nothing a file says: what is damaged, claims impossible lengths or has no Ethernet header
 * is left out, counted and logged, and all that was good is kept. Frames in captures have no FCS
 * and may lack the padding; both are added to their length. Used by the board's thread alone
 * after create.
 */
#ifndef EASE_AGENT_DEVICE_FEED_H
#define EASE_AGENT_DEVICE_FEED_H

#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct feed;

enum feed_deal {
	FEED_DEAL_ROUND_ROBIN, /* each new source address goes to the next port, and stays */
	FEED_DEAL_HASH,	       /* by a hash of the source address */
	FEED_DEAL_INTERFACE,   /* a pcapng's interfaces by turns */
};

struct feed_source {
	const char *path; /* of the savefile; its name in messages */
	FILE *file;	  /* NULL: path is opened; else taken over, also on failure */
	const char *interface; /* of a pcapng, number or name; NULL or "": all */
	int port;	  /* -1: dealt to the ports of the configuration */
	/* Moved so that its first frame comes start_us behind the feed's start; else its times are
	 * as recorded. The feed starts with the first frame as recorded of all sources that are not
	 * moved; if all are, with the first source's. */
	bool moved;
	uint64_t start_us;
};

/* A network interface (live_input.h). Its frames are no part of the order of times: they come now. */
struct feed_live {
	const char *interface;
	int port; /* -1: dealt by source address */
};

/* A port's link goes up or down, at_us behind the feed's start, once. */
struct feed_link_change {
	uint64_t at_us;
	unsigned port;
	bool up;
};

/* What the line does to frames of a port. Only good frames are hit, and lose nothing else. */
enum feed_error_kind {
	FEED_ERROR_CRC,
	FEED_ERROR_ALIGNMENT,
	FEED_ERROR_SYMBOL,
	FEED_ERROR_GIANT,    /* too long */
	FEED_ERROR_JABBER,   /* too long, with a bad FCS */
	FEED_ERROR_RUNT,     /* too short */
	FEED_ERROR_FRAGMENT, /* too short, with a bad FCS */
	FEED_N_ERRORS
};

struct feed_error {
	enum feed_error_kind kind;
	unsigned port;
	uint32_t one_in; /* good frames, on average; at least 1 */
};

struct feed_config {
	const struct feed_source *sources;
	size_t n_sources; /* up to FEED_MAX_SOURCES */
	const unsigned *ports; /* that take part when a capture is dealt */
	size_t n_ports;
	enum feed_deal deal;
	bool loop; /* each source begins again behind its end, if its file can seek */
	bool preload; /* all frames are read once, and then come from memory; for measuring */
	const struct feed_live *live;
	size_t n_live; /* up to FEED_MAX_SOURCES */
	const struct feed_link_change *link_changes; /* in any order */
	size_t n_link_changes;
	const struct feed_error *errors;
	size_t n_errors;
	uint64_t error_seed;
};

enum {
	FEED_MAX_SOURCES = 65,	     /* one a port, and one to deal */
	FEED_DEAL_ADDRESSES = 65536, /* remembered; later ones are dealt by hash */
	FEED_MAX_WIRE_OCTETS = 65535, /* longer than any link layer's frame: a lying length */
};
#define FEED_LOOP_GAP_US 1000 /* between the last frame and the first of the next round */

enum feed_event { FEED_FRAME, FEED_LINK_UP, FEED_LINK_DOWN };

/* A frame at a port, or something else that happens to the port at that time. */
struct feed_frame {
	uint64_t time_us; /* by the capture */
	const uint8_t *octets;
	uint32_t captured_octets; /* at octets */
	uint32_t data_octets;	  /* known ones: captured, and padding (zeros) if it is whole */
	uint32_t wire_octets;	  /* padded to 60, FCS in; a runt (below 14) is not padded */
	uint16_t port;
	uint8_t event;	/* enum feed_event; without octets if it is no frame */
	uint8_t faults; /* enum c84302_fault: what the line did to it */
};

/* Opens all sources and reads each one's first frame. On failure -errno, and error says which file
 * and why. */
int feed_create(const struct feed_config *config, struct feed **feed, char *error,
    size_t error_size);
void feed_destroy(struct feed *feed); /* NULL allowed */

/* The next frames, up to max, as many as are at hand; 0: all sources are at their end. Octets are
 * valid until the next call. */
size_t feed_next_batch(struct feed *feed, struct feed_frame *frames, size_t max);
/* One frame: false at the end. */
bool feed_next(struct feed *feed, struct feed_frame *frame);
/* Frames that network interfaces have brought since the last call, up to max; never waits. Octets
 * are valid until the next call; time_us is none. */
bool feed_has_live(const struct feed *feed);
size_t feed_live_batch(struct feed *feed, struct feed_frame *frames, size_t max);
/* Time of its start: of the first frame if no source is moved; 0 if there is none. */
uint64_t feed_first_us(const struct feed *feed);

enum feed_stat {
	FEED_STAT_DAMAGED,
	FEED_STAT_LYING,
	FEED_STAT_CUT_HEADERS,
	FEED_STAT_RUNTS,
	FEED_STAT_BAD_TIMES,
	FEED_STAT_OTHER_LINKS,
	FEED_STAT_DEAL_FULL,
	FEED_STAT_LOOPS,
	FEED_STAT_LINK_CHANGES,
	FEED_STAT_LIVE_LOST,
	FEED_STAT_LIVE_FAILURES,
	FEED_STAT_INJECTED, /* and enum feed_error_kind */
	FEED_N_STATS = FEED_STAT_INJECTED + FEED_N_ERRORS
};
const struct stat_set *feed_stats(const struct feed *feed);

#endif
