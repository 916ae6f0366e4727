/*
 * Words of the language of filters, and their places. Part of filter.h.
 */
#ifndef EASE_COLLECTOR_FILTER_FILTER_LEXER_H
#define EASE_COLLECTOR_FILTER_FILTER_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* also numbers, addresses and names */
	TOKEN_QUOTED, /* "Gi 1/1": a name, never a word of the language */
	TOKEN_AND,    /* and, && */
	TOKEN_OR,     /* or, || */
	TOKEN_NOT,    /* not, ! */
	TOKEN_OPEN,   /* ( */
	TOKEN_CLOSE,  /* ) */
	TOKEN_LIST,   /* [ */
	TOKEN_LIST_END, /* ] */
	TOKEN_COMMA,
	TOKEN_EQUAL,	/* =, ==, eq */
	TOKEN_NOT_EQUAL, /* != */
	TOKEN_LESS,	/* <, lt */
	TOKEN_AT_MOST,	/* <= */
	TOKEN_GREATER,	/* >, gt */
	TOKEN_AT_LEAST, /* >= */
	TOKEN_WRONG, /* a control character, or a quote without its end */
};

struct token {
	enum token_kind kind;
	const char *at; /* in the text */
	size_t octets;
	uint16_t column; /* from 1, in characters */
};

/* The token behind `before`; the first one, if before is of no octets and at the start of the text. */
struct token filter_next_token(const struct token *before);

/* Case does not matter. */
bool filter_token_is(const struct token *token, const char *word);

/* The text of a word or name, without quotes. False if it does not fit. */
bool filter_token_text(const struct token *token, char *text, size_t size);

#endif
