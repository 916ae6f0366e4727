/*
 * Who stays in a bounded table: places by when each was last heard (least recently heard first, LRU), and
 * by who pays for them (max-min fairness between owners: senders, by address or user).
 *
 *   - A newcomer gets a place while more are free than the reserve, one in sixteen.
 *   - The reserve is for owners that hold less than the one that holds most. So who fills the table leaves
 *     places to others, at once, and finds the door closed itself.
 *   - While fewer places are free than twice the reserve, the least recently heard of all makes room if it
 *     was silent for a minimum time.
 *   - While fewer are free than the reserve, and nobody is silent: the least recently heard of the owner that
 *     holds most, if that is more than its equal part. Nobody else's.
 *   - A table of fewer than 16 places has no reserve. There somebody makes room once a newcomer was refused.
 *   - A place that is to become free leaves first: its content may still have to be written. If it is heard
 *     meanwhile, it stays, unless its owner would be refused as a newcomer.
 *
 * The table has no content: each of the caller's entries embeds a link. Each call takes a bounded time; only
 * where the owner that holds most loses a place are all owners looked at. No I/O; time is passed in; one
 * thread.
 */
#ifndef EASE_COMMON_LRU_TABLE_H
#define EASE_COMMON_LRU_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LRU_NONE = UINT32_MAX };

/* Times that differ by less than this have no order, so that a busy entry is not moved all the time. */
#define LRU_GRAIN_US 1000000

enum lru_state { LRU_FREE, LRU_HELD, LRU_LEAVING };

struct lru_link {
	int64_t heard_us; /* may be below 0: before the clock began */
	uint32_t newer, older;	       /* of all that are held; free places: older is the next one */
	uint32_t own_newer, own_older; /* of the same owner */
	uint32_t owner;		       /* index into owners */
	enum lru_state state;
};

struct lru_owner {
	uint64_t key;
	uint32_t held, places; /* held: without those that leave */
	uint32_t newest, oldest;
	uint32_t next; /* in its bucket, or of the free ones */
};

struct lru_table {
	char *links; /* the first entry's link; the others follow at the same distance */
	size_t stride;
	uint32_t max, end; /* places, and the end of those that were ever used */
	uint32_t reserve, n_free, n_leaving;
	uint32_t free, newest, oldest;
	bool wanted; /* a newcomer was refused, and no place became free since */
	struct lru_owner *owners;
	uint32_t *buckets; /* indexes into owners */
	uint32_t mask, owners_end, free_owner, n_owners, most; /* most: the owner that holds most */
};

/* Borrows the array of max entries, whose links are zeroed; entry i has its link at
 * (char *)first_link + i * stride. Returns 0 or -ENOMEM. */
int lru_table_init(struct lru_table *t, uint32_t max, struct lru_link *first_link, size_t stride);
void lru_table_free(struct lru_table *t);

/* The octets of a table beside the links. */
uint64_t lru_table_memory(uint32_t max);

/* True if an owner may have another place. Owners are named by a hash of what they are known by. */
bool lru_table_admits(struct lru_table *t, uint64_t owner);

/* Takes a free place, which is heard now; LRU_NONE if there is none. Whether the owner may is asked before. */
uint32_t lru_table_take(struct lru_table *t, uint64_t owner, int64_t now_us);

/* Frees a place, held or leaving. */
void lru_table_give(struct lru_table *t, uint32_t place);

static inline struct lru_link *
lru_table_link(const struct lru_table *t, uint32_t place)
{
	return (struct lru_link *)(void *)(t->links + place * t->stride);
}

/* Notes that a place is heard. False if it leaves, and must not be used any more. */
bool lru_table_note_heard(struct lru_table *t, uint32_t place, int64_t now_us);
static inline bool
lru_table_heard(struct lru_table *t, uint32_t place, int64_t now_us)
{
	const struct lru_link *link = lru_table_link(t, place);

	return (link->state == LRU_HELD && now_us - link->heard_us < LRU_GRAIN_US) ||
	    lru_table_note_heard(t, place, now_us);
}

/* Returns the place that is to become free next, or LRU_NONE if none is: one that was silent for forget_us
 * (0: for ever), or one as above. The caller has it leave, or frees it. */
uint32_t lru_table_next_victim(
    struct lru_table *t, int64_t now_us, int64_t least_silent_us, int64_t forget_us);
void lru_table_leave(struct lru_table *t, uint32_t place);

/* An owner's key; changing it; how many places it has; and these, from the most recently heard on, without
 * those that leave. */
uint64_t lru_table_owner(const struct lru_table *t, uint32_t place);
void lru_table_set_owner(struct lru_table *t, uint32_t place, uint64_t owner);
uint32_t lru_table_held(const struct lru_table *t, uint64_t owner);
uint32_t lru_table_first_of(const struct lru_table *t, uint64_t owner);
uint32_t lru_table_next_of(const struct lru_table *t, uint32_t place);

#endif
