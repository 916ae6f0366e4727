#include "collector/poll/poll_links.h"

#include <stdlib.h>

bool
poll_links_add(struct poll_links *l, const struct poll_neighbour *neighbour)
{
	if (!l->links)
		l->links = calloc(POLL_LINKS_MAX, sizeof(*l->links));
	if (!l->links || l->n == POLL_LINKS_MAX)
		return false;
	l->links[l->n++] = (struct poll_link){.local_port = neighbour->local_port, .remote = neighbour->remote};
	return true;
}

struct poll_link *
poll_links_unknown(const struct poll_links *l, uint32_t *at)
{
	for (; *at < l->n; ++*at)
		if (l->links[*at].own == 0)
			return &l->links[*at];
	return NULL;
}

static uint32_t
n_at(const struct poll_links *l, uint32_t n, uint32_t if_index)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += l->links[i].if_index == if_index;
	return found;
}

void
poll_links_compact(struct poll_links *l)
{
	uint32_t n = 0;
	struct poll_link *links;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->links[i].if_index != 0 && l->links[i].own != POLL_LINK_NAMELESS &&
		    n_at(l, n, l->links[i].if_index) < POLL_LINKS_A_PORT)
			l->links[n++] = l->links[i];
	l->n = n;
	links = n > 0 ? realloc(l->links, n * sizeof(*links)) : NULL;
	if (links)
		l->links = links;
	else if (n == 0)
		poll_links_clear(l);
}

static uint32_t *
poll_links_head_of(const struct poll_pairs *pairs, uint64_t own, uint64_t remote)
{
	uint64_t hash = (own ^ remote * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return &pairs->first[hash >> 32 & pairs->mask];
}

static struct poll_link *
link_at(const struct poll_pairs *pairs, uint32_t at)
{
	return &pairs->all[(at - 1) / POLL_LINKS_MAX]->links[(at - 1) % POLL_LINKS_MAX];
}

void
poll_pairs_add(struct poll_pairs *pairs, uint32_t i)
{
	for (uint32_t k = 0; k < pairs->all[i]->n; k++) {
		struct poll_link *link = &pairs->all[i]->links[k];
		uint32_t *head = poll_links_head_of(pairs, link->own, link->remote);

		link->next = *head;
		*head = 1 + POLL_LINKS_MAX * i + k;
	}
}

void
poll_pairs_remove(struct poll_pairs *pairs, uint32_t i)
{
	for (uint32_t k = 0; k < pairs->all[i]->n; k++) {
		const struct poll_link *link = &pairs->all[i]->links[k];
		uint32_t *at = poll_links_head_of(pairs, link->own, link->remote);

		while (*at != 1 + POLL_LINKS_MAX * i + k)
			at = &link_at(pairs, *at)->next;
		*at = link->next;
	}
}

const struct poll_link *
poll_pairs_other(const struct poll_pairs *pairs, uint32_t i, const struct poll_link *link, uint32_t *at, uint32_t *j)
{
	*at = *at == 0 ? *poll_links_head_of(pairs, link->remote, link->own) : link_at(pairs, *at)->next;
	for (; *at != 0; *at = link_at(pairs, *at)->next) {
		const struct poll_link *other = link_at(pairs, *at);

		*j = (*at - 1) / POLL_LINKS_MAX;
		if (*j != i && other->own == link->remote && other->remote == link->own)
			return other;
	}
	return NULL;
}

const struct poll_link *
poll_pairs_confirm(const struct poll_pairs *pairs, uint32_t i, uint32_t if_index, uint32_t *j)
{
	for (uint32_t k = 0; k < pairs->all[i]->n; k++) {
		const struct poll_link *link = &pairs->all[i]->links[k], *other = NULL;
		uint32_t at = 0;

		if (link->if_index == if_index)
			other = poll_pairs_other(pairs, i, link, &at, j);
		if (other)
			return other;
	}
	return NULL;
}

void
poll_links_clear(struct poll_links *l)
{
	free(l->links);
	*l = (struct poll_links){.n = 0};
}
