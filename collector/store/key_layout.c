#include "collector/store/key_layout.h"

uint8_t
key_octets_behind(const struct key_layout *layout, unsigned half)
{
	uint8_t n = 0;

	for (size_t i = 0; i < KEY_HALF_FIELDS && layout->halves[half - 1][i] != KEY_NO_FIELD; i++)
		n = (uint8_t)(n + key_field_octets(layout->halves[half - 1][i]));
	return n;
}

struct key_reader
key_reader_of(unsigned kind)
{
	const struct key_single *single = key_single_of(kind);
	struct key_reader r = {.layout = key_layout_of(single ? single->of : kind), .half = single ? single->half : 0};

	for (unsigned half = 1; r.layout && half <= 2; half++) {
		r.behind[half - 1] = key_octets_behind(r.layout, half);
		for (size_t i = 0; (r.half == 0 || r.half == half) && i < KEY_HALF_FIELDS; i++)
			r.has |= (uint16_t)(1u << r.layout->halves[half - 1][i]);
	}
	return r;
}
