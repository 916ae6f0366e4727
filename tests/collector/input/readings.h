/*
 * Two readings of the same octets held against each other: by the collector (the strict decoder,
 * and behind it the library as collector/input/netsnmp_reader.h uses it) and by Net-SNMP's library alone.
 * Whatever either of them accepts as an SNMPv2c trap or inform must read the same: community, PDU,
 * request-id, error fields, and each variable binding's name, type and value; and the parts that it
 * carries must give the same verdict and the same records by the strict decoder, by the shapes
 * learned so far, and by the library's way. Knows the differences that library.h allows.
 */
#ifndef EASE_TESTS_READINGS_H
#define EASE_TESTS_READINGS_H

#include <stddef.h>
#include <stdint.h>

enum readings {
	READINGS_NONE,	  /* neither accepts */
	READINGS_STRICT,  /* the strict decoder and Net-SNMP accept, and read the same */
	READINGS_LIBRARY, /* the strict decoder refuses, its way to the library reads the same */
	/* Allowed differences, by their names in library.h. */
	READINGS_HEAD,
	READINGS_OPAQUE,
	READINGS_VALUES,
	READINGS_N,
};

/* Which of these it is; anything else is told on stderr and ends the program. */
enum readings readings_compare(const uint8_t *octets, size_t n);

#endif
