#include "agent/sonic/resp.h"

#include "common/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_OCTETS_MIN = 3 }; /* "+\r\n" */
enum { KNOWN_TEXT_MAX = 256 };

/* The line that begins at "at": *end is behind its CR LF. As resp_scan. */
static int
find_line(const char *octets, size_t size, size_t at, size_t *end)
{
	size_t most = size - at < RESP_LINE_MAX ? size - at : RESP_LINE_MAX;
	const char *cr = memchr(octets + at, '\r', most);

	if (!cr)
		return most == RESP_LINE_MAX ? -EMSGSIZE : 0;
	*end = (size_t)(cr - octets) + 2;
	if (*end > size)
		return 0;
	return cr[1] == '\n' ? 1 : -EPROTO;
}

/* A decimal number, of at most 10 digits; -1 is the only one below 0. */
static bool
read_length(const char *text, size_t n, int64_t *length)
{
	*length = 0;
	if (n == 2 && text[0] == '-' && text[1] == '1') {
		*length = -1;
		return true;
	}
	if (n == 0 || n > 10)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*length = *length * 10 + (text[i] - '0');
	}
	return true;
}

/* One item; of an array its line alone. *end is behind it, *items are within. As resp_scan. */
static int
find_item(const char *octets, size_t size, size_t at, size_t *end, uint32_t *items)
{
	int rc = at < size ? 1 : 0;
	char kind = '+';
	int64_t length;

	*items = 0;
	if (rc > 0) {
		kind = octets[at];
		rc = memchr("+-:$*", kind, 5) ? find_line(octets, size, at, end) : -EPROTO;
	}
	if (rc <= 0 || (kind != '$' && kind != '*'))
		return rc;
	if (!read_length(octets + at + 1, *end - 2 - at - 1, &length))
		return -EPROTO;
	if (length > RESP_OCTETS_MAX / (kind == '*' ? ITEM_OCTETS_MIN : 1))
		return -EMSGSIZE;
	if (length < 0)
		return 1;
	if (kind == '*') {
		*items = (uint32_t)length;
		return 1;
	}
	*end += (size_t)length + 2;
	if (*end > size)
		return 0;
	return octets[*end - 2] == '\r' && octets[*end - 1] == '\n' ? 1 : -EPROTO;
}

int
resp_scan(struct resp_scan *scan, const char *octets, size_t size)
{
	if (scan->at == 0)
		scan->left[0] = 1;
	while (scan->left[scan->depth] > 0) {
		uint32_t items;
		size_t end;
		int rc = find_item(octets, size, scan->at, &end, &items);

		if (rc <= 0)
			return rc == 0 && size > RESP_OCTETS_MAX ? -EMSGSIZE : rc;
		scan->at = end;
		scan->left[scan->depth]--;
		if (items > 0) {
			if (scan->depth + 1 == RESP_DEPTH_MAX)
				return -EPROTO;
			scan->left[++scan->depth] = items;
		}
		while (scan->depth > 0 && scan->left[scan->depth] == 0)
			scan->depth--;
	}
	return scan->at > RESP_OCTETS_MAX ? -EMSGSIZE : 1;
}

/* ---- answers ---- */

const redisReply *
answer_string(const redisReply *reply, size_t i)
{
	const redisReply *element;

	if (reply->type != REDIS_REPLY_ARRAY || i >= reply->elements)
		return NULL;
	element = reply->element[i];
	return element && element->type == REDIS_REPLY_STRING ? element : NULL;
}

bool
answer_is(const redisReply *reply, const char *text)
{
	return reply && reply->type == REDIS_REPLY_STRING && reply->len == strlen(text) &&
	    memcmp(reply->str, text, reply->len) == 0;
}

void
answer_copy(const redisReply *reply, char *text, size_t size)
{
	utf8_printable(reply && reply->type == REDIS_REPLY_STRING ? reply->str : "", text, size);
}

bool
answer_number(const redisReply *reply, uint64_t *number)
{
	uint64_t value = 0;

	if (!reply || reply->type != REDIS_REPLY_STRING || reply->len == 0 || reply->len > 20)
		return false;
	for (size_t i = 0; i < reply->len; i++) {
		if (reply->str[i] < '0' || reply->str[i] > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(reply->str[i] - '0'), &value))
			return false;
	}
	*number = value;
	return true;
}

bool
answer_known_text(const redisReply *reply, char *text, size_t size)
{
	char fresh[KNOWN_TEXT_MAX];
	bool differs;

	answer_copy(reply, fresh, size < sizeof(fresh) ? size : sizeof(fresh));
	if (strcmp(fresh, "N/A") == 0)
		fresh[0] = '\0';
	differs = strcmp(text, fresh) != 0;
	strcpy(text, fresh);
	return differs;
}

double
answer_measured(const redisReply *reply)
{
	static const char units[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[32], *end;
	double value;

	answer_copy(reply, text, sizeof(text));
	value = strtod(text, &end);
	return end == text || end[strspn(end, units)] != '\0' || isnan(value) ? NAN : value;
}
