#include "agent/state_ports.h"

#include "agent/settings.h"
#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a setting was before the latest request. */
struct state_before {
	struct state_port *port;
	unsigned kind;
	bool set;
	int64_t number;
	char *text;
};

/* ---- the list ---- */

static void
free_settings(struct state_port *port)
{
	for (size_t i = 0; i < STATE_N_KINDS; i++) {
		free(port->settings[i].text);
		port->settings[i] = (struct state_setting){0};
	}
}

static void
port_free(struct state_port *port)
{
	free_settings(port);
	free(port->name);
	free(port);
}

void
state_ports_init(struct state_ports *ports)
{
	ports->next_id = 1;
}

/* Leaves an empty list. */
void
state_ports_free(struct state_ports *ports)
{
	state_ports_begin(ports);
	free_settings(&ports->self);
	for (size_t i = 0; i < ports->n; i++)
		port_free(ports->items[i]);
	free(ports->items);
	free(ports->deleted);
	free(ports->undo);
	*ports = (struct state_ports){.next_id = 1, .n_forgotten = ports->n_forgotten,
	    .forgot = ports->forgot, .ctx = ports->ctx};
}

struct by_name {
	const struct state_ports *ports;
	const char *name;
};

static int
order_name(const void *ctx, size_t i)
{
	const struct by_name *by = ctx;

	return strcmp(by->ports->items[i]->name, by->name);
}

static size_t
locate_name(const struct state_ports *ports, const char *name, bool *found)
{
	const struct by_name by = {ports, name};

	return sorted_position(ports->n, order_name, &by, found);
}

struct state_port *
state_ports_find(const struct state_ports *ports, const char *name)
{
	bool found;
	size_t i = locate_name(ports, name, &found);

	return found ? ports->items[i] : NULL;
}

struct state_port *
state_ports_find_id(struct state_ports *ports, int64_t id)
{
	if (id == 0)
		return &ports->self;
	for (size_t i = 0; i < ports->n; i++) {
		if (ports->items[i]->id == id)
			return ports->items[i];
	}
	return NULL;
}

static struct state_port *
find_number(const struct state_ports *ports, uint32_t if_index, bool here)
{
	for (size_t i = 0; i < ports->n; i++) {
		if (ports->items[i]->if_index == if_index && ports->items[i]->here == here)
			return ports->items[i];
	}
	return NULL;
}

struct state_port *
state_ports_owner(const struct state_ports *ports, uint32_t if_index)
{
	return if_index ? find_number(ports, if_index, true)
			: (struct state_port *)(uintptr_t)&ports->self;
}

static int
insert_named_port(struct state_ports *ports, struct state_port *port)
{
	bool found;
	size_t i = locate_name(ports, port->name, &found);

	if (ports->n == ports->room) {
		size_t room = ports->room ? 2 * ports->room : 64;
		struct state_port **grown = reallocarray(ports->items, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		ports->items = grown;
		ports->room = room;
	}
	assert(!found && ports->n < ports->room);
	memmove(&ports->items[i + 1], &ports->items[i], (ports->n - i) * sizeof(*ports->items));
	ports->items[i] = port;
	ports->n++;
	return 0;
}

static void
state_ports_take_out(struct state_ports *ports, const struct state_port *port)
{
	bool found;
	size_t i = locate_name(ports, port->name, &found);

	assert(found && ports->items[i] == port);
	memmove(&ports->items[i], &ports->items[i + 1], (ports->n - i - 1) * sizeof(*ports->items));
	ports->n--;
}

struct state_port *
state_ports_add(struct state_ports *ports, int64_t id, const char *name)
{
	struct state_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->id = id;
	port->name = strdup(name);
	if (!port->name || insert_named_port(ports, port) < 0) {
		port_free(port);
		return NULL;
	}
	if (id >= ports->next_id)
		ports->next_id = id + 1;
	return port;
}

static int
state_ports_compare_numbers(const void *a, const void *b)
{
	const struct state_port *x = *(struct state_port *const *)a;
	const struct state_port *y = *(struct state_port *const *)b;

	return x->if_index < y->if_index ? -1 : x->if_index > y->if_index;
}

int
state_ports_check_numbers(struct state_ports *ports)
{
	struct state_port **sorted = malloc((ports->n + 1) * sizeof(struct state_port *));

	if (!sorted)
		return -ENOMEM;
	if (ports->n > 0)
		memcpy(sorted, ports->items, ports->n * sizeof(struct state_port *));
	qsort(sorted, ports->n, sizeof(struct state_port *), state_ports_compare_numbers);
	for (size_t i = 1; i < ports->n; i++) {
		if (sorted[i]->if_index == sorted[i - 1]->if_index)
			sorted[i - 1]->if_index = 0;
	}
	free(sorted);
	return 0;
}

/* ---- coming and going ---- */

static void
forget_named_port(struct state_ports *ports, struct state_port *port)
{
	int64_t *grown = reallocarray(ports->deleted, ports->n_deleted + 1, sizeof(*grown));

	if (!grown)
		return;
	ports->deleted = grown;
	grown[ports->n_deleted++] = port->id;
	state_ports_take_out(ports, port);
	state_ports_begin(ports); /* what can be undone may name the port */
	if (ports->forgot)
		ports->forgot(ports->ctx, port->name, port->if_index);
	ports->n_forgotten++;
	port_free(port);
}

void
state_ports_gone(struct state_port *port, uint64_t now_s)
{
	assert(port->here || port->departed_s == 0);
	port->here = false;
	port->departed_s = now_s;
	port->dirty = true;
}

bool
state_port_has_settings(const struct state_port *port)
{
	for (size_t i = 0; i < STATE_N_KINDS; i++) {
		if (port->settings[i].set)
			return true;
	}
	return false;
}

/* Which of two ports that are gone is forgotten first. */
static bool
state_ports_goes_before(const struct state_port *a, const struct state_port *b)
{
	if (state_port_has_settings(a) != state_port_has_settings(b))
		return !state_port_has_settings(a);
	return a->departed_s < b->departed_s;
}

void
state_ports_age(struct state_ports *ports, uint64_t before_s, size_t most)
{
	struct state_port *first = NULL;
	size_t n = 0;

	for (size_t i = ports->n; i > 0; i--) {
		struct state_port *port = ports->items[i - 1];

		if (port->here)
			continue;
		if (port->departed_s < before_s) {
			forget_named_port(ports, port);
			continue;
		}
		n++;
		if (!first || state_ports_goes_before(port, first))
			first = port;
	}
	if (n <= most)
		return;
	forget_named_port(ports, first);
	if (n - 1 > most)
		state_ports_age(ports, before_s, most);
}

/* A number belongs to one name. */
static void
give_number(struct state_ports *ports, struct state_port *port, uint32_t if_index)
{
	uint32_t before = port->if_index;
	struct state_port *other;

	while ((other = find_number(ports, if_index, false)) != NULL && other != port) {
		other->if_index = 0;
		other->dirty = true;
	}
	port->if_index = if_index;
	if (ports->forgot && before != 0 && !find_number(ports, before, false))
		ports->forgot(ports->ctx, NULL, before);
}

/* The port that is here with this number, and has another name until now; or NULL. */
static struct state_port *
rename_port(struct state_ports *ports, const char *name, uint32_t if_index)
{
	struct state_port *port = find_number(ports, if_index, true);
	struct state_port *other = state_ports_find(ports, name);
	char *copy;

	if (!port || (other && other->here))
		return NULL;
	copy = strdup(name);
	if (!copy)
		return NULL;
	if (other)
		forget_named_port(ports, other);
	state_ports_take_out(ports, port);
	free(port->name);
	port->name = copy;
	(void)insert_named_port(ports, port); /* there is room */
	return port;
}

int
state_ports_here(struct state_ports *ports, const char *name, uint32_t if_index, bool may_rename)
{
	struct state_port *port = state_ports_find(ports, name), *renamed = NULL;

	if (port && port->here && port->if_index == if_index)
		return 0;
	if (may_rename && (!port || !port->here))
		renamed = rename_port(ports, name, if_index);
	if (renamed)
		port = renamed;
	else if (!port)
		port = state_ports_add(ports, ports->next_id, name);
	if (!port)
		return -ENOMEM;
	if (renamed || port->if_index != if_index || port->departed_s != 0)
		port->dirty = true;
	if (port->if_index != if_index)
		give_number(ports, port, if_index);
	port->here = true;
	port->departed_s = 0;
	return 0;
}

/* ---- settings ---- */

int
state_ports_set(struct state_port *port, unsigned kind, int64_t number, const char *text)
{
	struct state_setting *setting = &port->settings[kind];
	char *copy = NULL;

	if (settings_is_text(kind)) {
		copy = strdup(text ? text : "");
		if (!copy)
			return -ENOMEM;
	}
	free(setting->text);
	*setting = (struct state_setting){.set = true, .dirty = true, .number = number, .text = copy};
	return 0;
}

void
state_ports_begin(struct state_ports *ports)
{
	for (size_t i = 0; i < ports->n_undo; i++)
		free(ports->undo[i].text);
	ports->n_undo = 0;
}

int
state_ports_change(struct state_ports *ports, struct state_port *port, const struct mib_set *set)
{
	const struct state_setting *now = &port->settings[set->kind];
	struct state_before *grown =
	    reallocarray(ports->undo, ports->n_undo + 1, sizeof(*grown));
	struct state_before before = {.port = port, .kind = set->kind, .set = now->set,
	    .number = now->number};
	int rc = grown ? 0 : -ENOMEM;

	assert(set->kind < STATE_N_KINDS);
	if (grown)
		ports->undo = grown;
	if (rc == 0 && now->text && (before.text = strdup(now->text)) == NULL)
		rc = -ENOMEM;
	if (rc == 0)
		rc = state_ports_set(port, set->kind, set->number, set->text);
	if (rc == 0)
		ports->undo[ports->n_undo++] = before;
	else
		free(before.text);
	return rc;
}

/* The latest is taken back first, so that a setting that was made twice gets its first value back. */
void
state_ports_undo(struct state_ports *ports)
{
	for (; ports->n_undo > 0; ports->n_undo--) {
		struct state_before *before = &ports->undo[ports->n_undo - 1];
		struct state_setting *setting = &before->port->settings[before->kind];

		free(setting->text);
		*setting = (struct state_setting){.set = before->set, .dirty = true,
		    .number = before->number, .text = before->text};
	}
}

void
state_ports_settings(const struct state_port *port, void (*apply)(void *ctx, const struct mib_set *set), void *ctx)
{
	for (unsigned kind = 0; kind < STATE_N_KINDS; kind++) {
		const struct state_setting *setting = &port->settings[kind];
		struct mib_set set = {.kind = kind, .if_index = port->if_index,
		    .number = setting->number};

		if (!setting->set)
			continue;
		if (setting->text) {
			snprintf(set.text, sizeof(set.text), "%s", setting->text);
			set.text_len = strlen(set.text);
		}
		apply(ctx, &set);
	}
}

/* ---- what the file lacks ---- */

static bool
state_ports_is_dirty(const struct state_port *port)
{
	bool dirty = port->dirty;

	for (size_t kind = 0; kind < STATE_N_KINDS && !dirty; kind++)
		dirty = port->settings[kind].dirty;
	return dirty;
}

bool
state_ports_dirty(const struct state_ports *ports)
{
	bool dirty = ports->n_deleted > 0 || state_ports_is_dirty(&ports->self);

	for (size_t i = 0; i < ports->n && !dirty; i++)
		dirty = state_ports_is_dirty(ports->items[i]);
	return dirty;
}

static void
mark_whole_port(struct state_port *port, bool dirty)
{
	port->dirty = dirty;
	for (size_t i = 0; i < STATE_N_KINDS; i++)
		port->settings[i].dirty = dirty && port->settings[i].set;
}

void
state_ports_mark(struct state_ports *ports, bool dirty)
{
	ports->n_deleted = 0;
	mark_whole_port(&ports->self, dirty);
	for (size_t i = 0; i < ports->n; i++)
		mark_whole_port(ports->items[i], dirty);
}
