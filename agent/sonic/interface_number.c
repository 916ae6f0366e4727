#include "agent/sonic/interface_number.h"

#include <string.h>

static const struct {
	const char *prefix;
	uint32_t first;	 /* ifIndex of number 0 */
	uint32_t max;	 /* number */
} kinds[SONIC_N_KINDS] = {
    [SONIC_PORT] = {"Ethernet", 1, 8998},
    [SONIC_LAG] = {"PortChannel", 1000, 9999},
    [SONIC_VLAN] = {"Vlan", 2000, 4094},
    [SONIC_MANAGEMENT] = {"eth", 10000, 999},
};

enum { DIGITS_MAX = 4 };

uint32_t
interface_number(const char *name, size_t octets, enum sonic_kind *kind, uint32_t *number)
{
	for (unsigned i = 0; i < SONIC_N_KINDS; i++) {
		size_t head = strlen(kinds[i].prefix), at = head;

		if (octets <= head || octets > head + DIGITS_MAX ||
		    memcmp(name, kinds[i].prefix, head) != 0)
			continue;
		for (*number = 0; at < octets && name[at] >= '0' && name[at] <= '9'; at++)
			*number = 10 * *number + (uint32_t)(name[at] - '0');
		*kind = (enum sonic_kind)i;
		return at == octets && *number <= kinds[i].max ? kinds[i].first + *number : 0;
	}
	return 0;
}
