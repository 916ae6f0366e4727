/*
 * UTF-8. Names from devices, and URLs from strangers, may be anything; what is shown of them is UTF-8
 * that no terminal obeys and that reads in the order of its octets.
 */
#ifndef EASE_COMMON_UTF8_H
#define EASE_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Checks by RFC 3629 section 4: no overlong form, no surrogate, nothing above U+10FFFF. Allocates
 * nothing. */
bool utf8_is_valid(const char *text);

/* Octets of the longest beginning of text that has at most max octets and no part of a character at
 * its end. */
size_t utf8_cut(const char *text, size_t max);

/* Writes to `to` what may be shown of text, cut at a character so that it fits in size octets with
 * its NUL; 2 * strlen(text) + 1 are always enough. An octet that belongs to no character is read as
 * Latin 1. Each control character (C0, DEL, C1), each character that changes the direction of what is
 * around it (Unicode annex 9, section 2) and each line or paragraph separator becomes "?". */
void utf8_printable(const char *text, char *to, size_t size);

/* The same of counted octets, up to a NUL among them; at most 255. */
void utf8_printable_octets(const void *octets, size_t n, char *to, size_t size);

/* The same as a whole; the caller frees it. NULL without memory. */
char *utf8_printable_copy(const char *text);

#endif
