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

bool
poll_links_name(const struct poll_links *by, const struct poll_link *link)
{
	for (uint32_t i = 0; i < by->n; i++)
		if (by->links[i].own != 0 && by->links[i].own == link->remote && by->links[i].remote == link->own)
			return true;
	return false;
}

bool
poll_links_confirm(const struct poll_links *const all[], size_t n, size_t i, uint32_t if_index)
{
	for (uint32_t k = 0; k < all[i]->n; k++) {
		const struct poll_link *link = &all[i]->links[k];

		if (link->if_index != if_index || link->own == 0)
			continue;
		for (size_t j = 0; j < n; j++)
			if (j != i && poll_links_name(all[j], link))
				return true;
	}
	return false;
}

void
poll_links_clear(struct poll_links *l)
{
	free(l->links);
	*l = (struct poll_links){.n = 0};
}
