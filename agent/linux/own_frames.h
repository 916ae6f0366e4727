/*
 * Frames that carry this machine's own notifications and sFlow: a sample of one would cause another frame. Pure.
 */
#ifndef EASE_AGENT_LINUX_OWN_FRAMES_H
#define EASE_AGENT_LINUX_OWN_FRAMES_H

#include "common/frame.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the frame, of which the first octets are kept, is UDP to one of the n ports. */
static inline bool
own_frames_has(const uint16_t *ports, size_t n, const uint8_t *octets, size_t kept_octets)
{
	struct frame_keys keys;

	frame_parse(octets, kept_octets, &keys);
	if (!keys.has_ports || keys.ip_proto != IPPROTO_UDP)
		return false;
	for (size_t i = 0; i < n; i++)
		if (keys.dst_port == ports[i])
			return true;
	return false;
}

#endif
