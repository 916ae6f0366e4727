#include "collector/store/key_layout.h"

uint8_t
key_octets_behind(const struct key_layout *layout, unsigned half)
{
	uint8_t n = 0;

	for (size_t i = 0; i < KEY_HALF_FIELDS && layout->halves[half - 1][i] != KEY_NO_FIELD; i++)
		n = (uint8_t)(n + key_field_octets(layout->halves[half - 1][i]));
	return n;
}

bool
key_read_half(const struct key_layout *layout, unsigned half, const uint8_t *octets, uint8_t n, struct key_fields *fields)
{
	const uint8_t *field = layout->halves[half - 1];
	uint8_t behind = key_octets_behind(layout, half);

	if (n < behind + (field[0] < KEY_N_ADDRESSES && field[0] != KEY_NO_FIELD))
		return false;
	for (size_t i = 0; i < KEY_HALF_FIELDS && field[i] != KEY_NO_FIELD; i++) {
		uint8_t octets_of = key_field_octets(field[i]);

		fields->of[field[i]].n = octets_of > 0 ? octets_of : (uint8_t)(n - behind);
		fields->of[field[i]].octets = octets;
		octets += fields->of[field[i]].n;
	}
	return true;
}
