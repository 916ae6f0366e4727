#include "tests/collector/dialects/ipfix_form.h"

#include <string.h>

enum { TEMPLATE = 384, OPTIONS = 257, LONG = 255, SAMPLER = 7, ENTERPRISE = 0x8000, PACKET_AT = 14 };

static void
put_value(struct wbuf *w, uint64_t value, size_t octets)
{
	wbuf_be(w, value, octets);
}

/* Octets, or as many zeros behind them as a field of that length needs. */
static void
put_section(struct wbuf *w, const uint8_t *section, size_t n, uint16_t octets)
{
	static const uint8_t zeros[256];

	if (octets != IPFIX_FORM_VARIABLE) {
		wbuf_put(w, section, n);
		wbuf_put(w, zeros, octets - n);
		return;
	}
	if (n < LONG) {
		wbuf_u8(w, (uint8_t)n);
	} else {
		wbuf_u8(w, LONG);
		wbuf_be16(w, (uint16_t)n);
	}
	wbuf_put(w, section, n);
}

static void
put_probability(struct wbuf *w, uint32_t rate, size_t octets)
{
	double probability = 1.0 / rate;
	float single = (float)probability;
	uint32_t of_single;
	uint64_t of_double;

	memcpy(&of_single, &single, sizeof(single));
	memcpy(&of_double, &probability, sizeof(probability));
	put_value(w, octets == sizeof(single) ? of_single : of_double, octets);
}

static void
put_field(struct wbuf *w, const struct ipfix_field *field, uint32_t rate, const struct ipfix_form *form, const struct flow *f)
{
	size_t n = field->octets;

	if (field->enterprise != 0) {
		put_value(w, 0, n);
		return;
	}
	switch (field->id) {
	case 10:
	case 252:
		put_value(w, f->input, n);
		break;
	case 14:
	case 253:
		put_value(w, f->output, n);
		break;
	case 61:
		put_value(w, form->is_sent, n);
		break;
	case 312:
		put_value(w, f->frame_octets - f->stripped, n);
		break;
	case 315:
		put_section(w, f->header, f->kept, field->octets);
		break;
	case 313:
		put_section(w, f->header + PACKET_AT, f->kept - PACKET_AT, field->octets);
		break;
	case 48:
	case 302:
		put_value(w, SAMPLER, n);
		break;
	case 34:
	case 50:
	case 310:
		put_value(w, rate, n);
		break;
	case 305:
	case 309:
		put_value(w, 1, n);
		break;
	case 306:
		put_value(w, rate - 1, n);
		break;
	case 311:
		put_probability(w, rate, n);
		break;
	default:
		for (; n > 0; n--)
			wbuf_u8(w, 1);
	}
}

static void
put_fields(struct wbuf *w, const struct ipfix_field *fields, uint32_t rate, const struct ipfix_form *form,
    const struct flow *f)
{
	for (; fields->id != 0; fields++)
		put_field(w, fields, rate, form, f);
}

void
ipfix_put_record(struct wbuf *w, const struct ipfix_form *form, const struct flow *f)
{
	put_fields(w, form->fields, f->rate, form, f);
}

static void
put_template(struct wbuf *w, uint16_t id, const struct ipfix_field *fields, uint16_t n_scope)
{
	uint16_t n = 0;

	while (fields[n].id != 0)
		n++;
	wbuf_be16(w, id);
	wbuf_be16(w, n);
	if (n_scope > 0)
		wbuf_be16(w, n_scope);
	for (; fields->id != 0; fields++) {
		wbuf_be16(w, fields->id | (fields->enterprise ? ENTERPRISE : 0));
		wbuf_be16(w, fields->octets);
		if (fields->enterprise)
			wbuf_be32(w, fields->enterprise);
	}
}

/* A set or a message begins with two octets each of what it is and of its length. */
static size_t
begin(struct wbuf *w, uint16_t what)
{
	wbuf_be16(w, what);
	wbuf_be16(w, 0);
	return w->len;
}

static void
end(struct wbuf *w, size_t began)
{
	struct wbuf length = wbuf_of(w->data + began - 2, 2);

	wbuf_be16(&length, (uint16_t)(w->len - began + 4));
}

static size_t
begin_message(struct wbuf *w, uint32_t export_s, uint32_t sequence)
{
	size_t began = begin(w, 10);

	wbuf_be32(w, export_s);
	wbuf_be32(w, sequence);
	wbuf_be32(w, IPFIX_FORM_DOMAIN);
	return began;
}

void
ipfix_put_templates(struct wbuf *w, const struct ipfix_form *form, uint32_t export_s, uint32_t sequence, uint32_t rate,
    uint32_t *n_records)
{
	size_t message = begin_message(w, export_s, sequence), set = begin(w, 2);

	put_template(w, TEMPLATE, form->fields, 0);
	end(w, set);
	*n_records = form->options[0].id != 0;
	if (*n_records > 0) {
		set = begin(w, 3);
		put_template(w, OPTIONS, form->options, form->n_scope);
		end(w, set);
		set = begin(w, OPTIONS);
		put_fields(w, form->options, rate, form, NULL);
		end(w, set);
	}
	end(w, message);
}

void
ipfix_put_message(struct wbuf *w, const struct ipfix_form *form, uint32_t export_s, uint32_t sequence,
    const uint8_t *records, size_t n)
{
	size_t message = begin_message(w, export_s, sequence), set = begin(w, TEMPLATE);

	wbuf_put(w, records, n);
	for (uint32_t i = 0; i < form->padding; i++)
		wbuf_u8(w, 0);
	end(w, set);
	end(w, message);
}
