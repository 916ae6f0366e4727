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
 * No interface has such a number: InterfaceIndex is at most 2^31 - 1 (RFC 2863).
 */
#ifndef EASE_COLLECTOR_SOURCE_PORT_H
#define EASE_COLLECTOR_SOURCE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SOURCE_PORT_CLASS_MAX = 31, SOURCE_PORT_INDEX_MAX = 0xffffff,
	SOURCE_PORT_FURTHER = 32, SOURCE_PORT_FURTHER_MAX = 31, /* classes of ours: further sub-agents of an interface */
};

#define SOURCE_PORT	    0x80000000u
#define SOURCE_PORT_NUMBERS 0x40000000u /* it has the source's numbers */

/* Whether a source of this class and index has ports: not if either is too large. */
static inline bool
source_port_is_possible(uint32_t source_class, uint32_t index)
{
	return source_class <= SOURCE_PORT_CLASS_MAX && index <= SOURCE_PORT_INDEX_MAX;
}

/* The port at which its samples lie that do not say where they came in. */
static inline uint32_t
source_port_of(uint32_t source_class, uint32_t index)
{
	return SOURCE_PORT | source_class << 24 | index;
}

/* The port that counts its numbers. */
static inline uint32_t
source_port_of_numbers(uint32_t source_class, uint32_t index)
{
	return SOURCE_PORT_NUMBERS | source_port_of(source_class, index);
}

/* The port that counts the numbers of a further sub-agent, 1, 2, …, of an interface. */
static inline uint32_t
source_port_of_further(uint32_t sub_agent, uint32_t if_index)
{
	uint32_t n = sub_agent <= SOURCE_PORT_FURTHER_MAX ? sub_agent : SOURCE_PORT_FURTHER_MAX;

	return source_port_of_numbers(SOURCE_PORT_FURTHER + n, if_index & SOURCE_PORT_INDEX_MAX);
}

static inline bool
source_port_has_numbers(uint32_t if_index)
{
	return if_index >= (SOURCE_PORT | SOURCE_PORT_NUMBERS);
}

/* "source 2:1000", as sFlow writes class and index; "source 2:1000, no port"; "if7" of an interface, and "if7,
 * sub-agent +1" of the numbers of a further one. */
static inline void
source_port_name(uint32_t if_index, char *name, size_t size)
{
	uint32_t class = if_index >> 24 & 63;

	if (if_index < SOURCE_PORT)
		snprintf(name, size, "if%u", if_index);
	else if (class >= SOURCE_PORT_FURTHER)
		snprintf(name, size, "if%u, sub-agent +%u", if_index & SOURCE_PORT_INDEX_MAX, class - SOURCE_PORT_FURTHER);
	else
		snprintf(name, size, "source %u:%u%s", class,
		    if_index & SOURCE_PORT_INDEX_MAX, source_port_has_numbers(if_index) ? "" : ", no port");
}

#endif
