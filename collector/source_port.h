/*
 * Data sources of sFlow that are no interface (sFlow Version 5, section 4.2.2: a VLAN, a physical entity such as
 * the whole bridge of Open vSwitch, a logical one) as ports. Their samples lie at the port where each frame came
 * in; the numbers of the samples are the source's, though, and so are its drops and losses. For these it has a
 * port of its own, which counts numbers and nothing else. Samples that do not say where they came in lie at
 * another one.
 *
 * An interface that several sub-agents of a device sample is one port as well; the numbers of each after the first
 * have a port of their own.
 *
 * A port's number is its ifIndex, 32 bits. Above these stands the kind of these ports, 6 bits:
 *
 *   1NCCC   a source of class C that is no interface; N: its numbers
 *   1SSSSS  with bit 5: those of a further sub-agent S of an interface
 */
#ifndef EASE_COLLECTOR_SOURCE_PORT_H
#define EASE_COLLECTOR_SOURCE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SOURCE_PORT_KIND = 32, /* the bit where the kind begins */
	SOURCE_PORT_CLASS_MAX = 7, /* sFlow has classes 0 to 3 */
	SOURCE_PORT_SUB_AGENTS = 24, /* further sub-agents of an interface: so many ids, */
	SOURCE_PORT_LARGE = 8,	     /* and so many larger ones; in 5 bits */
	SOURCE_PORT_NAME = 32, /* octets of a name with its NUL */
};

#define SOURCE_PORT	    ((uint64_t)0x10 << SOURCE_PORT_KIND)
#define SOURCE_PORT_NUMBERS ((uint64_t)0x08 << SOURCE_PORT_KIND) /* it has the source's numbers */
#define SOURCE_PORT_FURTHER ((uint64_t)0x20 << SOURCE_PORT_KIND)

/* The port at which its samples lie that do not say where they came in. */
static inline uint64_t
source_port_of(uint32_t source_class, uint32_t index)
{
	return SOURCE_PORT | (uint64_t)(source_class & SOURCE_PORT_CLASS_MAX) << SOURCE_PORT_KIND | index;
}

/* The port that counts its numbers. */
static inline uint64_t
source_port_of_numbers(uint32_t source_class, uint32_t index)
{
	return SOURCE_PORT_NUMBERS | source_port_of(source_class, index);
}

/* The port that counts the numbers of a further sub-agent of an interface: by its id in the datagram, or, of larger ones,
 * by its place among the device's, so that two of them are hardly ever one. */
static inline uint64_t
source_port_of_further(uint32_t sub_agent, unsigned place, uint64_t if_index)
{
	uint64_t n = sub_agent < SOURCE_PORT_SUB_AGENTS ? sub_agent : SOURCE_PORT_SUB_AGENTS + place % SOURCE_PORT_LARGE;

	return SOURCE_PORT_FURTHER | n << SOURCE_PORT_KIND | (uint32_t)if_index;
}

static inline bool
source_port_has_numbers(uint64_t port)
{
	return port & (SOURCE_PORT_FURTHER | SOURCE_PORT_NUMBERS);
}

/* "source 2:1000", as sFlow writes class and index; "source 2:1000, no port"; "if7" of an interface, and "if7,
 * sub-agent 3" of the numbers of a further one. */
static inline void
source_port_name(uint64_t port, char *name, size_t size)
{
	uint32_t index = (uint32_t)port;
	unsigned kind = (unsigned)(port >> SOURCE_PORT_KIND);

	if (kind == 0)
		snprintf(name, size, "if%u", index);
	else if (port & SOURCE_PORT_FURTHER)
		snprintf(name, size, "if%u, sub-agent %s%u", index, (kind & 31) < SOURCE_PORT_SUB_AGENTS ? "" : ">",
		    (kind & 31) < SOURCE_PORT_SUB_AGENTS ? kind & 31 : SOURCE_PORT_SUB_AGENTS - 1);
	else
		snprintf(name, size, "source %u:%u%s", kind & SOURCE_PORT_CLASS_MAX, index,
		    source_port_has_numbers(port) ? "" : ", no port");
}

#endif
