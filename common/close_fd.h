/*
 * Closes a descriptor that may not have been opened.
 */
#ifndef EASE_COMMON_CLOSE_FD_H
#define EASE_COMMON_CLOSE_FD_H

#include <unistd.h>

/* fd below 0: there is nothing to close. */
static inline void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

#endif
