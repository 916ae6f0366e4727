#include "collector/filter/device_names.h"

#include "collector/filter/filter.h"
#include "common/utf8.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which agents a row is for, and which of their ports; the greater, the more specific. */
enum who { WHO_ANY, WHO_PREFIX, WHO_ID };
enum what { WHAT_AGENT, WHAT_PATTERN, WHAT_SENT, WHAT_INDEX };

struct selector {
	uint8_t what;
	uint8_t who;
	uint8_t n_octets, bits; /* of an address */
	uint8_t octets[FRAME_IP_LEN]; /* of a prefix, zeros behind the bits, or the id */
};

/* Texts are offsets in the arena; 0: "", there is none. */
struct row {
	struct selector at;
	unsigned line;
	uint32_t if_index;
	uint32_t port; /* as sent, or with one * */
	uint32_t name, site;
	uint32_t text; /* of the whole row */
};

struct device_names {
	struct row *rows; /* sorted once finished */
	size_t n, room, n_patterns;
	uint32_t *in_order; /* their texts as they were added */
	struct other {
		uint32_t text;
		unsigned line;
		bool is_uplink;
	} *others;
	size_t n_others, others_room;
	char *arena;
	size_t n_octets, arena_room;
};

/* ---- mistakes ---- */

static int __attribute__((format(printf, 2, 3)))
refuse_file(char error[DEVICE_NAMES_ERROR], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, DEVICE_NAMES_ERROR, format, args);
	va_end(args);
	return -EINVAL;
}

/* "7: expected …, not "…"". */
static int
refuse_expected(char error[DEVICE_NAMES_ERROR], unsigned line, const char *what, const char *got)
{
	char shown[2 * DEVICE_NAME_MAX];

	if (!*got)
		return refuse_file(error, "%u: expected %s, not the end of the line", line, what);
	utf8_printable(got, shown, sizeof(shown));
	return refuse_file(error, "%u: expected %s, not \"%s\"", line, what, shown);
}

/* ---- words ---- */

struct word {
	char text[DEVICE_NAMES_LINE_MAX + 1];
	bool quoted;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes the next word, which is empty at the end of the line. False: a quote without its end. */
static bool
take_word(const char **at, struct word *word)
{
	const char *end;

	*at += strspn(*at, " \t");
	word->quoted = **at == '"';
	end = word->quoted ? strchr(*at + 1, '"') : *at + strcspn(*at, " \t\"#");
	if (!end) {
		snprintf(word->text, sizeof(word->text), "%s", *at);
		return false;
	}
	*at += word->quoted;
	memcpy(word->text, *at, (size_t)(end - *at));
	word->text[end - *at] = '\0';
	*at = end + word->quoted;
	if (word->quoted && strchr(word->text, '\t'))
		return false;
	return **at == '\0' || is_blank(**at) || **at == '#';
}

/* Octets of the row without blanks and comment at its end. */
static size_t
row_octets(const char *text)
{
	bool quoted = false;
	size_t n = 0;

	for (; text[n] && (quoted || text[n] != '#'); n++)
		quoted ^= text[n] == '"';
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	return n;
}

/* Blanks aside, what a terminal, a spreadsheet or a label may show as it is. */
static bool
device_is_printable(const char *text)
{
	char shown[2 * DEVICE_NAMES_LINE_MAX + 1];

	if (!utf8_is_valid(text))
		return false;
	utf8_printable(text, shown, sizeof(shown));
	for (size_t i = 0; text[i] || shown[i]; i++)
		if (text[i] != shown[i] && text[i] != '\t')
			return false;
	return true;
}

/* ---- one row ---- */

/* 0: no memory. */
static uint32_t
keep_text(struct device_names *names, const char *text, size_t n)
{
	size_t at = names->n_octets;

	if (at + n + 1 > names->arena_room) {
		size_t room = 2 * (at + n + 1) + 4096;
		char *arena = realloc(names->arena, room);

		if (!arena)
			return 0;
		names->arena = arena;
		names->arena_room = room;
	}
	memcpy(names->arena + at, text, n);
	names->arena[at + n] = '\0';
	names->n_octets += n + 1;
	return (uint32_t)at;
}

static bool
device_read_id(const char *text, struct selector *at)
{
	if (strlen(text) != 2 * EASE_AGENT_ID_LEN || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
		return false;
	at->who = WHO_ID;
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		at->octets[i] = (uint8_t)strtoul((const char[]){text[2 * i], text[2 * i + 1], 0}, NULL, 16);
	return true;
}

static bool
read_who(const char *text, struct selector *at)
{
	struct filter_prefix prefix;

	if (strcmp(text, "*") == 0 || device_read_id(text, at))
		return true;
	if (filter_parse_prefix(text, &prefix) != 0 || prefix.n_octets == FRAME_MAC_LEN)
		return false;
	at->who = WHO_PREFIX;
	at->n_octets = prefix.n_octets;
	at->bits = prefix.bits;
	filter_cut(prefix.octets, prefix.bits, at->octets);
	return true;
}

static bool
read_index(const char *text, uint32_t *if_index)
{
	unsigned long long value;

	if (strlen(text) > 10 || strspn(text, "0123456789") != strlen(text))
		return false;
	value = strtoull(text, NULL, 10);
	*if_index = (uint32_t)value;
	return value > 0 && value <= UINT32_MAX;
}

static unsigned
count_stars(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '*';
	return n;
}

#define EXPECTED_WHO "an agent: its id of 16 hexadecimal digits, an address, a prefix, or *"
#define EXPECTED_PORT "a port: its ifIndex, or its name, in which one * stands for anything"

static int
device_take_port(struct device_names *names, unsigned line, const char **at, struct row *row, char *error)
{
	struct word word;

	if (!take_word(at, &word) || !*word.text || strlen(word.text) > EASE_NAME_MAX || count_stars(word.text) > 1)
		return refuse_expected(error, line, EXPECTED_PORT, word.text);
	if (!word.quoted && isdigit((unsigned char)*word.text) && read_index(word.text, &row->if_index)) {
		row->at.what = WHAT_INDEX;
		return 0;
	}
	row->at.what = count_stars(word.text) > 0 ? WHAT_PATTERN : WHAT_SENT;
	row->port = keep_text(names, word.text, strlen(word.text));
	return row->port ? 0 : -ENOMEM;
}

/* Why a row cannot have the name; NULL: it can. */
static const char *
name_mistake(const struct row *row, const char *name)
{
	bool is_one = row->at.who == WHO_ID || (row->at.who == WHO_PREFIX && row->at.bits == 8 * row->at.n_octets);

	if (row->at.what == WHAT_AGENT && !is_one)
		return "site: a prefix or * is not one agent to be named";
	if (count_stars(name) != (row->at.what == WHAT_PATTERN))
		return row->at.what == WHAT_PATTERN ? "a name with one *, for what the port's * stands for"
						    : "a name without *: the port has none";
	return NULL;
}

/* "name NAME", "site SITE"; each once. 1 at the end of the line. */
static int
device_take_setting(struct device_names *names, unsigned line, const char **at, struct row *row, char *error)
{
	struct word key, value;
	bool is_name, is_site;
	const char *mistake = NULL;
	uint32_t text;

	if (!take_word(at, &key))
		return refuse_expected(error, line, "blanks between words, and a quote at the end of a quoted one", key.text);
	if (!*key.text && !key.quoted)
		return 1;
	is_name = !key.quoted && strcmp(key.text, "name") == 0 && row->name == 0;
	is_site = !key.quoted && strcmp(key.text, "site") == 0 && row->site == 0;
	if (!is_name && !is_site)
		return refuse_expected(error, line, "name or site, each once", key.text);
	if (!take_word(at, &value) || !*value.text)
		return refuse_expected(error, line, is_name ? "a name" : "a site", value.text);
	if (strlen(value.text) > DEVICE_NAME_MAX)
		return refuse_file(error, "%u: expected at most %d octets as a name, not %zu", line, DEVICE_NAME_MAX,
		    strlen(value.text));
	if (is_name)
		mistake = name_mistake(row, value.text);
	if (mistake)
		return refuse_expected(error, line, mistake, value.text);
	text = keep_text(names, value.text, strlen(value.text));
	*(is_name ? &row->name : &row->site) = text;
	return text ? 0 : -ENOMEM;
}

static int
device_read_row(struct device_names *names, unsigned line, const char *text, struct row *row, char *error)
{
	struct word word;
	int err = 0;

	if (!take_word(&text, &word) || word.quoted || (strcmp(word.text, "agent") != 0 && strcmp(word.text, "port") != 0))
		return refuse_expected(error, line, "agent, port, uplink or source", word.text);
	row->at.what = strcmp(word.text, "port") == 0 ? WHAT_SENT : WHAT_AGENT;
	if (!take_word(&text, &word) || word.quoted || !read_who(word.text, &row->at))
		return refuse_expected(error, line, EXPECTED_WHO, word.text);
	if (row->at.what != WHAT_AGENT)
		err = device_take_port(names, line, &text, row, error);
	while (err == 0)
		err = device_take_setting(names, line, &text, row, error);
	if (err == 1 && row->name == 0 && row->site == 0)
		return refuse_expected(error, line, "name or site", "");
	return err == 1 ? 0 : err;
}

/* "uplink AGENT PORT", "source AGENT SOURCE". 1: the row is none of these. */
static int
add_other(struct device_names *names, unsigned line, const char *text, char *error)
{
	struct word kind, who, what, end;
	char joined[2 * (DEVICE_NAMES_LINE_MAX + 1)];

	if (!take_word(&text, &kind) || kind.quoted || (strcmp(kind.text, "uplink") != 0 && strcmp(kind.text, "source") != 0))
		return 1;
	if (!take_word(&text, &who) || !*who.text)
		return refuse_expected(error, line, "an agent, or *", who.text);
	if (!take_word(&text, &what) || !*what.text)
		return refuse_expected(error, line, *kind.text == 'u' ? "a port" : "a source", what.text);
	if (!take_word(&text, &end) || *end.text || end.quoted)
		return refuse_expected(error, line, "the end of the line", end.text);
	if (names->n_others == DEVICE_NAMES_OTHERS_MAX)
		return refuse_file(error, "%u: expected at most %d rows of uplinks and sources", line, DEVICE_NAMES_OTHERS_MAX);
	if (names->n_others == names->others_room) {
		size_t room = names->others_room ? 2 * names->others_room : 64;
		struct other *others = realloc(names->others, room * sizeof(*others));

		if (!others)
			return -ENOMEM;
		names->others = others;
		names->others_room = room;
	}
	snprintf(joined, sizeof(joined), "%s %s", strcmp(who.text, "*") == 0 ? "any" : who.text, what.text);
	names->others[names->n_others] = (struct other){keep_text(names, joined, strlen(joined)), line, *kind.text == 'u'};
	return names->others[names->n_others++].text ? 0 : -ENOMEM;
}

static int
device_make_room(struct device_names *names)
{
	size_t room = names->room ? 2 * names->room : 64;
	struct row *rows;
	uint32_t *in_order;

	if (names->n < names->room)
		return 0;
	rows = realloc(names->rows, room * sizeof(*rows));
	if (rows)
		names->rows = rows;
	in_order = realloc(names->in_order, room * sizeof(*in_order));
	if (in_order)
		names->in_order = in_order;
	if (!rows || !in_order)
		return -ENOMEM;
	names->room = room;
	return 0;
}

int
device_names_add(struct device_names *names, unsigned line, const char *text, char error[DEVICE_NAMES_ERROR])
{
	char row_text[DEVICE_NAMES_LINE_MAX + 1];
	struct row row = {.line = line};
	size_t octets = strlen(text);
	int err;

	snprintf(error, DEVICE_NAMES_ERROR, "out of memory");
	if (octets > DEVICE_NAMES_LINE_MAX)
		return refuse_file(error, "%u: expected at most %d octets in a line, not %zu", line, DEVICE_NAMES_LINE_MAX,
		    octets);
	if (!device_is_printable(text))
		return refuse_file(error, "%u: expected UTF-8 without control characters", line);
	text += strspn(text, " \t");
	octets = row_octets(text);
	if (octets == 0)
		return 0;
	memcpy(row_text, text, octets);
	row_text[octets] = '\0';
	err = add_other(names, line, row_text, error);
	if (err <= 0)
		return err;
	err = device_make_room(names);
	if (err == 0)
		err = device_read_row(names, line, row_text, &row, error);
	if (err)
		return err;
	if (names->n == DEVICE_NAMES_MAX)
		return refuse_file(error, "%u: expected at most %d rows", line, DEVICE_NAMES_MAX);
	if (row.at.what == WHAT_PATTERN && names->n_patterns++ == DEVICE_NAMES_PATTERNS_MAX)
		return refuse_file(error, "%u: expected at most %d rows with a * in the port's name", line,
		    DEVICE_NAMES_PATTERNS_MAX);
	row.text = keep_text(names, row_text, octets);
	names->in_order[names->n] = row.text;
	names->rows[names->n++] = row;
	return row.text ? 0 : -ENOMEM;
}

/* ---- order ---- */

static int
device_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Agents before ports, and then the most specific first. */
static int
compare_who(const struct selector *a, const struct selector *b)
{
	int order = device_compare_numbers(a->what != WHAT_AGENT, b->what != WHAT_AGENT);

	if (order == 0)
		order = device_compare_numbers(b->who, a->who);
	if (order == 0)
		order = device_compare_numbers(a->n_octets, b->n_octets);
	if (order == 0)
		order = device_compare_numbers(b->bits, a->bits);
	return order ? order : memcmp(a->octets, b->octets, sizeof(a->octets));
}

static int
device_compare_rows(const void *a, const void *b, void *arg)
{
	const struct row *x = a, *y = b;
	const struct device_names *names = arg;
	int order = compare_who(&x->at, &y->at);

	if (order == 0)
		order = device_compare_numbers(y->at.what, x->at.what);
	if (order == 0)
		order = device_compare_numbers(x->if_index, y->if_index);
	if (order == 0 && x->at.what == WHAT_PATTERN)
		order = device_compare_numbers(strlen(names->arena + y->port), strlen(names->arena + x->port));
	if (order == 0 && x->at.what == WHAT_PATTERN && strcmp(names->arena + x->port, names->arena + y->port) != 0)
		return device_compare_numbers(x->line, y->line);
	return order ? order : strcmp(names->arena + x->port, names->arena + y->port);
}

static bool
device_is_same(const struct device_names *names, const struct row *a, const struct row *b)
{
	return compare_who(&a->at, &b->at) == 0 && a->at.what == b->at.what && a->if_index == b->if_index &&
	    strcmp(names->arena + a->port, names->arena + b->port) == 0;
}

/* A later row for the same: the next one, but patterns of one agent and length stand by their lines. NULL: none. */
static const struct row *
device_find_same(const struct device_names *names, size_t i)
{
	const struct row *row = &names->rows[i];

	for (size_t k = i + 1; k < names->n; k++) {
		if (device_is_same(names, row, &names->rows[k]))
			return &names->rows[k];
		if (row->at.what != WHAT_PATTERN || names->rows[k].at.what != WHAT_PATTERN)
			break;
	}
	return NULL;
}

static int
refuse_same_rows(const struct device_names *names, char *error)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct row *a = &names->rows[i], *b = device_find_same(names, i);

		if (b)
			return refuse_file(error, "%u: expected another %s: line %u has it already",
			    a->line > b->line ? a->line : b->line, a->at.what == WHAT_AGENT ? "agent" : "agent or port",
			    a->line < b->line ? a->line : b->line);
	}
	return 0;
}

static int
device_compare_names(const void *a, const void *b, void *arg)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
	const struct device_names *names = arg;
	int order = strcmp(names->arena + x->name, names->arena + y->name);

	return order ? order : device_compare_numbers(x->line, y->line);
}

/* Two agents of one name could not be told apart. */
static int
refuse_same_names(struct device_names *names, char *error)
{
	const struct row **agents = calloc(names->n + 1, sizeof(*agents));
	size_t n = 0;
	int err = 0;

	if (!agents)
		return -ENOMEM;
	for (size_t i = 0; i < names->n; i++)
		if (names->rows[i].at.what == WHAT_AGENT && names->rows[i].name)
			agents[n++] = &names->rows[i];
	qsort_r(agents, n, sizeof(*agents), device_compare_names, names);
	for (size_t i = 1; err == 0 && i < n; i++)
		if (strcmp(names->arena + agents[i - 1]->name, names->arena + agents[i]->name) == 0)
			err = refuse_file(error, "%u: expected another name than %s: line %u has it already", agents[i]->line,
			    names->arena + agents[i]->name, agents[i - 1]->line);
	free(agents);
	return err;
}

int
device_names_finish(struct device_names *names, char error[DEVICE_NAMES_ERROR])
{
	int err;

	snprintf(error, DEVICE_NAMES_ERROR, "out of memory");
	if (names->n > 1)
		qsort_r(names->rows, names->n, sizeof(*names->rows), device_compare_rows, names);
	err = refuse_same_rows(names, error);
	return err ? err : refuse_same_names(names, error);
}

/* ---- the file ---- */

struct device_names *
device_names_create(void)
{
	struct device_names *names = calloc(1, sizeof(*names));

	if (names) {
		keep_text(names, "", 0); /* offset 0 */
		if (names->arena)
			return names;
		free(names);
	}
	return NULL;
}

void
device_names_destroy(struct device_names *names)
{
	if (!names)
		return;
	free(names->rows);
	free(names->in_order);
	free(names->others);
	free(names->arena);
	free(names);
}

/* A file may come from Windows: with a byte order mark, and CR at the ends of lines. */
static int
device_read_lines(struct device_names *names, const char *text, size_t octets, char *error)
{
	char line[DEVICE_NAMES_LINE_MAX + 3];
	unsigned number = 0;
	int err = 0;

	if (octets >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		octets -= 3;
	}
	while (err == 0 && octets > 0) {
		const char *end = memchr(text, '\n', octets);
		size_t n = end ? (size_t)(end - text) : octets, whole = n + (end != NULL);

		number++;
		if (memchr(text, '\0', n))
			return refuse_file(error, "%u: expected UTF-8 without control characters", number);
		if (n > 0 && text[n - 1] == '\r')
			n--;
		if (n > DEVICE_NAMES_LINE_MAX)
			return refuse_file(error, "%u: expected at most %d octets in a line, not %zu", number,
			    DEVICE_NAMES_LINE_MAX, n);
		memcpy(line, text, n);
		line[n] = '\0';
		err = device_names_add(names, number, line, error);
		text += whole;
		octets -= whole;
	}
	return err;
}

int
device_names_parse(const char *name, const char *text, size_t octets, struct device_names **out,
    char error[DEVICE_NAMES_ERROR])
{
	struct device_names *names = device_names_create();
	char reason[DEVICE_NAMES_ERROR] = "out of memory";
	int err = names ? device_read_lines(names, text, octets, reason) : -ENOMEM;

	if (err == 0)
		err = device_names_finish(names, reason);
	if (err) {
		snprintf(error, DEVICE_NAMES_ERROR, err == -ENOMEM ? "%.*s: %s" : "%.*s:%s", DEVICE_NAMES_ERROR / 2, name,
		    reason);
		device_names_destroy(names);
		names = NULL;
	}
	*out = names;
	return err;
}

/* As much as a file may have, and one octet more. */
static int
names_read_all(FILE *in, char **text, size_t *octets)
{
	size_t room = 0, n = 0;

	*text = NULL;
	do {
		char *more;

		room = room ? 2 * room : 1 << 16;
		more = realloc(*text, room);
		if (!more)
			return -ENOMEM;
		*text = more;
		n += fread(*text + n, 1, room - n, in);
	} while (n == room && n <= DEVICE_NAMES_FILE_MAX);
	*octets = n;
	return ferror(in) ? (errno ? -errno : -EIO) : 0;
}

int
device_names_open(const char *path, struct device_names **names, char error[DEVICE_NAMES_ERROR])
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t octets = 0;
	int err = in ? 0 : -errno;

	*names = NULL;
	errno = 0;
	if (in)
		err = names_read_all(in, &text, &octets);
	if (in)
		fclose(in);
	if (err)
		snprintf(error, DEVICE_NAMES_ERROR, "%.*s: %s", DEVICE_NAMES_ERROR / 2, path, strerror(-err));
	else if (octets > DEVICE_NAMES_FILE_MAX)
		err = refuse_file(error, "%.*s: expected at most %d octets", DEVICE_NAMES_ERROR / 2, path,
		    DEVICE_NAMES_FILE_MAX);
	else
		err = device_names_parse(path, text, octets, names, error);
	free(text);
	return err;
}

size_t
device_names_n_rows(const struct device_names *names)
{
	return names->n;
}

struct device_names_other
device_names_other(const struct device_names *names, size_t i)
{
	const struct other *other = &names->others[i];

	if (i >= names->n_others)
		return (struct device_names_other){0};
	return (struct device_names_other){names->arena + other->text, other->is_uplink, other->line};
}

const char *
device_names_row(const struct device_names *names, size_t i)
{
	return i < names->n ? names->arena + names->in_order[i] : NULL;
}

/* ---- asking ---- */

/* The rows for these agents: of the agents themselves or of their ports. */
static struct device_names_range
range_of(const struct device_names *names, const struct selector *wanted)
{
	struct device_names_range range;
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_who(&names->rows[middle].at, wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	range.from = (uint32_t)low;
	for (high = names->n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (compare_who(&names->rows[middle].at, wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	range.to = (uint32_t)low;
	return range;
}

static const char *
text_at(const struct device_names *names, uint32_t at)
{
	return at ? names->arena + at : NULL;
}

/* Takes what the rows for this selector say of the agent, and notes those of its ports. */
static void
add_selector(const struct device_names *names, struct selector at, struct device_names_agent *agent)
{
	struct device_names_range range;

	at.what = WHAT_AGENT;
	range = range_of(names, &at);
	if (range.from < range.to) {
		const struct row *row = &names->rows[range.from];

		agent->name = agent->name ? agent->name : text_at(names, row->name);
		agent->site = agent->site ? agent->site : text_at(names, row->site);
	}
	at.what = WHAT_INDEX;
	range = range_of(names, &at);
	if (range.from == range.to)
		return;
	agent->ranges[agent->n_ranges++] = range;
	for (uint32_t i = range.from; i < range.to && !agent->has_port_sites; i++)
		agent->has_port_sites = names->rows[i].site != 0;
}

void
device_names_of_agent(const struct device_names *names, const uint8_t id[EASE_AGENT_ID_LEN], const char *address,
    struct device_names_agent *agent)
{
	struct filter_prefix prefix = {0};
	struct selector at = {.who = WHO_ID};

	*agent = (struct device_names_agent){0};
	memcpy(at.octets, id, EASE_AGENT_ID_LEN);
	add_selector(names, at, agent);
	if (filter_parse_prefix(address, &prefix) == 0 && prefix.n_octets != FRAME_MAC_LEN)
		for (unsigned bits = prefix.bits + 1u; bits-- > 0;) {
			at = (struct selector){.who = WHO_PREFIX, .n_octets = prefix.n_octets, .bits = (uint8_t)bits};
			filter_cut(prefix.octets, bits, at.octets);
			add_selector(names, at, agent);
		}
	add_selector(names, (struct selector){.who = WHO_ANY}, agent);
}

/* What the * of a pattern stands for: *from and *octets of sent. */
static bool
fits_pattern(const char *pattern, const char *sent, const char **from, size_t *octets)
{
	size_t before = strcspn(pattern, "*"), behind = strlen(pattern) - before - 1, n = strlen(sent);

	if (n < before + behind || memcmp(sent, pattern, before) != 0 ||
	    memcmp(sent + n - behind, pattern + before + 1, behind) != 0)
		return false;
	*from = sent + before;
	*octets = n - before - behind;
	return true;
}

/* The name with what its * stands for, cut at a character. */
static void
write_name(const char *with_star, const char *from, size_t octets, char name[EASE_NAME_MAX + 1])
{
	size_t before = strcspn(with_star, "*");
	char whole[DEVICE_NAME_MAX + EASE_NAME_MAX + 1];

	snprintf(whole, sizeof(whole), "%.*s%.*s%s", (int)before, with_star, (int)octets, from,
	    with_star[before] ? with_star + before + 1 : "");
	snprintf(name, EASE_NAME_MAX + 1, "%.*s", (int)utf8_cut(whole, EASE_NAME_MAX), whole);
}

static void
device_take_row(const struct device_names *names, const struct row *row, const char *from, size_t octets, char *name,
    const char **site)
{
	if (!*name && row->name)
		write_name(names->arena + row->name, from, octets, name);
	if (!*site)
		*site = text_at(names, row->site);
}

/* Rows with an ifIndex and with a whole name are found by their order; those with a * are few. */
static void
take_exact(const struct device_names *names, const struct device_names_range *range, enum what what,
    uint64_t if_index, const char *sent, char *name, const char **site)
{
	uint32_t low = range->from, high = range->to;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct row *row = &names->rows[middle];
		int order = device_compare_numbers((uint64_t)what, row->at.what);

		if (order == 0)
			order = device_compare_numbers(row->if_index, if_index);
		if (order == 0)
			order = strcmp(names->arena + row->port, sent);
		if (order == 0) {
			device_take_row(names, row, "", 0, name, site);
			return;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
}

/* They are the last rows of an agent. */
static uint32_t
first_pattern(const struct device_names *names, const struct device_names_range *range)
{
	uint32_t first = range->to;

	while (first > range->from && names->rows[first - 1].at.what == WHAT_PATTERN)
		first--;
	return first;
}

void
device_names_of_port(const struct device_names *names, const struct device_names_agent *agent, uint64_t if_index,
    const char *sent, char name[EASE_NAME_MAX + 1], const char **site)
{
	const char *from;
	size_t octets;

	*name = '\0';
	*site = NULL;
	for (size_t r = 0; r < agent->n_ranges; r++) {
		const struct device_names_range *range = &agent->ranges[r];

		take_exact(names, range, WHAT_INDEX, if_index, "", name, site);
		take_exact(names, range, WHAT_SENT, 0, sent, name, site);
		for (uint32_t i = first_pattern(names, range); i < range->to; i++)
			if (fits_pattern(names->arena + names->rows[i].port, sent, &from, &octets))
				device_take_row(names, &names->rows[i], from, octets, name, site);
	}
}

bool
device_names_has_site(const struct device_names *names, const char *site)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->arena + names->rows[i].site, site) == 0)
			return *site != '\0';
	return false;
}
