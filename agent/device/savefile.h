/*
 * Reads the records of a capture file, pcap or pcapng, Ethernet only. Reads what libpcap reads and
 * ends where libpcap ends (tests hold it to that), but by windows of the file that are mapped, or
 * blocks of what cannot be, and by the batch, because libpcap's calls for each record and the copy
 * of each octet were the largest part of the emulated switch's cost. Of a pcapng it also tells each
 * record's interface; interfaces of other links are left out and counted, where libpcap refuses the
 * file.
 *
 * Trusts nothing the file says, and not that it stays as it is: one that is cut off while it is
 * mapped is damaged from there on. Memory is one block, however large a record claims to be.
 */
#ifndef EASE_AGENT_DEVICE_SAVEFILE_H
#define EASE_AGENT_DEVICE_SAVEFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct savefile;

enum {
	SAVEFILE_MAX_CAPTURED_OCTETS = 262144, /* libpcap's limit for Ethernet */
	SAVEFILE_MAX_INTERFACES = 1024,	       /* of a section; more are damage */
	SAVEFILE_NAME_OCTETS = 32,	       /* of an interface's name that are kept */
};
#define SAVEFILE_NO_TIME UINT64_MAX

struct savefile_record {
	uint64_t time_us; /* since 1970; SAVEFILE_NO_TIME: none, or impossible */
	const uint8_t *octets;
	uint32_t captured_octets; /* at octets, within the file's snap length */
	uint32_t length_octets;	  /* on the wire, as the file claims */
	uint32_t interface;	  /* of the pcapng's section; 0 in a pcap */
};

/* Opens path, or takes file over (also on failure) and path is its name in messages. interface: the
 * one whose records are wanted, by number or name; NULL or "": all. -errno, and error names the
 * file and the reason: -EINVAL no capture, -EPROTONOSUPPORT no Ethernet, -ENOENT no such
 * interface. */
int savefile_open(const char *path, FILE *file, const char *interface, struct savefile **savefile,
    char *error, size_t error_size);
void savefile_close(struct savefile *savefile); /* NULL allowed */

/* Up to max records out of the block in memory; 0: it has no whole one left. Their octets stay
 * valid until savefile_fill. */
size_t savefile_read(struct savefile *savefile, struct savefile_record *records, size_t max);

enum savefile_state { SAVEFILE_MORE, SAVEFILE_END, SAVEFILE_DAMAGED };
/* Reads the next block, once savefile_read gives 0. Damage: what came before was good. */
enum savefile_state savefile_fill(struct savefile *savefile);
/* Why it is damaged. */
const char *savefile_damage(const struct savefile *savefile);
/* Begins again at the first record; -errno if the file cannot seek or has changed. */
int savefile_rewind(struct savefile *savefile);

/* Records of interfaces that are not Ethernet, left out so far. */
uint64_t savefile_other_links(const struct savefile *savefile);

#endif
