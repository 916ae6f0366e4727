/*
 * Who is who: names of addresses, networks and VLANs from a file of the user's, of IP addresses
 * from the resolver, and of MAC addresses' makers from the IEEE's lists as Debian has them (package
 * ieee-data). The longest prefix wins; the file goes before the others.
 *
 * The file has a name a line, as /etc/hosts and /etc/ethers do, and prefixes and VLANs besides:
 *	10.20.1.15	backup1
 *	10.20.0.0/16	servers
 *	00:1b:21	lab
 *	vlan 5		voice
 * What follows the name is ignored, and all behind a #.
 */
#ifndef EASE_COLLECTOR_REPORT_DIRECTORY_H
#define EASE_COLLECTOR_REPORT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DIRECTORY_NAME = 64,	     /* room for a name and its NUL; longer ones are cut */
	DIRECTORY_ENTRIES = 1000000, /* of the file; more is a mistake */
	DIRECTORY_CACHE = 4096,	     /* names of the resolver kept; beyond, it is asked each time */
};

struct directory_options {
	const char *file;    /* NULL: none */
	const char *vendors; /* folder of oui.csv, mam.csv and oui36.csv; NULL: none */
	bool resolve;	     /* ask the resolver; it may take seconds an address */
};

struct directory;

/* 0, -ENOMEM, or with the reason in error (file:line): what opening gave, -EINVAL for a mistake. */
int directory_open(const struct directory_options *options, struct directory **directory,
    char *error, size_t error_size);
void directory_close(struct directory *directory);

/* The same of a text instead of files; name stands in errors. For tests. */
int directory_parse(const char *name, const char *text, struct directory **directory, char *error,
    size_t error_size);

/* The name of a MAC, IPv4 or IPv6 address (6, 4 or 16 octets), of just that prefix, of a VLAN; ""
 * if it has none, and of a NULL directory. May block with `resolve`. */
void directory_address(struct directory *directory, size_t n_octets, const uint8_t *octets,
    char name[DIRECTORY_NAME]);
void directory_prefix(const struct directory *directory, size_t n_octets, const uint8_t *octets,
    unsigned bits, char name[DIRECTORY_NAME]);
void directory_vlan(const struct directory *directory, unsigned vlan, char name[DIRECTORY_NAME]);

#endif
