/*
 * The truth about a capture, counted frame by frame: who sent how much to whom. What tests and the
 * demo compare estimates with, so it shares no code with the sampler, the estimator or
 * common/frame: its own parser over libpcap.
 *
 * Octets are those on the wire: padded to 60, plus 4 of FCS. Frames longer than 1,518 octets with
 * FCS, which a switch counts but neither forwards nor samples, are counted again on their own.
 */
#ifndef EASE_TESTS_TRUTH_H
#define EASE_TESTS_TRUTH_H

#include <stddef.h>
#include <stdint.h>

enum {
	TRUTH_KEY_MAX = 34,
	TRUTH_FRAME_MAX_OCTETS = 1518,
};

enum truth_class {
	TRUTH_MAC_PAIR,	  /* source MAC, destination MAC */
	TRUTH_IP_PAIR,	  /* 4 or 6, source, destination (16 octets each, IPv4 in the first 4) */
	TRUTH_SOURCE_MAC,
	TRUTH_PROTOCOL,	  /* 0, ethertype (2 octets, 0 for an 802.3 length); or 4, IP protocol */
	/* Of TCP SYNs without ACK that are no later fragments: 4 or 6, address of 16 octets, and of servers the port */
	TRUTH_SYN_SERVER,
	TRUTH_SYN_SOURCE,
	TRUTH_N_CLASSES,
};

struct truth_count {
	uint64_t packets, octets;
	uint64_t captured_octets; /* as the capture states lengths: no padding, no FCS */
	uint64_t over_packets, over_octets; /* those longer than 1,518 */
};

struct truth_row {
	uint8_t key[TRUTH_KEY_MAX]; /* unused octets are zero */
	struct truth_count count;
};

struct truth_table {
	struct truth_row *rows; /* in no order until truth_sort */
	size_t n;
	struct truth_row **slots; /* open addressing, a power of two */
	size_t n_slots;
};

struct truth {
	struct truth_count total;
	struct truth_table classes[TRUTH_N_CLASSES];
	double first_s, last_s; /* time of the earliest and of the latest frame, since 1970 */
	char damage[256]; /* what ended the file before its end; "" if nothing did */
};

extern const size_t truth_key_octets[TRUTH_N_CLASSES];

/* Counts all frames of a capture; on damage those before it. 0, or -errno with the reason in
 * error (a file that is no capture, or whose link type is not Ethernet: -EPROTO). */
int truth_load(const char *path, struct truth *truth, char *error, size_t error_size);
/* As truth_load, but ends before the first frame that comes `seconds` or more after the first one. */
int truth_load_first(const char *path, double seconds, struct truth *truth, char *error,
    size_t error_size);
void truth_free(struct truth *truth);

/* A key's count; NULL if it is not there. */
const struct truth_count *truth_find(const struct truth *truth, enum truth_class class,
    const uint8_t *key);

/* Sorts rows by octets, largest first, then by key. No truth_find after it. */
void truth_sort(struct truth *truth);

/* src and dst as canonical text; "" where the class has none. Room: 46 octets each. */
void truth_key_text(enum truth_class class, const uint8_t *key, char *src, char *dst);

#endif
