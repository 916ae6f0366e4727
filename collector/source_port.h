/*
 * Data sources of sFlow that are no interface (sFlow Version 5, section 4.2.2: a VLAN, a physical entity such as
 * the whole bridge of Open vSwitch, a logical one) as ports. Their samples lie at the port where each frame came
 * in; the numbers of the samples are the source's, though, and so are its drops and losses. For these it has a
 * port of its own, which counts numbers and nothing else. Samples that do not say where they came in lie at
 * another one.
 *
 * No interface has such a number: InterfaceIndex is at most 2^31 - 1 (RFC 2863).
 */
#ifndef EASE_COLLECTOR_SOURCE_PORT_H
#define EASE_COLLECTOR_SOURCE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SOURCE_PORT_CLASS_MAX = 63, SOURCE_PORT_INDEX_MAX = 0xffffff };

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

static inline bool
source_port_has_numbers(uint32_t if_index)
{
	return if_index >= (SOURCE_PORT | SOURCE_PORT_NUMBERS);
}

/* "source 2:1000", as sFlow writes class and index; "source 2:1000, no port"; and "if7" of an interface. */
static inline void
source_port_name(uint32_t if_index, char *name, size_t size)
{
	if (if_index < SOURCE_PORT)
		snprintf(name, size, "if%u", if_index);
	else
		snprintf(name, size, "source %u:%u%s", if_index >> 24 & SOURCE_PORT_CLASS_MAX,
		    if_index & SOURCE_PORT_INDEX_MAX, source_port_has_numbers(if_index) ? "" : ", no port");
}

#endif
