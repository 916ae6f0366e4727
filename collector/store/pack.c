#include "collector/store/pack.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

enum { FORMAT = 1 };

/* How a column's values are written. */
enum pack_form {
	FORM_ZERO = 0,	  /* all values are 0; nothing is written */
	FORM_INTEGER = 1, /* 1 to 7: whole numbers of so many octets */
	FORM_INTEGER_MAX = 7,
	FORM_FLOAT = 9,
	FORM_DOUBLE = 10,
	FORM_TIMES = 11, /* the previous column times a constant (a double), as weights often are */
	FORM_MULTIPLE = 16, /* 17 to 23: a factor (a double), and whole numbers of 1 to 7 octets to be multiplied
			     * by it. Where one skip is in force, sums are multiples of it or of its square. */
};

struct form {
	uint8_t form;	  /* enum pack_form */
	uint8_t octets;	  /* of a value that is a whole number, or 0 */
	double factor;	  /* by which such a value is divided before it is written */
};

#define WHOLE_MAX 0x1p53 /* doubles represent every whole number up to here */

/* Conversions between values in memory and in a body; they do nothing on little-endian machines. */
static uint32_t
float_word(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return htole32(word);
}

static float
float_of(const uint8_t *from)
{
	uint32_t word;
	float value;

	memcpy(&word, from, sizeof(word));
	word = le32toh(word);
	memcpy(&value, &word, sizeof(value));
	return value;
}

static uint64_t
double_word(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return htole64(word);
}

static double
double_of(const uint8_t *from)
{
	uint64_t word;
	double value;

	memcpy(&word, from, sizeof(word));
	word = le64toh(word);
	memcpy(&value, &word, sizeof(value));
	return value;
}

struct pack_key
pack_key_of(int64_t agent, uint64_t if_index, uint8_t direction, const uint8_t *key1,
    uint8_t octets1, const uint8_t *key2, uint8_t octets2)
{
	uint32_t place[2] = {htobe32((uint32_t)agent), htobe32((uint32_t)if_index)};
	struct pack_key key = {{0}};

	assert(octets1 <= STORE_KEY_HALF && octets2 <= STORE_KEY_HALF);
	memcpy(key.octets, place, sizeof(place));
	key.octets[8] = (uint8_t)(if_index >> SOURCE_PORT_KIND << 2 | direction);
	key.octets[PACK_PLACE] = octets1;
	key.octets[PACK_PLACE + 1] = octets2;
	if (octets1 > 0)
		memcpy(key.octets + PACK_HEAD, key1, octets1);
	if (octets2 > 0)
		memcpy(key.octets + PACK_HEAD + octets1, key2, octets2);
	return key;
}

static size_t
key_octets(const struct pack_key *key)
{
	return (size_t)PACK_HEAD + key->octets[PACK_PLACE] + key->octets[PACK_PLACE + 1];
}

/* Writing */

static void
write_keys(struct wbuf *w, const struct pack *pack)
{
	static const struct pack_key none = {{0}};
	const struct pack_key *before = &none;

	for (unsigned i = 0; i < pack->n; i++) {
		const struct pack_key *key = &pack->keys[i];
		size_t octets = key_octets(key), shared = 0;

		while (shared < octets && key->octets[shared] == before->octets[shared])
			shared++;
		wbuf_u8(w, (uint8_t)shared);
		wbuf_put(w, key->octets + shared, octets - shared);
		before = key;
	}
}

static bool
is_times(const double *values, const double *before, unsigned n, double *factor)
{
	if (!before || before[0] == 0 || values[0] == 0)
		return false;
	*factor = values[0] / before[0];
	for (unsigned i = 0; i < n; i++) {
		double product = before[i] * *factor;

		if (product != values[i] || signbit(product) != signbit(values[i]))
			return false;
	}
	return true;
}

static uint8_t
octets_for(double most)
{
	uint8_t octets = 1;

	while (octets < FORM_INTEGER_MAX && most >= ldexp(1, 8 * octets))
		octets++;
	return octets;
}

/* Returns the greatest common divisor of whole numbers, not all 0. */
static double
common_divisor(const double *values, unsigned n)
{
	double divisor = 0;

	for (unsigned i = 0; i < n && divisor != 1; i++) {
		double rest = values[i];

		if (divisor > 0 && (double)(int64_t)(rest / divisor) * divisor == rest)
			continue; /* the usual case, without the slow remainder */
		while (rest > 0) {
			double next = fmod(divisor, rest);

			divisor = rest;
			rest = next;
		}
	}
	return divisor;
}

/* Returns the narrowest form of whole numbers. */
static struct form
form_of_whole(const double *values, unsigned n, double most)
{
	struct form form = {FORM_ZERO, octets_for(most), 1};
	double divisor;
	uint8_t octets;

	if (most == 0)
		return (struct form){FORM_ZERO, 0, 1};
	form.form = (uint8_t)(FORM_INTEGER + form.octets - 1);
	if (form.octets == 1)
		return form;
	divisor = common_divisor(values, n);
	octets = octets_for(most / divisor);
	if (n * octets + sizeof(double) < n * form.octets)
		form = (struct form){(uint8_t)(FORM_MULTIPLE + octets), octets, divisor};
	return form;
}

/* Returns the narrowest form of values, except FORM_TIMES. */
static struct form
form_of(const double *values, unsigned n)
{
	bool whole = true, single = true;
	struct form form;
	double most = 0;

	for (unsigned i = 0; i < n; i++) {
		whole = whole && values[i] >= 0 && values[i] < WHOLE_MAX &&
		    values[i] == floor(values[i]) && !signbit(values[i]);
		single = single && (double)(float)values[i] == values[i];
		most = fmax(most, values[i]);
	}
	if (whole)
		form = form_of_whole(values, n, most);
	if (whole && (form.octets <= sizeof(float) || !single))
		return form;
	return (struct form){single ? FORM_FLOAT : FORM_DOUBLE, 0, 1};
}

static void
pack_write_value(struct wbuf *w, const struct form *form, double value)
{
	uint64_t word;
	uint32_t single;

	assert(form->form != FORM_TIMES);
	switch (form->form) {
	case FORM_ZERO:
		break;
	case FORM_FLOAT:
		single = float_word((float)value);
		wbuf_put(w, &single, sizeof(single));
		break;
	case FORM_DOUBLE:
		word = double_word(value);
		wbuf_put(w, &word, sizeof(word));
		break;
	default:
		word = htole64((uint64_t)(value / form->factor));
		wbuf_put(w, &word, form->octets);
	}
}

static void
pack_write_column(struct wbuf *w, const double *values, const double *before, unsigned n)
{
	struct form form;
	double factor;

	if (n > 1 && is_times(values, before, n, &factor)) {
		wbuf_u8(w, FORM_TIMES);
		wbuf_put(w, &(uint64_t){double_word(factor)}, sizeof(uint64_t));
		return;
	}
	form = form_of(values, n);
	wbuf_u8(w, form.form);
	if (form.form > FORM_MULTIPLE)
		wbuf_put(w, &(uint64_t){double_word(form.factor)}, sizeof(uint64_t));
	for (unsigned i = 0; i < n; i++)
		pack_write_value(w, &form, values[i]);
}

size_t
pack_write(const struct pack *pack, uint8_t *body)
{
	struct wbuf head = wbuf_of(body, 8), w = wbuf_of(body + 8, PACK_OCTETS_MAX - 8);

	assert(pack->n > 0 && pack->n <= PACK_ENTRIES && pack->n_columns > 0 && pack->n_columns <= PACK_COLUMNS);
	write_keys(&w, pack);
	wbuf_u8(&head, FORMAT);
	wbuf_u8(&head, (uint8_t)pack->n_columns);
	wbuf_be(&head, pack->n, 2);
	wbuf_be(&head, w.len, 4);
	for (unsigned c = 0; c < pack->n_columns; c++)
		pack_write_column(&w, pack->columns[c], c > 0 ? pack->columns[c - 1] : NULL, pack->n);
	assert(!w.failed);
	return 8 + w.len;
}

/* Reading */

static size_t
pack_value_octets(uint8_t form)
{
	if (form >= FORM_INTEGER && form <= FORM_INTEGER_MAX)
		return form;
	if (form > FORM_MULTIPLE)
		return form - FORM_MULTIPLE;
	return form == FORM_FLOAT ? sizeof(float) : form == FORM_DOUBLE ? sizeof(double) : 0;
}

static int
open_column(struct pack_reader *reader, struct rbuf *r, unsigned c)
{
	uint8_t form = rbuf_u8(r);
	const uint8_t *factor;

	reader->columns[c].form = form;
	if (form == FORM_INTEGER_MAX + 1 || (form > FORM_TIMES && form <= FORM_MULTIPLE) ||
	    form > FORM_MULTIPLE + FORM_INTEGER_MAX || (form == FORM_TIMES && c == 0))
		return -EBADMSG;
	if (form >= FORM_TIMES) {
		factor = rbuf_take(r, sizeof(double));
		if (factor)
			reader->columns[c].factor = double_of(factor);
	}
	if (form != FORM_TIMES)
		reader->columns[c].values = rbuf_take(r, reader->n * pack_value_octets(form));
	return r->failed ? -EBADMSG : 0;
}

int
pack_open(struct pack_reader *reader, const void *body, size_t octets)
{
	struct rbuf r = rbuf_of(body, octets);
	int format = rbuf_u8(&r), err = 0;

	reader->n_columns = rbuf_u8(&r);
	reader->n = rbuf_be16(&r);
	reader->i = 0;
	reader->failed = false;
	memset(&reader->key, 0, sizeof(reader->key));
	reader->keys = rbuf_sub(&r, rbuf_be32(&r));
	if (r.failed || format != FORMAT || reader->n == 0 || reader->n > PACK_ENTRIES ||
	    reader->n_columns == 0 || reader->n_columns > PACK_COLUMNS)
		return -EBADMSG;
	for (unsigned c = 0; err == 0 && c < reader->n_columns; c++)
		err = open_column(reader, &r, c);
	return err == 0 && !rbuf_done(&r) ? -EBADMSG : err;
}

/* Loops of a fixed width, which a compiler can unroll. */
#define READ_WIDTH(octets)                                                                         \
	case octets:                                                                               \
		for (unsigned i = 0; i < n; i++) {                                                 \
			uint64_t v = 0;                                                            \
                                                                                                   \
			memcpy(&v, from + (size_t)i * (octets), octets);                           \
			to[i] = (double)(int64_t)le64toh(v);                                       \
		}                                                                                  \
		break

static void
read_values(uint8_t form, const uint8_t *from, unsigned n, double *to)
{
	switch (form > FORM_MULTIPLE ? form - FORM_MULTIPLE : form) {
		READ_WIDTH(1);
		READ_WIDTH(2);
		READ_WIDTH(3);
		READ_WIDTH(4);
		READ_WIDTH(5);
		READ_WIDTH(6);
		READ_WIDTH(7);
	case FORM_FLOAT:
		for (unsigned i = 0; i < n; i++)
			to[i] = (double)float_of(from + i * sizeof(float));
		break;
	case FORM_DOUBLE:
		for (unsigned i = 0; i < n; i++)
			to[i] = double_of(from + i * sizeof(double));
		break;
	}
}

/* Reads the values of the block that begins at entry reader->i. */
static void
pack_read_block(struct pack_reader *reader)
{
	unsigned n = reader->n - reader->i;

	assert(reader->i < reader->n && reader->i % PACK_BLOCK == 0);
	if (n > PACK_BLOCK)
		n = PACK_BLOCK;
	for (unsigned c = 0; c < reader->n_columns; c++) {
		uint8_t form = reader->columns[c].form;
		double *to = reader->block[c];

		if (form == FORM_ZERO && reader->i == 0)
			memset(to, 0, sizeof(reader->block[c]));
		else if (form == FORM_ZERO)
			continue; /* zeroed with the first block */
		else if (form == FORM_TIMES)
			for (unsigned i = 0; i < n; i++)
				to[i] = reader->block[c - 1][i] * reader->columns[c].factor;
		else
			read_values(form, reader->columns[c].values + reader->i * pack_value_octets(form), n, to);
		for (unsigned i = 0; form > FORM_MULTIPLE && i < n; i++)
			to[i] *= reader->columns[c].factor;
	}
}

static bool
read_key(struct pack_reader *reader)
{
	size_t before = key_octets(&reader->key), shared = rbuf_u8(&reader->keys), octets;
	uint8_t *key = reader->key.octets;
	const uint8_t *more;

	if (shared > before)
		return false;
	if (shared < PACK_HEAD) {
		more = rbuf_take(&reader->keys, PACK_HEAD - shared);
		if (!more)
			return false;
		memcpy(key + shared, more, PACK_HEAD - shared);
		shared = PACK_HEAD;
	}
	if (key[PACK_PLACE] > STORE_KEY_HALF || key[PACK_PLACE + 1] > STORE_KEY_HALF)
		return false;
	octets = key_octets(&reader->key);
	if (shared > octets)
		return false;
	more = rbuf_take(&reader->keys, octets - shared);
	if (more)
		memcpy(key + shared, more, octets - shared);
	if (octets < before)
		memset(key + octets, 0, before - octets);
	return more != NULL;
}

bool
pack_next(struct pack_reader *reader)
{
	if (reader->failed || reader->i == reader->n)
		return false;
	if (!read_key(reader) || (reader->i + 1 == reader->n && !rbuf_done(&reader->keys))) {
		reader->failed = true;
		return false;
	}
	if (reader->i % PACK_BLOCK == 0)
		pack_read_block(reader);
	reader->i++;
	return true;
}
