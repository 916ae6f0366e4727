/*
 * Reads the same octets twice and compares: by the collector (the strict decoder, and after it the
 * library as collector/input/netsnmp_reader.h uses it), and by Net-SNMP's library alone. What
 * either of them accepts as an SNMPv2c trap or inform must read the same: community, PDU,
 * request-id, error fields, and each variable binding's name, type and value. The strict decoder,
 * the decode templates and the library must also give the same verdict and records.
 * netsnmp_reader.h lists the differences that are allowed.
 */
#ifndef EASE_TESTS_READINGS_H
#define EASE_TESTS_READINGS_H

#include <stddef.h>
#include <stdint.h>

enum readings {
	READINGS_NONE,	  /* neither accepts */
	READINGS_STRICT,  /* the strict decoder and Net-SNMP accept, and read the same */
	READINGS_LIBRARY, /* refused by the strict decoder, read the same by the library */
	/* Allowed differences, by their names in library.h. */
	READINGS_HEAD,
	READINGS_OPAQUE,
	READINGS_VALUES,
	READINGS_N,
};

/* Which of these it is; anything else is told on stderr and ends the program. */
enum readings readings_compare(const uint8_t *octets, size_t n);

#endif
