#include "agent/sonic/answer.h"

#include "common/utf8.h"

#include <string.h>

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
