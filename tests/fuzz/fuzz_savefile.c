/* Any octets are a capture that can be read twice the same way, or a refusal with a message. */
#include "agent/sim/savefile.h"
#include "common/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sum over all records up to the end. */
static uint64_t
read_all(struct savefile *file)
{
	struct savefile_record records[16];
	uint64_t sum = 0;
	size_t n;

	do {
		while ((n = savefile_read(file, records, 16)) > 0)
			for (size_t i = 0; i < n; i++) {
				sum = sum * 31 + records[i].time_us + records[i].length_octets;
				for (uint32_t k = 0; k < records[i].captured_octets; k++)
					sum = sum * 31 + records[i].octets[k];
			}
	} while (savefile_fill(file) == SAVEFILE_MORE);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *stream = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
	struct savefile *file;
	char error[512] = "";
	uint64_t sum;

	log_open("fuzz", false, LOG_LEVEL_ERROR);
	if (!stream)
		return 0;
	if (savefile_open("fuzz", stream, size % 4 ? NULL : "1", &file, error, sizeof(error)) < 0)
		return error[0] ? 0 : (abort(), 0);
	sum = read_all(file);
	if (savefile_rewind(file) == 0 && read_all(file) != sum)
		abort();
	savefile_close(file);
	return 0;
}
