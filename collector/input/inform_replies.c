#include "collector/input/inform_replies.h"
#include "collector/input/sender_share.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = INFORM_REPLIES_MAX }; /* of a hash table over the content of informs */

struct inform_reply {
	struct sockaddr_storage to;
	uint64_t content;
	uint16_t next; /* of the same bucket: index into ring + 1; 0: none */
	int fd;
	uint64_t batch; /* 0: the batch that is being filled */
	size_t n;
	uint8_t octets[RECEIVE_DATAGRAM_MAX];
};

/* A ring, oldest first, so in the order of the batches. */
struct inform_replies {
	size_t first, n;
	struct sender_share share;
	uint16_t buckets[BUCKETS]; /* index into ring + 1; 0: empty */
	struct inform_reply ring[INFORM_REPLIES_MAX];
};

static struct inform_reply *
reply_at(struct inform_replies *r, size_t i)
{
	return &r->ring[(r->first + i) % INFORM_REPLIES_MAX];
}

static socklen_t
replies_address_octets(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

int
inform_replies_new(struct inform_replies **out)
{
	struct inform_replies *r = calloc(1, sizeof(*r)); /* unused pages take no memory */
	int err;

	if (!r)
		return -ENOMEM;
	err = sender_share_init(&r->share);
	if (err < 0)
		free(r);
	else
		*out = r;
	return err;
}

void
inform_replies_free(struct inform_replies *r)
{
	free(r);
}

size_t
inform_replies_waiting(const struct inform_replies *r)
{
	return r->n;
}

static const struct sockaddr *
receiver_of(const struct inform_reply *reply)
{
	return (const struct sockaddr *)&reply->to;
}

/* Returns the ring's index + 1 of the reply that waits for the same inform; 0: there is none. */
static uint16_t
find_reply(const struct inform_replies *r, const struct inform_identity *inform)
{
	uint16_t at = r->buckets[inform->content % BUCKETS];

	while (at > 0) {
		const struct inform_reply *reply = &r->ring[at - 1];

		if (reply->content == inform->content &&
		    memcmp(&reply->to, inform->from, replies_address_octets(inform->from)) == 0)
			break;
		at = reply->next;
	}
	return at;
}

int
inform_replies_place(const struct inform_replies *r, const struct inform_identity *inform)
{
	if (find_reply(r, inform) > 0)
		return 0;
	if (r->n == INFORM_REPLIES_MAX)
		return -ENOBUFS;
	return sender_share_allows(&r->share, inform->from, INFORM_REPLIES_MAX - r->n) ? 0
										       : -EDQUOT;
}

static struct inform_reply *
add_reply(struct inform_replies *r, const struct inform_identity *inform)
{
	size_t at = (r->first + r->n++) % INFORM_REPLIES_MAX;
	uint16_t *bucket = &r->buckets[inform->content % BUCKETS];
	struct inform_reply *reply = &r->ring[at];

	memcpy(&reply->to, inform->from, replies_address_octets(inform->from));
	reply->content = inform->content;
	reply->batch = 0;
	reply->next = *bucket;
	*bucket = (uint16_t)(at + 1);
	sender_share_take(&r->share, inform->from);
	return reply;
}

static void
remove_oldest(struct inform_replies *r)
{
	const struct inform_reply *oldest = reply_at(r, 0);
	uint16_t *link = &r->buckets[oldest->content % BUCKETS];

	while (*link != r->first + 1)
		link = &r->ring[*link - 1].next;
	*link = oldest->next;
	sender_share_give(&r->share, receiver_of(oldest));
	r->first = (r->first + 1) % INFORM_REPLIES_MAX;
	r->n--;
}

/* What a repeated inform brought is in the batch of the first one, so that batch stays. */
void
inform_replies_hold(struct inform_replies *r, const struct inform_identity *inform, int fd,
    const void *octets, size_t n)
{
	uint16_t at = find_reply(r, inform);
	struct inform_reply *reply = at > 0 ? &r->ring[at - 1] : add_reply(r, inform);

	reply->fd = fd;
	reply->n = n;
	memcpy(reply->octets, octets, n);
}

void
inform_replies_submitted(struct inform_replies *r, uint64_t batch)
{
	for (size_t i = r->n; i-- > 0 && reply_at(r, i)->batch == 0;)
		reply_at(r, i)->batch = batch;
}

int
inform_replies_send(const struct sockaddr *to, int fd, const void *octets, size_t n)
{
	if (fd < 0) /* imported from a file, so there is no one to reply to */
		return 0;
	return sendto(fd, octets, n, MSG_DONTWAIT, to, replies_address_octets(to)) < 0 ? -errno : 0;
}

size_t
inform_replies_committed(struct inform_replies *r, uint64_t batch, size_t *failed)
{
	size_t sent = 0;

	while (r->n > 0) {
		const struct inform_reply *oldest = reply_at(r, 0);

		if (oldest->batch == 0 || oldest->batch > batch)
			break;
		if (inform_replies_send(receiver_of(oldest), oldest->fd, oldest->octets,
			oldest->n) < 0)
			++*failed;
		else
			sent++;
		remove_oldest(r);
	}
	return sent;
}
