#include "collector/filter/filter_lexer.h"

#include <string.h>
#include <strings.h>

/* Longer ones first, where one begins with the other. */
static const struct {
	const char *text;
	enum token_kind kind;
} signs[] = {
	{"&&", TOKEN_AND}, {"||", TOKEN_OR}, {"!=", TOKEN_NOT_EQUAL}, {"==", TOKEN_EQUAL}, {"<=", TOKEN_AT_MOST},
	{">=", TOKEN_AT_LEAST}, {"!", TOKEN_NOT}, {"=", TOKEN_EQUAL}, {"<", TOKEN_LESS}, {">", TOKEN_GREATER},
	{"(", TOKEN_OPEN}, {")", TOKEN_CLOSE}, {"[", TOKEN_LIST}, {"]", TOKEN_LIST_END}, {",", TOKEN_COMMA},
}, words[] = {
	{"and", TOKEN_AND}, {"or", TOKEN_OR}, {"not", TOKEN_NOT}, {"eq", TOKEN_EQUAL}, {"lt", TOKEN_LESS},
	{"gt", TOKEN_GREATER},
};

enum { N_SIGNS = sizeof(signs) / sizeof(signs[0]), N_WORDS = sizeof(words) / sizeof(words[0]) };

static uint16_t
columns_of(const char *text, size_t octets)
{
	uint16_t n = 0;

	for (size_t i = 0; i < octets; i++)
		n = (uint16_t)(n + (((unsigned char)text[i] & 0xc0) != 0x80));
	return n;
}

static bool
is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* A quoted name ends at the next quote; a backslash takes the meaning of what follows it. */
static void
read_quoted(struct token *token)
{
	const char *at = token->at + 1;

	while (*at && *at != *token->at && !is_control(*at))
		at += *at == '\\' && at[1] && !is_control(at[1]) ? 2 : 1;
	token->kind = *at == *token->at ? TOKEN_QUOTED : TOKEN_WRONG;
	token->octets = (size_t)(at - token->at) + (*at == *token->at);
}

static void
read_word(struct token *token)
{
	token->kind = TOKEN_WORD;
	while (token->at[token->octets] && !is_control(token->at[token->octets]) &&
	    !strchr(" \"'()[],=<>!&|", token->at[token->octets]))
		token->octets++;
	for (size_t i = 0; i < N_WORDS; i++)
		if (filter_token_is(token, words[i].text))
			token->kind = words[i].kind;
	if (token->octets == 0) {
		token->kind = TOKEN_WRONG;
		token->octets = 1;
	}
}

struct token
filter_next_token(const struct token *before)
{
	const char *end = before->at + before->octets;
	const char *at = end + strspn(end, " \t\r\n");
	struct token token = {.at = at,
	    .column = (uint16_t)(before->column + columns_of(before->at, (size_t)(at - before->at)))};

	if (!*at)
		return token;
	for (size_t i = 0; i < N_SIGNS; i++)
		if (strncmp(at, signs[i].text, strlen(signs[i].text)) == 0) {
			token.kind = signs[i].kind;
			token.octets = strlen(signs[i].text);
			return token;
		}
	if (*at == '"' || *at == '\'')
		read_quoted(&token);
	else
		read_word(&token);
	return token;
}

bool
filter_token_is(const struct token *token, const char *word)
{
	return token->octets == strlen(word) && strncasecmp(token->at, word, token->octets) == 0;
}

bool
filter_token_text(const struct token *token, char *text, size_t size)
{
	bool quoted = token->kind == TOKEN_QUOTED;
	const char *at = token->at + quoted, *end = token->at + token->octets - quoted;
	size_t n = 0;

	for (; at < end && n + 1 < size; at++) {
		at += quoted && *at == '\\' && at + 1 < end;
		text[n++] = *at;
	}
	text[n] = '\0';
	return at == end;
}
