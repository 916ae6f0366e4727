/*
 * Reads the records of a capture file, pcap or pcapng, Ethernet only. It reads what libpcap reads and
 * ends where libpcap ends; tests compare the two. But it maps the file, or reads it in blocks if it
 * cannot be mapped, and returns records in batches, because libpcap's call for each record and its copy
 * of each octet were the largest part of the emulated switch's cost. For a pcapng it also gives each
 * record's interface. Interfaces of other link types are left out and counted, where libpcap refuses
 * the file.
 *
 * The file is not trusted, nor that it stays unchanged: if it is truncated while it is mapped, it is
 * damaged from there on. Memory use is one block, whatever length a record claims.
 */
#ifndef EASE_AGENT_SIM_SAVEFILE_H
#define EASE_AGENT_SIM_SAVEFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct savefile;

enum {
	SAVEFILE_MAX_CAPTURED_OCTETS = 262144, /* libpcap's limit for Ethernet */
	SAVEFILE_MAX_INTERFACES = 1024,	       /* of a section; more count as damage */
	SAVEFILE_NAME_OCTETS = 32,	       /* of an interface's name */
};
#define SAVEFILE_NO_TIME UINT64_MAX

struct savefile_record {
	uint64_t time_us; /* since 1970; SAVEFILE_NO_TIME: missing or impossible */
	const uint8_t *octets;
	uint32_t captured_octets; /* at octets, within the file's snap length */
	uint32_t length_octets;	  /* on the wire, as the file claims */
	uint32_t interface;	  /* of the pcapng's section; 0 in a pcap */
};

/* Opens path; or uses file, and closes it also on failure, and path is its name in messages. interface is
 * the number or name of the interface whose records are read; NULL or "": all. -errno, and error names
 * the file and the reason: -EINVAL: not a capture; -EPROTONOSUPPORT: not Ethernet; -ENOENT: there is no
 * such interface. */
int savefile_open(const char *path, FILE *file, const char *interface, struct savefile **savefile,
    char *error, size_t error_size);
void savefile_close(struct savefile *savefile); /* NULL allowed */

/* Returns up to max records of the block in memory; 0: it has no complete one left. Their octets are
 * valid until savefile_fill. */
size_t savefile_read(struct savefile *savefile, struct savefile_record *records, size_t max);

enum savefile_state { SAVEFILE_MORE, SAVEFILE_END, SAVEFILE_DAMAGED };
/* Reads the next block, when savefile_read has returned 0. After damage, earlier records remain valid. */
enum savefile_state savefile_fill(struct savefile *savefile);
/* Describes the damage. */
const char *savefile_damage(const struct savefile *savefile);
/* Begins again at the first record; -errno if the file cannot seek or has changed. */
int savefile_rewind(struct savefile *savefile);

/* Records of interfaces that are not Ethernet, left out so far. */
uint64_t savefile_other_links(const struct savefile *savefile);

#endif
