/* Frames of every link type that --import knows: a datagram within the frame, or none. */
#include "collector/import.h"

#include <pcap/dlt.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int link_types[] = {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_NULL,
	    DLT_LOOP, DLT_RAW, -1};
	struct sockaddr_storage from;
	const uint8_t *octets;
	size_t n;

	for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++) {
		if (import_datagram(link_types[i], data, size, &from, &octets, &n) < 0)
			continue;
		if (octets < data || n > size || octets + n > data + size)
			abort();
		if (from.ss_family != AF_INET && from.ss_family != AF_INET6)
			abort();
	}
	return 0;
}
