/* Any octets are a capture or a refusal; what the feed makes of them runs through a board. */
#include "agent/sim/fabric.h"
#include "common/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BOARD                                                                                      \
	"chip \"s\" { type = gt48002a }\nchip \"m\" { type = c84302 }\n"                           \
	"port \"a\" {}\nport \"b\" {}\n"

/* The octets must be read, whatever they are; time never goes back at the board. */
static uint64_t
run(struct feed *feed, struct fabric *fabric, size_t batch)
{
	struct feed_frame frames[64];
	uint64_t sum = 0, now_us = 0;
	size_t n;

	while ((n = feed_next_batch(feed, frames, batch)) > 0) {
		for (struct feed_frame *f = frames; f < frames + n; f++) {
			if (f->port > 1 || f->captured_octets > f->wire_octets)
				abort();
			for (uint32_t i = 0; i < f->captured_octets; i++)
				sum += f->octets[i];
			now_us = f->time_us = f->time_us > now_us ? f->time_us : now_us;
			fabric_frame(fabric, f);
		}
		fabric_settle(fabric);
	}
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct feed_link_change down = {.at_us = 1, .port = 1};
	static const struct feed_error crc = {.kind = FEED_ERROR_CRC, .port = 0, .one_in = 2};
	struct feed_source source = {.path = "fuzz", .port = -1, .interface = size % 3 ? "" : "0"};
	struct feed_config config = {.sources = &source, .n_sources = 1, .n_ports = 2,
	    .ports = (const unsigned[]){0, 1}, .deal = size % 5 ? 0 : FEED_DEAL_INTERFACE,
	    .link_changes = &down, .n_link_changes = size & 1, .errors = &crc,
	    .n_errors = size >> 1 & 1, .preload = size >> 2 & 1};
	struct board_plan plan;
	struct bus_model *bus;
	struct fabric *fabric;
	struct feed *feed;
	char error[512] = "";

	log_open("fuzz", false, LOG_LEVEL_ERROR);
	if (size == 0 || !(source.file = fmemopen((void *)(uintptr_t)data, size, "rb")))
		return 0;
	if (feed_create(&config, &feed, error, sizeof(error)) < 0)
		return error[0] ? 0 : (abort(), 0);
	if (board_parse("b", BOARD, &plan, error, sizeof(error)) < 0 ||
	    bus_model_create(&bus) < 0 || fabric_create(bus, &plan, &fabric) < 0)
		abort();
	if (run(feed, fabric, 1 + size % 64) == UINT64_MAX)
		abort();
	feed_destroy(feed);
	fabric_destroy(fabric);
	bus_model_destroy(bus);
	board_free(&plan);
	return 0;
}
