/*
 * Is a text UTF-8? What devices call their ports, and strangers write into addresses, need not be.
 */
#ifndef EASE_COMMON_UTF8_H
#define EASE_COMMON_UTF8_H

#include <stdbool.h>

/* As RFC 3629 section 4 has it: no overlong form, no surrogate, nothing above U+10FFFF. Asks for no
 * memory. */
bool utf8_is_valid(const char *text);

#endif
