/*
 * A board's input: frames of captures in the order of their times, and frames of network interfaces as
 * they arrive, each with its input port. A capture may belong to one port, or be dealt to several by
 * source address or by the interface at which it was recorded. The feed also has link changes at given
 * times, and may inject errors into frames at given rates.
 *
 * A file is not trusted: a record that is damaged, claims an impossible length or has no Ethernet header
 * is left out, counted and logged, and all others are used. Frames in captures have no FCS and may lack
 * padding; both are added to their length. After create, only the board's thread uses the feed.
 */
#ifndef EASE_AGENT_SIM_FEED_H
#define EASE_AGENT_SIM_FEED_H

#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct feed;

enum feed_deal {
	FEED_DEAL_ROUND_ROBIN, /* each new source address gets the next port and keeps it */
	FEED_DEAL_HASH,	       /* by a hash of the source address */
	FEED_DEAL_INTERFACE,   /* each interface of a pcapng gets the next port */
};

struct feed_source {
	const char *path; /* of the capture file, also used in messages */
	FILE *file;	  /* NULL: path is opened; else the feed closes it, also on failure */
	const char *interface; /* of a pcapng, by number or name; NULL or "": all */
	int port;	  /* -1: dealt to the ports of the configuration */
	/* If moved, the first frame comes start_us after the feed's start, else the times are as recorded.
	 * The feed starts with the earliest recorded frame of the sources that are not moved, or of the
	 * first source if all are moved. */
	bool moved;
	uint64_t start_us;
};

/* A network interface (live_input.h). Its frames come now, independent of the times of captures. */
struct feed_live {
	const char *interface;
	int port; /* -1: dealt by source address */
};

/* A port's link goes up or down once, at_us after the feed's start. */
struct feed_link_change {
	uint64_t at_us;
	unsigned port;
	bool up;
};

/* Errors injected into good frames of a port. A frame gets one error at most. */
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
	uint32_t one_in; /* one error in so many good frames, on average; at least 1 */
};

struct feed_config {
	const struct feed_source *sources;
	size_t n_sources; /* up to FEED_MAX_SOURCES */
	const unsigned *ports; /* to which captures are dealt */
	size_t n_ports;
	enum feed_deal deal;
	bool loop; /* each source begins again at its end, if its file can seek */
	bool preload; /* read all frames into memory first; for measuring */
	const struct feed_live *live;
	size_t n_live; /* up to FEED_MAX_SOURCES */
	const struct feed_link_change *link_changes; /* in any order */
	size_t n_link_changes;
	const struct feed_error *errors;
	size_t n_errors;
	uint64_t error_seed;
};

enum {
	FEED_MAX_SOURCES = 65,	     /* one for each port, and one to deal */
	FEED_DEAL_ADDRESSES = 65536, /* addresses remembered; further ones are dealt by hash */
	FEED_MAX_WIRE_OCTETS = 65535, /* a greater length is longer than any frame: damage */
};
#define FEED_LOOP_GAP_US 1000 /* between the last frame and the first of the next round */

enum feed_event { FEED_FRAME, FEED_LINK_UP, FEED_LINK_DOWN };

/* A frame or another event at a port. */
struct feed_frame {
	uint64_t time_us; /* the time in the capture */
	const uint8_t *octets;
	uint32_t captured_octets; /* at octets */
	uint32_t data_octets;	  /* known octets: the captured ones, and padding (zeros) if all were captured */
	uint32_t wire_octets;	  /* padded to 60, plus FCS; a runt (below 14) is not padded */
	uint16_t port;
	uint8_t event;	/* enum feed_event; only FEED_FRAME has octets */
	uint8_t faults; /* enum c84302_fault: errors injected */
};

/* Opens all sources and reads the first frame of each. On failure -errno, and error names the file and
 * the reason. */
int feed_create(const struct feed_config *config, struct feed **feed, char *error,
    size_t error_size);
void feed_destroy(struct feed *feed); /* NULL allowed */

/* The next frames: up to max, possibly fewer; 0: all sources have ended. Octets are valid until the next
 * call. */
size_t feed_next_batch(struct feed *feed, struct feed_frame *frames, size_t max);
/* Frames received by network interfaces since the last call, up to max; never waits. Octets are valid
 * until the next call; time_us is not set. */
bool feed_has_live(const struct feed *feed);
size_t feed_live_batch(struct feed *feed, struct feed_frame *frames, size_t max);
/* The time of the feed's start; 0 if it has no frame. */
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
	FEED_STAT_INJECTED, /* plus enum feed_error_kind */
	FEED_N_STATS = FEED_STAT_INJECTED + FEED_N_ERRORS
};
const struct stat_set *feed_stats(const struct feed *feed);

#endif
