/* Any octets are a capture or a refusal; what the feed makes of them runs through a board. */
#include "agent/device/fabric.h"
#include "common/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BOARD                                                                                      \
	"chip \"s\" { type = gt48002a }\nchip \"m\" { type = c84302 }\n"                           \
	"port \"a\" {}\nport \"b\" {}\n"

static void
run(struct feed *feed, struct fabric *fabric)
{
	struct feed_frame frame;
	uint8_t sum = 0;

	for (unsigned n = 0; feed_next(feed, &frame); n++) {
		if (frame.port > 1 || frame.captured_octets > frame.wire_octets)
			abort();
		for (uint32_t i = 0; i < frame.captured_octets; i++)
			sum += frame.octets[i];
		fabric_frame(fabric, &frame);
		if (n % FABRIC_SETTLE_MAX == 0)
			fabric_settle(fabric);
	}
	__asm__ volatile("" : : "r"(sum)); /* the octets must be read, whatever they are */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed_source source = {.path = "fuzz", .port = -1};
	struct feed_config config = {
	    .sources = &source, .n_sources = 1, .ports = (const unsigned[]){0, 1}, .n_ports = 2};
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
	run(feed, fabric);
	feed_destroy(feed);
	fabric_destroy(fabric);
	bus_model_destroy(bus);
	board_free(&plan);
	return 0;
}
