#include "collector/input/sender_share.h"
#include "common/endpoint.h"

#include <errno.h>
#include <sys/random.h>

int
sender_share_init(struct sender_share *s)
{
	*s = (struct sender_share){0};
	return getrandom(&s->seed, sizeof(s->seed), 0) < 0 ? -errno : 0;
}

static size_t
sender_slot_of(const struct sender_share *s, const struct sockaddr *from)
{
	return endpoint_hash(s->seed, from) % SENDER_SHARE_SLOTS;
}

bool
sender_share_allows(const struct sender_share *s, const struct sockaddr *from, size_t free)
{
	return s->held[sender_slot_of(s, from)] < free;
}

void
sender_share_take(struct sender_share *s, const struct sockaddr *from)
{
	s->held[sender_slot_of(s, from)]++;
}

void
sender_share_give(struct sender_share *s, const struct sockaddr *from)
{
	s->held[sender_slot_of(s, from)]--;
}
