/* Any octets at all are a frame cut off somewhere: keys must be sane and no octet beyond read. */
#include "common/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_keys keys;
	char text[FRAME_IP_TEXT];

	frame_parse(data, size, &keys);
	if (keys.has_ports && (!keys.has_ip_proto || keys.is_fragment))
		abort();
	if (keys.ip_version && !keys.has_ethertype)
		abort();
	frame_format_mac(keys.src_mac, text);
	if (keys.ip_version)
		frame_format_ip(keys.ip_version, keys.src_ip, text);
	return 0;
}
