#include "collector/input/v3_window.h"

#include <errno.h>
#include <stdlib.h>

/* An accepted message is not newer than the engine's time, so its window is over after this. */
#define KEEP_US ((V3_WINDOW_S + 1) * 1000000ull)

struct v3_digest {
	uint64_t octets; /* the first eight, which nobody can choose without the key */
	uint64_t noted_us;
	bool used;
};

bool
v3_window_accepts(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us)
{
	int64_t now_s = e->time_s + (int64_t)((mono_us - e->heard_us) / 1000000);

	if (boots == INT32_MAX)
		return false;
	if (e->heard && (boots < e->boots || (boots == e->boots && time_s < now_s - V3_WINDOW_S)))
		return false;
	if (e->restored && boots == e->restored_boots && time_s <= e->restored_s)
		return false;
	if (!e->heard || boots > e->boots || time_s > e->time_s) {
		e->heard = true;
		e->boots = boots;
		e->time_s = time_s;
		e->heard_us = mono_us;
		e->changed = true;
	}
	return true;
}

void
v3_window_restore(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us)
{
	e->heard = e->restored = true;
	e->boots = e->restored_boots = boots;
	e->time_s = e->restored_s = time_s;
	e->heard_us = mono_us;
}

int
v3_digests_init(struct v3_digests *d, size_t n)
{
	*d = (struct v3_digests){.table = calloc(n, sizeof(*d->table)), .n = n};
	return d->table ? 0 : -ENOMEM;
}

void
v3_digests_free(struct v3_digests *d)
{
	free(d->table);
}

bool
v3_digests_seen(struct v3_digests *d, const struct rbuf *digest, uint64_t mono_us)
{
	struct rbuf r = *digest;
	uint64_t octets = rbuf_be64(&r);
	struct v3_digest *set = &d->table[octets % (d->n / V3_DIGEST_WAYS) * V3_DIGEST_WAYS];
	struct v3_digest *oldest = set;

	for (int i = 0; i < V3_DIGEST_WAYS; i++) {
		bool fresh = set[i].used && mono_us - set[i].noted_us < KEEP_US;

		if (fresh && set[i].octets == octets)
			return true;
		if (!set[i].used || (oldest->used && set[i].noted_us < oldest->noted_us))
			oldest = &set[i];
	}
	if (oldest->used && mono_us - oldest->noted_us < KEEP_US)
		d->forgotten++;
	*oldest = (struct v3_digest){octets, mono_us, true};
	return false;
}
