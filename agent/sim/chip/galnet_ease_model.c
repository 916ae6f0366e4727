#include "agent/sim/chip/galnet_ease_model.h"

#include <string.h>

/* So far that a stopped counter is never decremented to a value in use. */
#define OUT_OF_REACH (UINT64_MAX / 2)

void
galnet_ease_init(struct galnet_ease *ease)
{
	memset(ease, 0, sizeof(*ease));
	for (unsigned i = 0; i < GALNET_EASE_COUNTERS; i++)
		ease->at[i] = OUT_OF_REACH;
	ease->due = OUT_OF_REACH;
}

void
galnet_ease_run(struct galnet_ease *ease, unsigned counter, uint32_t left)
{
	ease->at[counter] = ease->flooded + left;
	if (counter >= ease->end)
		ease->end = counter + 1;
	if (ease->at[counter] < ease->due)
		ease->due = ease->at[counter];
}

uint32_t
galnet_ease_stop(struct galnet_ease *ease, unsigned counter)
{
	uint32_t left = galnet_ease_left(ease, counter);

	ease->at[counter] = OUT_OF_REACH;
	return left;
}

/* `due` may be too early, because a counter may have been stopped or loaded since. Then no counter samples
 * the packet, and only `due` is computed again. */
void
galnet_ease_take_flooded(struct galnet_ease *ease)
{
	uint64_t due = OUT_OF_REACH;

	for (unsigned i = 0; i < ease->end; i++) {
		unsigned device = i / GALNET_MAX_PORTS;

		if (ease->at[i] == ease->flooded) {
			ease->at[i] = OUT_OF_REACH;
			ease->sampled[device] |= (uint8_t)(1u << i % GALNET_MAX_PORTS);
			ease->sampled_devices |= 1u << device;
		} else if (ease->at[i] < due) {
			due = ease->at[i];
		}
	}
	ease->due = due;
	ease->flooded++;
}
