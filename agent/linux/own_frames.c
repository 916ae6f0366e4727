#include "agent/linux/own_frames.h"

#include "common/frame.h"

#include <netinet/in.h>

bool
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
