/* Any text is a board that can be drawn and built, or a mistake with a message. */
#include "agent/sim/board_draw.h"
#include "agent/sim/fabric.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), error[512] = "";
	struct board_plan plan;
	struct bus_model *bus;
	struct fabric *fabric;

	if (board_parse("fuzz", text, &plan, error, sizeof(error)) < 0) {
		if (!error[0])
			abort();
	} else {
		FILE *picture = fopen("/dev/null", "w");

		board_draw(picture, "fuzz", &plan, &(struct board_feed_config){.capture = "c"});
		fclose(picture);
		if (bus_model_create(&bus) < 0 || fabric_create(bus, &plan, &fabric) < 0)
			abort();
		fabric_destroy(fabric);
		bus_model_destroy(bus);
	}
	board_free(&plan);
	free(text);
	return 0;
}
