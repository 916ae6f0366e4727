/*
 * Replies of Redis: where one ends, and checked readers of what libhiredis made of it. Pure.
 *
 * Where one ends (RESP2, the protocol's specification) is found before anything is made of it. A server can so announce
 * what it likes: memory is taken for what has arrived. Of RESP3, which nobody asked for, nothing is taken.
 */
#ifndef EASE_AGENT_SONIC_RESP_H
#define EASE_AGENT_SONIC_RESP_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RESP_OCTETS_MAX = 1 << 20, /* of a reply; SONiC's longest, a map of names, has a tenth of it */
	RESP_LINE_MAX = 16 << 10,  /* of a status or an error */
	RESP_DEPTH_MAX = 4,	   /* arrays in arrays; SCAN's reply has two */
};

/* A search that goes on when more has arrived. All zeros at the beginning of a reply. */
struct resp_scan {
	size_t at; /* octets looked at */
	unsigned depth;
	uint32_t left[RESP_DEPTH_MAX]; /* items that are missing, at each depth */
};

/* octets begin with the reply. 1: it is whole and has scan->at octets; 0: more must arrive; -EPROTO: it is no reply;
 * -EMSGSIZE: it is too long. */
int resp_scan(struct resp_scan *scan, const char *octets, size_t size);

/* ---- answers ----
 * Checked readers of Redis' answers: what is of another type, too short or no number is not known. Pure. */

/* The i-th element of an array, if it is a string; else NULL. */
const redisReply *answer_string(const redisReply *reply, size_t i);
/* Whether a reply is a string with this text. reply may be NULL. */
bool answer_is(const redisReply *reply, const char *text);
/* Copies what may be shown of a string, cut to fit, to text. "": reply is NULL. */
void answer_copy(const redisReply *reply, char *text, size_t size);
/* The same, where "N/A" is SONiC's word for what is not known: "". True: it is not the text that was there. */
bool answer_known_text(const redisReply *reply, char *text, size_t size);
/* A measured number that may have a unit behind it, as earlier releases write it; NAN: it is none, or not known. */
double answer_measured(const redisReply *reply);
/* False: reply is NULL, or not a decimal number of 64 bits. */
bool answer_number(const redisReply *reply, uint64_t *number);

#endif
