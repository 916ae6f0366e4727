#include "common/options.h"
#include "common/text.h"

#include <confuse.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/*
 * libconfuse reads the syntax and counts the lines, and takes every value for a string. Types,
 * bounds and messages are ours, so that all options are refused in the same words.
 */
enum {
	FILE_OCTETS_MAX = 1 << 20, /* far more than a person writes */
	STRING_OCTETS_MAX = 4095,  /* if a row sets no maximum: PATH_MAX less its NUL */
	ITEMS_MAX = 4096,	   /* items of a list, or sections, if a row sets no maximum */
	REASON_OCTETS = 256,
};

struct parse {
	const char *file;
	const char *text; /* without comments */
	const struct option_row *table;
	char *error;
	size_t error_size;
	bool failed;
	int secret_line; /* where the last value ends, if it is a secret; else 0 */
};

/* libconfuse's callbacks carry no pointer of ours. A thread parses one file at a time. */
static _Thread_local struct parse *current;

static void *
member_of(void *config, size_t offset)
{
	return (char *)config + offset;
}

static const void *
const_member(const void *config, size_t offset)
{
	return (const char *)config + offset;
}

static uint64_t
options_limit_of(const struct option_row *row, uint64_t otherwise)
{
	return row->max ? row->max : otherwise;
}

static size_t
options_table_rows(const struct option_row *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

/* Reports the first mistake only: later ones often follow from it. */
static void __attribute__((format(printf, 4, 5)))
fail_option(struct parse *p, int line, const char *name, const char *format, ...)
{
	char reason[REASON_OCTETS];
	va_list args;

	if (p->failed)
		return;
	p->failed = true;
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (name)
		snprintf(p->error, p->error_size, "%s:%d: %s: %s", p->file, line, name, reason);
	else
		snprintf(p->error, p->error_size, "%s:%d: %s", p->file, line, reason);
}

/* Reads a decimal number, or a hexadecimal one with 0x; no sign and no space are allowed. */
static bool
options_parse_number(const char *text, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (!strchr(hex ? "0123456789abcdefABCDEF" : "0123456789", digits[0]) || !digits[0])
		return false;
	errno = 0;
	*value = strtoull(digits, &end, hex ? 16 : 10);
	return !*end && !errno;
}

static bool
options_set_number(const struct option_row *row, const char *text, void *to, char *reason)
{
	const char *unit = row->unit ? row->unit : "";
	uint64_t value;

	if (!options_parse_number(text, &value) || value < row->min || value > row->max) {
		snprintf(reason, REASON_OCTETS,
		    "must be a whole number from %" PRIu64 " to %" PRIu64 "%s%s, not \"%.40s\"",
		    row->min, row->max, *unit ? " " : "", unit, text);
		return false;
	}
	if (to && row->type == OPTION_U32)
		*(uint32_t *)to = (uint32_t)value;
	else if (to)
		*(uint64_t *)to = value;
	return true;
}

static bool
set_bool(const char *text, void *to, char *reason)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		if (to)
			*(bool *)to = i & 1;
		return true;
	}
	snprintf(reason, REASON_OCTETS, "must be true or false, not \"%.40s\"", text);
	return false;
}

static bool
set_choice(const struct option_row *row, const char *text, void *to, char *reason)
{
	const char *const *choices = row->choices;

	for (int i = 0; choices[i]; i++) {
		if (strcmp(text, choices[i]) != 0)
			continue;
		if (to)
			*(int *)to = i;
		return true;
	}
	snprintf(reason, REASON_OCTETS, "must be %s", choices[0]);
	for (int i = 1; choices[i]; i++)
		text_add(reason, REASON_OCTETS, "%s%s", choices[i + 1] ? ", " : " or ", choices[i]);
	text_add(reason, REASON_OCTETS, ", not \"%.40s\"", text);
	return false;
}

static bool
set_string(const struct option_row *row, const char *text, void *to, char *reason)
{
	/* The bounds of a list are those of the number of its items. */
	bool bounded = row->type == OPTION_STRING;
	uint64_t least = bounded ? row->min : 0;
	uint64_t most = bounded ? options_limit_of(row, STRING_OCTETS_MAX) : STRING_OCTETS_MAX;
	size_t octets = strlen(text);
	char *copy;

	if (octets > most || octets < least) {
		snprintf(reason, REASON_OCTETS,
		    "must have %" PRIu64 " to %" PRIu64 " octets, not %zu", least, most, octets);
		return false;
	}
	if (!to)
		return true;
	copy = strdup(text);
	if (!copy) {
		snprintf(reason, REASON_OCTETS, "out of memory");
		return false;
	}
	free(*(char **)to);
	*(char **)to = copy;
	return true;
}

/* Quotes the value, but no secret, and no password in a URL. */
static void
options_refuse_value(const struct option_row *row, const char *text, const char *refusal, char *reason)
{
	const char *user = strstr(text, "://"), *host = user ? strrchr(user, '@') : NULL;

	if (row->secret)
		snprintf(reason, REASON_OCTETS, "%s", refusal);
	else if (host)
		snprintf(reason, REASON_OCTETS, "\"(hidden)%.80s\": %s", host, refusal);
	else
		snprintf(reason, REASON_OCTETS, "\"%.100s\": %s", text, refusal);
}

/* The row that an item of a group is about, and its value, as a number in the row's unit: "1h 92d". NULL with a reason. */
static const struct option_row *
read_item(const struct option_row *table, const struct option_row *group, const char *item, char number[32], char *reason)
{
	size_t prefix = strlen(group->name) + 1, word = strcspn(item, " ");
	const char *value = item + word + strspn(item + word, " ");
	size_t digits = strspn(value, "0123456789");
	char unit = value[digits];
	uint64_t count;

	for (; table->name; table++) {
		if (!table->group || strcmp(table->group, group->name) != 0)
			continue;
		if (strlen(table->name + prefix) != word || strncmp(table->name + prefix, item, word) != 0)
			continue;
		snprintf(number, 32, "%.*s", (int)digits, value);
		if (!options_parse_number(number, &count) || !unit || value[digits + 1] || !strchr("hd", unit) ||
		    (unit == 'h' && *table->unit == 'd' && count % 24 != 0) || count > UINT32_MAX) {
			snprintf(reason, REASON_OCTETS, "\"%.40s\": hours or days are needed, as \"%.*s 24%s\"", item,
			    (int)word, item, table->unit);
			return NULL;
		}
		snprintf(number, 32, "%" PRIu64, unit == *table->unit ? count : unit == 'd' ? 24 * count : count / 24);
		return table;
	}
	snprintf(reason, REASON_OCTETS, "\"%.40s\" begins with no word of those that %s has", item, group->name);
	return NULL;
}

/* Checks one value of a row and stores it at `to`, unless that is NULL. Returns false and sets
 * reason if the value is refused. */
static bool
set_value(const struct option_row *row, const char *text, void *to, char *reason)
{
	const char *refusal;
	bool good = false;

	switch (row->type) {
	case OPTION_BOOL:
		good = set_bool(text, to, reason);
		break;
	case OPTION_U32:
	case OPTION_U64:
		good = options_set_number(row, text, to, reason);
		break;
	case OPTION_ENUM:
		good = set_choice(row, text, to, reason);
		break;
	case OPTION_STRING:
	case OPTION_LIST:
		good = set_string(row, text, to, reason);
		break;
	case OPTION_SECTION:
	case OPTION_GROUP:
		good = true;
		break;
	}
	refusal = good && row->check ? row->check(text) : NULL;
	if (refusal)
		options_refuse_value(row, text, refusal, reason);
	return good && !refusal;
}

static const struct option_row *
options_find_row(const struct option_row *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* Finds the table of the section called name, at any depth: a name stands for one table. */
static const struct option_row *
find_table(const struct option_row *table, const char *name)
{
	const struct option_row *found = NULL;

	for (; table->name && !found; table++) {
		if (table->type == OPTION_SECTION)
			found = strcmp(table->name, name) == 0 ? table->section
							       : find_table(table->section, name);
	}
	return found;
}

/* libconfuse calls this after each value, while its line number is still that of the value. */
static int
validate_option(cfg_t *cfg, cfg_opt_t *opt)
{
	const struct option_row *table = find_table(current->table, cfg->name);
	const struct option_row *row = options_find_row(table ? table : current->table, opt->name);
	const char *text = cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);
	char reason[REASON_OCTETS], number[32] = "";

	current->secret_line = row->secret ? cfg->line : 0;
	if (row->type == OPTION_LIST && cfg_opt_size(opt) > options_limit_of(row, ITEMS_MAX)) {
		fail_option(current, cfg->line, row->name, "must have at most %" PRIu64 " items",
		    options_limit_of(row, ITEMS_MAX));
		return -1;
	}
	if (row->type == OPTION_GROUP)
		row = read_item(current->table, row, text, number, reason);
	if (!row || !set_value(row, row->group && *number ? number : text, NULL, reason)) {
		fail_option(current, cfg->line, opt->name, "%s", reason);
		return -1;
	}
	return 0;
}

static int
validate_section(cfg_t *cfg, cfg_opt_t *opt)
{
	const struct option_row *table = find_table(current->table, cfg->name);
	const struct option_row *row = options_find_row(table ? table : current->table, opt->name);

	if (cfg_opt_size(opt) <= options_limit_of(row, ITEMS_MAX))
		return 0;
	fail_option(current, cfg->line, row->name, "at most %" PRIu64 " such sections are allowed",
	    options_limit_of(row, ITEMS_MAX));
	return -1;
}

/* True if the n octets hold the name of a secret of the table, or of a section's table. */
static bool
names_secret(const struct option_row *table, const char *line, size_t n)
{
	for (; table->name; table++)
		if (table->section ? names_secret(table->section, line, n)
				     : table->secret && memmem(line, n, table->name, strlen(table->name)))
			return true;
	return false;
}

/* libconfuse quotes what it did not expect. On the line of a secret, or behind its value, that may be
 * a part of it: the second word of a passphrase without quotes, an escape sequence. */
static bool
may_quote_secret(const struct parse *p, const cfg_t *cfg, bool is_option)
{
	const char *line = p->text;

	if (p->secret_line && (!is_option || p->secret_line == cfg->line))
		return true;

	for (int n = 1; n < cfg->line && *line; n++) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return names_secret(p->table, line, strcspn(line, "\n"));
}

static void __attribute__((format(printf, 2, 0)))
on_syntax_error(cfg_t *cfg, const char *format, va_list args)
{
	char message[REASON_OCTETS];
	bool is_option;

	vsnprintf(message, sizeof(message), format, args);
	is_option = strncmp(message, "no such option", strlen("no such option")) == 0;
	if (may_quote_secret(current, cfg, is_option)) {
		fail_option(current, cfg->line, NULL, "syntax error in or behind the value of a secret,"
		    " which is not shown; does it need quotes?");
		return;
	}
	if (is_option) {
		char *name = strchr(message, '\''), *end = strrchr(message, '\'');

		if (name && end > name) {
			*end = '\0';
			fail_option(current, cfg->line, name + 1, "unknown option");
			return;
		}
	}
	fail_option(current, cfg->line, NULL, "%s", message);
}

static void free_confuse_options(cfg_opt_t *opts);

/* Makes libconfuse's table from ours; returns NULL without memory. */
static cfg_opt_t *
make_confuse_options(const struct option_row *table)
{
	size_t n = options_table_rows(table);
	cfg_opt_t *opts = calloc(n + 1, sizeof(*opts));

	for (size_t i = 0; opts && i < n; i++) {
		cfg_opt_t *opt = &opts[i];

		opt->name = table[i].name;
		opt->type = CFGT_STR;
		opt->validcb = validate_option;
		opt->flags = CFGF_NODEFAULT;
		if (table[i].type == OPTION_LIST || table[i].type == OPTION_GROUP) {
			opt->flags = CFGF_LIST;
			opt->def.parsed = (char *)(uintptr_t)table[i].def;
		} else if (table[i].type == OPTION_SECTION) {
			opt->type = CFGT_SEC;
			opt->flags = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES;
			opt->validcb = validate_section;
			opt->subopts = make_confuse_options(table[i].section);
			if (!opt->subopts) {
				free_confuse_options(opts);
				return NULL;
			}
		}
	}
	return opts;
}

static void
free_confuse_options(cfg_opt_t *opts)
{
	for (cfg_opt_t *opt = opts; opt && opt->name; opt++)
		free_confuse_options(opt->subopts);
	free(opts);
}

static bool fill_config(struct parse *p, cfg_t *cfg, const struct option_row *table, void *config);

static bool
options_fill_list(struct parse *p, cfg_t *cfg, const struct option_row *row, struct option_list *list)
{
	unsigned n = cfg_size(cfg, row->name);
	char reason[REASON_OCTETS] = "out of memory";

	list->items = calloc(n ? n : 1, sizeof(*list->items));
	if (!list->items)
		goto fail;
	for (; list->n < n; list->n++)
		if (!set_value(row, cfg_getnstr(cfg, row->name, (unsigned)list->n),
			&list->items[list->n], reason))
			goto fail;
	return true;
fail:
	fail_option(p, cfg->line, row->name, "%s", reason);
	return false;
}

static bool
fill_sections(struct parse *p, cfg_t *cfg, const struct option_row *row, struct option_sections *sections)
{
	unsigned n = cfg_size(cfg, row->name);

	sections->items = calloc(n ? n : 1, row->section_size);
	if (!sections->items) {
		fail_option(p, cfg->line, row->name, "out of memory");
		return false;
	}
	for (unsigned i = 0; i < n; i++) {
		cfg_t *section = cfg_getnsec(cfg, row->name, i);
		void *item = member_of(sections->items, i * row->section_size);
		char **title = member_of(item, row->section_title_offset);

		sections->n++;
		if (row->section_line_offset)
			*(uint32_t *)member_of(item, row->section_line_offset) =
			    (uint32_t)section->line;
		*title = strdup(cfg_title(section));
		if (!*title || !fill_config(p, section, row->section, item)) {
			fail_option(p, cfg->line, row->name, "out of memory");
			return false;
		}
	}
	return true;
}

static bool
fill_scalar(struct parse *p, cfg_t *cfg, const struct option_row *row, void *to)
{
	const char *text = cfg_size(cfg, row->name) ? cfg_getstr(cfg, row->name) : row->def;
	struct option_row unchecked = *row;
	char reason[REASON_OCTETS];

	if (!text && row->type == OPTION_STRING)
		text = "";
	if (!text)
		return true;
	/* A value from the file has passed its checks. A default need not pass: "" is "not set". */
	unchecked.check = NULL;
	if (row->type == OPTION_STRING)
		unchecked.min = 0;
	if (set_value(&unchecked, text, to, reason))
		return true;
	fail_option(p, cfg->line, row->name, "%s", reason);
	return false;
}

static bool
options_fill_group(struct parse *p, cfg_t *cfg, const struct option_row *table, const struct option_row *group, void *config)
{
	char reason[REASON_OCTETS], number[32];

	for (unsigned i = 0; i < cfg_size(cfg, group->name); i++) {
		const struct option_row *row = read_item(table, group, cfg_getnstr(cfg, group->name, i), number, reason);
		bool again = row && cfg_size(cfg, row->name) > 0; /* by its own name, or before */

		for (unsigned j = 0; j < i && !again; j++)
			again = row == read_item(table, group, cfg_getnstr(cfg, group->name, j), (char[32]){0}, reason);
		if (again) {
			fail_option(p, cfg->line, row->name, "it is set twice, once in %s", group->name);
			return false;
		}
		if (!row || !set_value(row, number, member_of(config, row->offset), reason)) {
			fail_option(p, cfg->line, group->name, "%s", reason);
			return false;
		}
	}
	return true;
}

/* All values were checked while they were read, so only memory or a wrong default can fail here. */
static bool
fill_config(struct parse *p, cfg_t *cfg, const struct option_row *table, void *config)
{
	bool good = true;

	for (const struct option_row *row = table; row->name && good; row++) {
		void *to = member_of(config, row->offset);

		if (row->type == OPTION_LIST)
			good = options_fill_list(p, cfg, row, to);
		else if (row->type == OPTION_SECTION)
			good = fill_sections(p, cfg, row, to);
		else if (row->type == OPTION_GROUP)
			good = options_fill_group(p, cfg, table, row, config);
		else
			good = fill_scalar(p, cfg, row, to);
	}
	return good;
}

/*
 * libconfuse 3.3 counts the lines of a comment more than once and accepts the end of the file as
 * the end of any section. So we blank the comments before it reads the text, and count the braces.
 */
struct scan {
	char *at;
	int line;
	int depth;	 /* of braces */
	int opened_line; /* of the outermost brace that is open */
	int variable_line; /* of the first "${" that libconfuse would replace */
};

/* Blanks everything up to `end`, and `end` too unless it is a newline. Newlines stay. */
static void
blank_until(struct scan *s, const char *end)
{
	char *stop = strstr(s->at, end);

	stop = !stop ? s->at + strlen(s->at) : *end == '\n' ? stop : stop + strlen(end);
	for (; s->at < stop; s->at++) {
		s->line += *s->at == '\n';
		if (*s->at != '\n')
			*s->at = ' ';
	}
}

static void
find_variable(struct scan *s)
{
	if (s->variable_line == 0 && s->at[0] == '$' && s->at[1] == '{')
		s->variable_line = s->line;
}

static void
skip_quoted(struct scan *s)
{
	char quote = *s->at++;

	for (; *s->at && *s->at != quote; s->at++) {
		if (*s->at == '\\' && s->at[1])
			s->at++;
		else if (quote == '"')
			find_variable(s);
		s->line += *s->at == '\n';
	}
	if (*s->at)
		s->at++;
}

/* Steps over one octet; true if it belongs to a word. */
static bool
step_plain(struct scan *s)
{
	find_variable(s);
	if (*s->at == '{' && s->depth++ == 0)
		s->opened_line = s->line;
	if (*s->at == '}')
		s->depth--;
	s->line += *s->at == '\n';
	return !strchr(" \t\r\n={}()+,", *s->at++);
}

/* Blanks the comments of text. */
static struct scan
blank_comments(char *text)
{
	struct scan s = {.at = text, .line = 1};
	bool in_word = false; /* http://x holds no comment */

	while (*s.at) {
		bool was_in_word = in_word;

		in_word = false;
		if (*s.at == '"' || *s.at == '\'')
			skip_quoted(&s);
		else if (*s.at == '#' || (!was_in_word && strncmp(s.at, "//", 2) == 0))
			blank_until(&s, "\n");
		else if (!was_in_word && strncmp(s.at, "/*", 2) == 0)
			blank_until(&s, "*/");
		else
			in_word = step_plain(&s);
	}
	return s;
}

int
options_parse(const char *name, const char *text, const struct option_row *table, void *config,
    char *error, size_t error_size)
{
	char *plain = strdup(text);
	struct parse p = {.file = name, .text = plain, .table = table, .error = error,
	    .error_size = error_size};
	cfg_opt_t *opts = make_confuse_options(table);
	struct scan scan = {0};
	cfg_t *cfg;

	current = &p; /* cfg_init already parses the defaults of lists */
	cfg = opts && plain ? cfg_init(opts, CFGF_NONE) : NULL;
	if (!cfg) {
		fail_option(&p, 0, NULL, "out of memory");
		goto out;
	}
	cfg_set_error_function(cfg, on_syntax_error);
	if (strncmp(plain, "\xef\xbb\xbf", 3) == 0) /* some editors begin UTF-8 with this mark */
		memset(plain, ' ', 3);
	scan = blank_comments(plain);
	if (scan.variable_line)
		fail_option(&p, scan.variable_line, NULL, "\"${\" would be replaced by a variable of the"
		    " environment: write \"\\${\" in double quotes, or use single quotes");
	else if (cfg_parse_buf(cfg, plain) != CFG_SUCCESS)
		fail_option(&p, cfg->line, NULL, "syntax error");
	else if (scan.depth > 0)
		fail_option(&p, scan.opened_line, NULL, "the section that begins here has no closing \"}\"");
	else
		fill_config(&p, cfg, table, config);
out:
	current = NULL;
	if (cfg)
		cfg_free(cfg);
	free_confuse_options(opts);
	free(plain);
	return p.failed ? -EINVAL : 0;
}

/* Reads the whole file; the caller frees *text. */
static int
options_read_text(const char *file, char **text)
{
	FILE *in = fopen(file, "re");
	char *buf = NULL;
	size_t n;
	int err = 0;

	*text = NULL;
	if (!in)
		return -errno;
	buf = malloc(FILE_OCTETS_MAX + 2);
	if (!buf) {
		err = -ENOMEM;
		goto out;
	}
	n = fread(buf, 1, FILE_OCTETS_MAX + 1, in);
	if (ferror(in))
		err = -errno;
	else if (n > FILE_OCTETS_MAX)
		err = -EFBIG;
	else if (memchr(buf, 0, n))
		err = -EILSEQ;
	buf[n] = '\0';
out:
	fclose(in);
	if (err) {
		free(buf);
		buf = NULL;
	}
	*text = buf;
	return err;
}

int
options_load(const char *file, const struct option_row *table, void *config, char *error, size_t error_size)
{
	char *text;
	int err = options_read_text(file, &text);

	if (err) {
		snprintf(error, error_size, "%s: %s", file,
		    err == -EILSEQ ? "not a text file: it has a NUL octet"
				     : strerror(-err));
		return err;
	}
	err = options_parse(file, text, table, config, error, error_size);
	free(text);
	return err;
}

/* True if the option `name` is given a value at `at`, a place outside quotes and comments. */
static bool
is_assignment(const char *text, const char *at, const char *name)
{
	size_t n = strlen(name);

	if ((at > text && !strchr(" \t\r\n}", at[-1])) || strncmp(at, name, n) != 0)
		return false;
	return at[n + strspn(at + n, " \t")] == '=';
}

unsigned
options_line(const char *file, const char *name)
{
	struct scan s = {.line = 1};
	unsigned found = 0;
	char *text;

	if (options_read_text(file, &text) < 0)
		return 0;
	blank_comments(text);
	s.at = text;
	while (*s.at) {
		if (s.depth == 0 && is_assignment(text, s.at, name))
			found = (unsigned)s.line;
		if (*s.at == '"' || *s.at == '\'')
			skip_quoted(&s);
		else
			step_plain(&s);
	}
	free(text);
	return found;
}

/* Prints in libconfuse's double quotes. "$" is escaped, as "${" would begin a variable. */
static void
print_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\' || c == '$')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void
print_list(FILE *out, const struct option_list *list)
{
	fputc('{', out);
	for (size_t i = 0; i < list->n; i++) {
		fputs(i ? ", " : "", out);
		print_string(out, list->items[i]);
	}
	fputc('}', out);
}

static void
print_help(FILE *out, const char *indent, const struct option_row *row)
{
	fprintf(out, "%s# %s", indent, row->help ? row->help : row->name);
	if (row->type == OPTION_U32 || row->type == OPTION_U64)
		fprintf(out, " (%" PRIu64 " to %" PRIu64 "%s%s)", row->min, row->max,
		    row->unit ? " " : "", row->unit ? row->unit : "");
	if (row->type == OPTION_ENUM) {
		fputs(" (", out);
		for (int i = 0; row->choices[i]; i++)
			fprintf(out, "%s%s", i ? ", " : "", row->choices[i]);
		fputc(')', out);
	}
	fputs(row->live ? " SIGHUP applies it.\n" : "\n", out);
}

static void
print_value(FILE *out, const struct option_row *row, const void *value)
{
	switch (row->type) {
	case OPTION_BOOL:
		fputs(*(const bool *)value ? "true" : "false", out);
		break;
	case OPTION_U32:
		fprintf(out, "%" PRIu32, *(const uint32_t *)value);
		break;
	case OPTION_U64:
		fprintf(out, "%" PRIu64, *(const uint64_t *)value);
		break;
	case OPTION_STRING:
		print_string(out, *(char *const *)value ? *(char *const *)value : "");
		break;
	case OPTION_ENUM:
		print_string(out, row->choices[*(const int *)value]);
		break;
	case OPTION_LIST:
		print_list(out, value);
		break;
	case OPTION_SECTION:
	case OPTION_GROUP:
		break;
	}
}

static void
print_group(FILE *out, const struct option_row *table, const struct option_row *group, const void *config)
{
	size_t prefix = strlen(group->name) + 1;
	const char *comma = "";

	for (const struct option_row *row = table; row < group; row++)
		if (row->group && strcmp(row->group, group->name) == 0)
			fprintf(out, "# %s: %s%s\n", row->name + prefix, row->help, row->live ? "" : " SIGHUP does not apply it.");
	fprintf(out, "%s = {", group->name);
	for (const struct option_row *row = table; row < group; row++) {
		if (!row->group || strcmp(row->group, group->name) != 0)
			continue;
		fprintf(out, "%s\"%s ", comma, row->name + prefix);
		print_value(out, row, const_member(config, row->offset));
		fprintf(out, "%s\"", row->unit);
		comma = ", ";
	}
	fputs("}\n", out);
}

static void print_table(FILE *out, const struct option_row *table, const void *config,
    const char *indent);

/* A section that the file does not have, as comments: its options with their defaults. */
static void
print_no_section(FILE *out, const struct option_row *row, const char *indent)
{
	void *item = calloc(1, row->section_size);
	char error[REASON_OCTETS], deeper[32];

	snprintf(deeper, sizeof(deeper), "%s#\t", indent);
	if (item && options_parse("", "", row->section, item, error, sizeof(error)) == 0) {
		fprintf(out, "%s# %s \"NAME\" {\n", indent, row->name);
		print_table(out, row->section, item, deeper);
		fprintf(out, "%s# }\n", indent);
	}
	if (item)
		options_free(row->section, item);
	free(item);
}

static void
print_sections(FILE *out, const struct option_row *row, const struct option_sections *sections, const char *indent)
{
	char deeper[32];

	if (sections->n == 0)
		print_no_section(out, row, indent);
	snprintf(deeper, sizeof(deeper), "%s\t", indent);
	for (size_t i = 0; i < sections->n; i++) {
		const void *item = const_member(sections->items, i * row->section_size);
		char *const *title = const_member(item, row->section_title_offset);

		fprintf(out, "%s%s ", indent, row->name);
		print_string(out, *title ? *title : "");
		fputs(" {\n", out);
		print_table(out, row->section, item, deeper);
		fprintf(out, "%s}\n", indent);
	}
}

/* A secret that is not set need not be hidden. */
static bool
is_empty(const struct option_row *row, const void *value)
{
	const char *const *text = value;
	const struct option_list *list = value;

	return (row->type == OPTION_STRING && (!*text || !**text)) || (row->type == OPTION_LIST && list->n == 0);
}

static void
options_print_rows(FILE *out, const struct option_row *table, const void *config, const char *indent, bool expert)
{
	for (const struct option_row *row = table; row->name; row++) {
		const void *value = const_member(config, row->offset);

		if (row->expert != expert || row->group)
			continue;
		print_help(out, indent, row);
		if (row->type == OPTION_GROUP) {
			print_group(out, table, row, config);
			continue;
		}
		if (row->type == OPTION_SECTION) {
			print_sections(out, row, value, indent);
			continue;
		}
		fprintf(out, "%s%s = ", indent, row->name);
		if (row->secret && !is_empty(row, value))
			fputs(row->type == OPTION_LIST ? "{\"(hidden)\"}" : "\"(hidden)\"", out);
		else
			print_value(out, row, value);
		fputc('\n', out);
	}
}

static bool
has_experts(const struct option_row *table)
{
	while (table->name && !table->expert)
		table++;
	return table->name != NULL;
}

static void
print_table(FILE *out, const struct option_row *table, const void *config, const char *indent)
{
	options_print_rows(out, table, config, indent, false);
	if (has_experts(table))
		fprintf(out, "\n%s## What follows is for special cases and for tests.\n", indent);
	options_print_rows(out, table, config, indent, true);
}

void
options_print(FILE *out, const struct option_row *table, const void *config)
{
	print_table(out, table, config, "");
}

bool
options_have_secret(const struct option_row *table, const void *config)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	bool has = false;

	if (out) {
		options_print(out, table, config);
		has = fclose(out) == 0 && strstr(text, "\"(hidden)\"");
	}
	free(text);
	return has;
}

static void
free_list(struct option_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct option_list){0};
}

static void
free_sections(const struct option_row *row, struct option_sections *sections)
{
	for (size_t i = 0; i < sections->n; i++) {
		void *item = member_of(sections->items, i * row->section_size);
		char **title = member_of(item, row->section_title_offset);

		options_free(row->section, item);
		free(*title);
		*title = NULL;
	}
	free(sections->items);
	*sections = (struct option_sections){0};
}

void
options_free(const struct option_row *table, void *config)
{
	for (const struct option_row *row = table; row->name; row++) {
		void *value = member_of(config, row->offset);

		if (row->type == OPTION_STRING) {
			free(*(char **)value);
			*(char **)value = NULL;
		} else if (row->type == OPTION_LIST) {
			free_list(value);
		} else if (row->type == OPTION_SECTION) {
			free_sections(row, value);
		}
	}
}
