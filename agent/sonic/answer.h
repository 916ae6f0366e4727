/*
 * Checked readers of Redis' answers: what is of another type, too short or no number is not known. Pure.
 */
#ifndef EASE_AGENT_SONIC_ANSWER_H
#define EASE_AGENT_SONIC_ANSWER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The i-th element of an array, if it is a string; else NULL. */
const redisReply *answer_string(const redisReply *reply, size_t i);
/* Whether a reply is a string with this text. reply may be NULL. */
bool answer_is(const redisReply *reply, const char *text);
/* Copies what may be shown of a string, cut to fit, to text. "": reply is NULL. */
void answer_copy(const redisReply *reply, char *text, size_t size);
/* False: reply is NULL, or not a decimal number of 64 bits. */
bool answer_number(const redisReply *reply, uint64_t *number);

#endif
