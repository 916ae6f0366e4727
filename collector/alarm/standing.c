#include "collector/alarm/standing.h"

#include <errno.h>
#include <stdlib.h>

int
standing_init(struct standing_alarms *s, uint32_t most)
{
	*s = (struct standing_alarms){
	    .alarms = calloc(most, sizeof(*s->alarms)), .buckets = calloc(most, sizeof(*s->buckets))};
	if (!s->alarms || !s->buckets) {
		standing_free(s);
		return -ENOMEM;
	}
	s->most = most;
	for (uint32_t i = most; i > 0; i--) {
		s->alarms[i - 1].next = s->free;
		s->free = i;
	}
	return 0;
}

void
standing_free(struct standing_alarms *s)
{
	free(s->alarms);
	free(s->buckets);
	*s = (struct standing_alarms){0};
}

static uint32_t *
bucket_of(const struct standing_alarms *s, uint64_t tag)
{
	return &s->buckets[tag & (s->most - 1)];
}

struct standing_alarm *
standing_find(const struct standing_alarms *s, uint64_t tag)
{
	uint32_t at = s->n > 0 ? *bucket_of(s, tag) : 0;

	while (at > 0 && s->alarms[at - 1].tag != tag)
		at = s->alarms[at - 1].next;
	return at > 0 ? &s->alarms[at - 1] : NULL;
}

struct standing_alarm *
standing_add(struct standing_alarms *s, uint64_t tag)
{
	uint32_t at = s->free, *bucket = bucket_of(s, tag);
	struct standing_alarm *alarm;

	if (at == 0)
		return NULL;
	alarm = &s->alarms[at - 1];
	s->free = alarm->next;
	*alarm = (struct standing_alarm){.tag = tag, .next = *bucket};
	*bucket = at;
	s->n++;
	return alarm;
}

void
standing_remove(struct standing_alarms *s, struct standing_alarm *alarm)
{
	uint32_t at = (uint32_t)(alarm - s->alarms) + 1, *link = bucket_of(s, alarm->tag);

	while (*link != at)
		link = &s->alarms[*link - 1].next;
	*link = alarm->next;
	*alarm = (struct standing_alarm){.next = s->free};
	s->free = at;
	s->n--;
}
