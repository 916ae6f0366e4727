/* Any text is a filter that can be judged, whose own text means the same, or a mistake with its place. */
#include "collector/filter/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is known is drawn from the text itself. */
static void
draw_subject(struct filter_subject *subject, const uint8_t *data, size_t size)
{
	static const uint8_t octets[FRAME_IP_LEN] = {10, 20, 1, 15, 0x21, 5};

	*subject = (struct filter_subject){0};
	for (unsigned field = 0; field < FILTER_N_FIELDS && field < size; field++) {
		uint32_t bit = FILTER_BIT(field);

		if (data[field] & 1)
			filter_set_absent(subject, bit);
		else if (data[field] & 2 && bit & FILTER_MACS)
			filter_set_address(subject, (enum filter_field)field, octets, FRAME_MAC_LEN);
		else if (data[field] & 2 && bit & (FILTER_IPS | FILTER_INNER_IPS))
			filter_set_address(subject, (enum filter_field)field, octets, data[field] & 4 ? 4 : FRAME_IP_LEN);
		else if (data[field] & 2)
			filter_set_number(subject, (enum filter_field)field, data[field]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct filter filter, again;
	char *text = strndup((const char *)data, size), error[FILTER_ERROR_TEXT] = "";
	struct filter_subject subject;

	filter = again = (struct filter){0};
	draw_subject(&subject, data, size);
	if (filter_add(&filter, text, error) != 0) {
		if (!strstr(error, "expected") || filter.n_nodes > 0 || filter_judge(&filter, &subject) != FILTER_YES)
			abort();
	} else {
		/* the text of both has more parentheses, of which there may be too many */
		bool is_none = filter_add(&filter, "not any", error) == 0;

		if (is_none && filter_judge(&filter, &subject) != FILTER_NO)
			abort();
		if (filter_add(&again, filter.text, error) == 0 &&
		    (filter.fields != again.fields || (is_none && filter_judge(&again, &subject) != FILTER_NO)))
			abort();
	}
	free(text);
	return 0;
}
