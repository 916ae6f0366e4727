/*
 * Sampled headers as a pcap stream in a FIFO, for tcpdump or Wireshark:
 *     easecapd -c FILE --tap /run/ease.tap &   tcpdump -n -r /run/ease.tap
 * Each frame has the device's time and its length on the wire without FCS. Writing never waits:
 * without a reader nothing is written, and frames for which a slow reader leaves no room are lost
 * and counted. Each new reader gets a new pcap header. Only a FIFO that belongs to our user or to root
 * is written to: who owns it decides who reads what passes the switches.
 */
#ifndef EASE_COLLECTOR_TAP_H
#define EASE_COLLECTOR_TAP_H

#include "collector/record.h"
#include "common/clock.h"
#include "common/stat.h"

struct tap;

enum tap_stat_id {
	TAP_STAT_FRAMES,
	TAP_STAT_LOST,
	TAP_STAT_READERS,
	TAP_STAT_REFUSED,
	TAP_N_STATS,
};

/* Creates the FIFO if it does not exist. clock is borrowed. Ignores SIGPIPE for the process. 0, or
 * -errno with the reason in error. */
int tap_open(struct tap **out, const char *path, const struct clock *clock, char *error, size_t error_size);
void tap_close(struct tap *t);

/* Buffers the samples among the records. t may be NULL. */
void tap_take(struct tap *t, const struct ease_record *records, size_t n);

/* Writes the buffered samples, and checks for a reader now and then. t may be NULL. */
void tap_flush(struct tap *t);

const struct stat_set *tap_stats(const struct tap *t);

#endif
