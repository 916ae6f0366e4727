/* Texts that are put together in a buffer of fixed size. */
#ifndef EASE_COMMON_TEXT_H
#define EASE_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Appends to the text, which has room for size octets with its end; what has no room is cut off. (No sum of what snprintf
 * returns: that counts what was cut, too, and soon lies behind the buffer.) */
void text_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Takes a word that stands next, behind blanks and before a blank or the end; *at is then behind it. False: another stands
 * there, and only blanks may have been passed. */
bool text_take_word(const char **at, const char *word);

#endif
