/*
 * The frame of a flow sample, whatever record describes it: a header that begins with Ethernet (header_protocol 1),
 * with IP (11, 12), PPP (7) or MPLS (13), or fields in its place (sampled_ethernet, sampled_ipv4, sampled_ipv6: sFlow Version 5,
 * section 5.3), of which the headers are made that would have them. What the fields do not say is not made:
 * a sampled_ipv4 alone has no MACs.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_FRAME_H
#define EASE_COLLECTOR_INPUT_SFLOW_FRAME_H

#include "common/sample.h"
#include "common/sflow_wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Ethernet, IPv6, and TCP up to its flags. */
enum { SFLOW_FRAME_MADE = 14 + 40 + 14 };

/* Sets header, kept_octets, is_packet, frame_octets, vlan and is_outer_vlan of the sample, whose direction is set.
 * Octets without a header in the datagram are written to made, which the sample then borrows. Returns false, and
 * the sample must not be used, if no record says anything of the frame. */
bool sflow_frame_fill(
    const struct sflow_flow *f, uint8_t made[static SFLOW_FRAME_MADE], struct ease_sample *sample);

/* Whether the frame's length is that of a record that counts the FCS. */
static inline bool
sflow_frame_is_ethernet(const struct sflow_flow *f)
{
	return f->has_header && f->header_protocol == SFLOW_ETHERNET && f->kept_octets > 0;
}

#endif
