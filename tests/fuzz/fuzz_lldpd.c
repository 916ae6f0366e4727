/*
 * What lldpd's client prints, of this machine and of its neighbours: the input is cut in two at its first NUL. Whatever it is,
 * rows that are taken are in order, each once, with identities of their kind, and of interfaces that are ours.
 */
#include "agent/linux/lldpd_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "e0" is 1, "e1" 2, … */
static uint32_t
if_index_of(void *ctx, const char *name)
{
	(void)ctx;
	return name[0] == 'e' && name[1] >= '0' && name[1] <= '9' && name[2] == '\0' ? (uint32_t)(name[1] - '0') + 1 : 0;
}

static void
check_rows(const struct hal_lldp *lldp)
{
	for (size_t i = 0; i < lldp->n_ports; i++)
		if (lldp->ports[i].if_index == 0 || lldp->ports[i].id.n_octets == 0 ||
		    (i > 0 && lldp->ports[i - 1].if_index >= lldp->ports[i].if_index))
			abort();
	for (size_t i = 0; i < lldp->n_neighbours; i++) {
		const struct hal_neighbour *n = &lldp->neighbours[i], *before = i > 0 ? n - 1 : NULL;

		if (n->if_index == 0 || n->number == 0 || n->chassis.n_octets == 0 || n->port.n_octets == 0 ||
		    (before && (before->if_index > n->if_index || (before->if_index == n->if_index && before->number >= n->number))))
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = size > 0 ? memchr(text, '\0', size) : NULL;
	size_t n_own = end ? (size_t)(end - text) : size;
	struct lldpd_reading reading;

	if (lldpd_json_read(text, n_own, end ? end + 1 : "", end ? size - n_own - 1 : 0, if_index_of, NULL, &reading) == 0)
		check_rows(&reading.lldp);
	lldpd_reading_free(&reading);
	return 0;
}
