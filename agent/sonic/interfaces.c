#include "agent/sonic/interfaces.h"

#include <stdlib.h>
#include <string.h>

static void
interface_free(struct sonic_interface *interface)
{
	free(interface->vlans);
	free(interface);
}

void
interfaces_free(struct sonic_interfaces *t)
{
	for (size_t i = 0; i < t->n; i++)
		interface_free(t->all[i]);
	free(t->all);
	free(t->served);
	*t = (struct sonic_interfaces){0};
}

static size_t
position_of(struct sonic_interface *const *list, size_t n, uint32_t if_index)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (list[middle]->if_index < if_index)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

struct sonic_interface *
interfaces_find(const struct sonic_interfaces *t, uint32_t if_index)
{
	size_t at = position_of(t->all, t->n, if_index);

	return at < t->n && t->all[at]->if_index == if_index ? t->all[at] : NULL;
}

static struct sonic_interface *
add_interface(struct sonic_interfaces *t, uint32_t if_index, enum sonic_kind kind, const char *name, size_t octets)
{
	size_t at = position_of(t->all, t->n, if_index);
	struct sonic_interface *interface = calloc(1, sizeof(*interface));
	struct sonic_interface **grown = reallocarray(t->all, t->n + 1, sizeof(*grown));

	if (grown)
		t->all = grown;
	if (!grown || !interface) {
		free(interface);
		return NULL;
	}
	memmove(&grown[at + 1], &grown[at], (t->n++ - at) * sizeof(*grown));
	grown[at] = interface;
	interface->if_index = if_index;
	interface->kind = (uint8_t)kind;
	memcpy(interface->name, name, octets);
	return interface;
}

struct sonic_interface *
interfaces_get(struct sonic_interfaces *t, const char *name, size_t octets)
{
	struct sonic_interface *interface;
	enum sonic_kind kind;
	uint32_t number, if_index = interface_number(name, octets, &kind, &number);

	if (if_index == 0 || octets > SONIC_NAME_MAX)
		return NULL;
	interface = interfaces_find(t, if_index);
	if (!interface && t->n < HAL_MAX_PORTS)
		return add_interface(t, if_index, kind, name, octets);
	if (interface && strlen(interface->name) == octets && memcmp(interface->name, name, octets) == 0)
		return interface;
	t->refused++;
	return NULL;
}

/* ---- passes ---- */

void
interfaces_begin_pass(struct sonic_interfaces *t)
{
	t->pass++;
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i]->vlans)
			memset(t->all[i]->vlans->seen, 0, sizeof(t->all[i]->vlans->seen));
}

void
interfaces_name(const struct sonic_interfaces *t, struct sonic_interface *interface)
{
	interface->pass = interface->kind == SONIC_MANAGEMENT ? t->management_pass : t->pass;
	interface->changed |= interface->missing;
	interface->missing = false;
}

void
interfaces_join_lag(
    const struct sonic_interfaces *t, struct sonic_interface *interface, uint32_t lag, bool active)
{
	interface->changed |= interface->lag != lag || interface->lag_active != active;
	interface->lag = lag;
	interface->lag_active = active;
	interface->lag_pass = t->pass;
}

static bool
has_bit(const uint64_t *words, uint16_t vlan)
{
	return words[vlan / 64] >> vlan % 64 & 1;
}

void
interfaces_join_vlan(struct sonic_interface *interface, uint16_t vlan, bool untagged)
{
	const uint64_t bit = 1ull << vlan % 64;
	struct sonic_vlans *vlans = interface->vlans;

	if (!vlans)
		vlans = interface->vlans = calloc(1, sizeof(*vlans));
	if (!vlans)
		return;
	interface->changed |= !has_bit(vlans->member, vlan) || has_bit(vlans->untagged, vlan) != untagged;
	vlans->member[vlan / 64] |= bit;
	vlans->seen[vlan / 64] |= bit;
	vlans->untagged[vlan / 64] = (vlans->untagged[vlan / 64] & ~bit) | (untagged ? bit : 0);
}

bool
interface_is_member(const struct sonic_interface *interface, uint16_t vlan)
{
	return interface->vlans && has_bit(interface->vlans->member, vlan);
}

bool
interface_has_vlans(const struct sonic_interface *interface)
{
	uint64_t any = 0;

	for (size_t i = 0; interface->vlans && i < SONIC_VLAN_WORDS; i++)
		any |= interface->vlans->member[i];
	return any != 0;
}

/* Ends what the pass did not name again. */
static void
end_memberships(const struct sonic_interfaces *t, struct sonic_interface *interface)
{
	struct sonic_vlans *vlans = interface->vlans;

	for (size_t i = 0; vlans && i < SONIC_VLAN_WORDS; i++) {
		interface->changed |= (vlans->member[i] & ~vlans->seen[i]) != 0;
		vlans->member[i] &= vlans->seen[i];
	}
	if (interface->lag == 0 || interface->lag_pass == t->pass)
		return;
	interface->lag = 0;
	interface->lag_active = false;
	interface->changed = true;
}

static void
remove_at(struct sonic_interfaces *t, size_t at)
{
	interface_free(t->all[at]);
	memmove(&t->all[at], &t->all[at + 1], (--t->n - at) * sizeof(*t->all));
}

/* What is served may be freed here, so the list is made anew before anybody looks at it: interfaces_list(). */
void
interfaces_end_pass(struct sonic_interfaces *t, bool complete)
{
	for (size_t i = t->n; i-- > 0;) {
		struct sonic_interface *interface = t->all[i];

		if (interface->kind == SONIC_MANAGEMENT)
			continue;
		if (complete)
			end_memberships(t, interface);
		if (interface->pass == t->pass)
			continue;
		if (complete || !interface->has_entry) {
			remove_at(t, i);
		} else {
			interface->changed |= !interface->missing;
			interface->missing = true;
		}
	}
}

void
interfaces_begin_management_pass(struct sonic_interfaces *t)
{
	t->management_pass++;
}

void
interfaces_end_management_pass(struct sonic_interfaces *t)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->all[i]->kind == SONIC_MANAGEMENT && t->all[i]->pass != t->management_pass)
			remove_at(t, i);
}

bool
interfaces_list(struct sonic_interfaces *t)
{
	struct sonic_interface **list = calloc(t->n + 1, sizeof(*list));
	size_t n = 0;
	bool same;

	if (!list) { /* what is freed must not be served */
		t->n_served = 0;
		return true;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i]->has_entry)
			list[n++] = t->all[i];
	same = n == t->n_served && (n == 0 || memcmp(list, t->served, n * sizeof(*list)) == 0);
	free(t->served);
	t->served = list;
	t->n_served = n;
	return !same;
}

/* ---- numbers ---- */

static const struct {
	const char *prefix;
	uint32_t first;	 /* ifIndex of number 0 */
	uint32_t max;	 /* number */
} name_kinds[SONIC_N_KINDS] = {
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
		size_t head = strlen(name_kinds[i].prefix), at = head;

		if (octets <= head || octets > head + DIGITS_MAX || memcmp(name, name_kinds[i].prefix, head) != 0)
			continue;
		for (*number = 0; at < octets && name[at] >= '0' && name[at] <= '9'; at++)
			*number = 10 * *number + (uint32_t)(name[at] - '0');
		*kind = (enum sonic_kind)i;
		return at == octets && *number <= name_kinds[i].max ? name_kinds[i].first + *number : 0;
	}
	return 0;
}
