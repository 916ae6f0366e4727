/* Any octets at all are a frame cut off somewhere: keys must be sane, no octet beyond read, and
 * none given that the whole lacks; the first octet, of a MAC, says where to cut. */
#include "common/frame.h"
#include "tests/common/frame_cut.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_layer(const struct frame_keys *keys)
{
	char text[FRAME_IP_TEXT];

	if ((keys->has_ports || keys->has_icmp) && (!keys->has_ip_proto || keys->is_fragment))
		abort();
	if (keys->has_ip_proto && !keys->ip_version)
		abort();
	frame_format_mac(keys->src_mac, text);
	if (keys->ip_version)
		frame_format_ip(keys->ip_version, keys->src_ip, text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_inner layer;

	frame_parse(data, size, &layer.keys);
	if (layer.keys.ip_version && !layer.keys.has_ethertype)
		abort();
	do
		check_layer(&layer.keys);
	while (frame_open(data, size, &layer.keys, &layer));
	if (size > 0 && frame_cut_invents(data, data[0] % (size + 1), size))
		abort();
	return 0;
}
