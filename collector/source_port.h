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
 * InterfaceIndex is at most 2^31 - 1 (RFC 2863), so these have numbers above. Agents that nevertheless give interfaces
 * larger numbers (encapsulations, negative ones) keep them, but for those that stand here:
 *
 *   80000000  8CIIIIII  class 0 without index; class C of 1 to 7, index I
 *   c0000000  cCIIIIII  the same: their numbers
 *   aSIIIIII  bSIIIIII  a further sub-agent's numbers, at interface I
 */
#ifndef EASE_COLLECTOR_SOURCE_PORT_H
#define EASE_COLLECTOR_SOURCE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SOURCE_PORT_CLASS_MAX = 7, SOURCE_PORT_INDEX_MAX = 0xffffff, /* sFlow has classes 0 to 3 */
	SOURCE_PORT_FURTHER_MAX = 31, /* further sub-agents of an interface */
};

#define SOURCE_PORT	    0x80000000u
#define SOURCE_PORT_NUMBERS 0x40000000u /* it has the source's numbers */
#define SOURCE_PORT_FURTHER 0xa0000000u

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

	return SOURCE_PORT_FURTHER | n << 24 | (if_index & SOURCE_PORT_INDEX_MAX);
}

/* Whether the port counts the numbers of a further sub-agent. */
static inline bool
source_port_is_further(uint32_t if_index)
{
	return if_index >> 29 == SOURCE_PORT_FURTHER >> 29;
}

/* Whether the number is one of these ports'; else it is an interface's. */
static inline bool
source_port_is(uint32_t if_index)
{
	uint32_t class = if_index >> 24 & 63, index = if_index & SOURCE_PORT_INDEX_MAX;

	return if_index >= SOURCE_PORT && (source_port_is_further(if_index) ||
	    (class == 0 ? index == 0 : class <= SOURCE_PORT_CLASS_MAX));
}

static inline bool
source_port_has_numbers(uint32_t if_index)
{
	return source_port_is(if_index) && (source_port_is_further(if_index) || if_index & SOURCE_PORT_NUMBERS);
}

/* "source 2:1000", as sFlow writes class and index; "source 2:1000, no port"; "if7" of an interface, and "if7,
 * sub-agent +1" of the numbers of a further one. */
static inline void
source_port_name(uint32_t if_index, char *name, size_t size)
{
	if (!source_port_is(if_index))
		snprintf(name, size, "if%u", if_index);
	else if (source_port_is_further(if_index))
		snprintf(name, size, "if%u, sub-agent +%u", if_index & SOURCE_PORT_INDEX_MAX,
		    if_index >> 24 & SOURCE_PORT_FURTHER_MAX);
	else
		snprintf(name, size, "source %u:%u%s", if_index >> 24 & SOURCE_PORT_CLASS_MAX,
		    if_index & SOURCE_PORT_INDEX_MAX, source_port_has_numbers(if_index) ? "" : ", no port");
}

#endif
