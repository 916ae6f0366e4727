/*
 * Checks that a text is UTF-8. Names from devices, and URLs from strangers, may be anything.
 */
#ifndef EASE_COMMON_UTF8_H
#define EASE_COMMON_UTF8_H

#include <stdbool.h>

/* Checks by RFC 3629 section 4: no overlong form, no surrogate, nothing above U+10FFFF. Allocates
 * nothing. */
bool utf8_is_valid(const char *text);

#endif
