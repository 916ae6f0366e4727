/* Reads any octets by the strict decoder, by decode templates, by the library after them, and by
 * Net-SNMP's library alone: all agree, except as netsnmp_reader.h allows. Half of the inputs are
 * valid BER that is damaged (tests/collector/input/ber_spoil.h). */
#include "collector/input/netsnmp_reader.h"
#include "tests/collector/input/ber_spoil.h"
#include "tests/collector/input/readings.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	netsnmp_reader_open(); /* or every line of the library goes to stderr */
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t spoilt[1 << 16];
	uint64_t random = seed;
	size_t n;

	if (seed & 1)
		return LLVMFuzzerMutate(data, size, max_size);
	n = ber_spoil(data, size, spoilt, sizeof(spoilt), 8 + seed % 64, &random);
	if (n == 0 || n > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data, spoilt, n);
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	readings_compare(data, size);
	return 0;
}
