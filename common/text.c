#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
text_add(char *text, size_t size, const char *format, ...)
{
	size_t used = strnlen(text, size);
	va_list args;

	va_start(args, format);
	if (used < size)
		vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

bool
text_take_word(const char **at, const char *word)
{
	size_t n = strlen(word);

	*at += strspn(*at, " \t");
	if (strncmp(*at, word, n) != 0 || ((*at)[n] != '\0' && !strchr(" \t", (*at)[n])))
		return false;
	*at += n;
	return true;
}
