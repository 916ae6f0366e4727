/*
 * Functions that several files of the Linux device call.
 */
#include "agent/linux/linux_private.h"
#include "agent/linux/own_frames.h"

#include "common/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

int
linux_watch_fd(const struct linux_device *d, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

bool
linux_is_own(const struct linux_device *d, const uint8_t *octets, size_t kept)
{
	return own_frames_has(d->own_ports, d->n_own_ports, octets, kept);
}

void
linux_judge_later(struct linux_device *d)
{
	const uint64_t one = 1;

	d->judge = true;
	if (write(d->wake_fd, &one, sizeof(one)) < 0)
		log_warn_limited("linux", "the main loop cannot be woken");
}
