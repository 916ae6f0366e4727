/*
 * The facet of sensors: hardware monitors of the kernel (hwmon.h), and transceivers by ethtool's netlink
 * (module_eeprom.h). A bus to a module is slow, and reading it keeps this thread, so each call reads one thing, and what took
 * long has twenty times as long to wait for the next one.
 */
#include "agent/linux/hwmon.h"
#include "agent/linux/linux_private.h"

#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REST_TIMES = 20, FAILURES_MAX = 3 };
#define MONITORS_PERIOD_US 5000000ull /* not more often, even where there is nothing else to read */

struct module {
	struct hal_transceiver transceiver;
	unsigned n_failures; /* in a row */
};

struct linux_sensors {
	struct hwmon *hwmon;
	struct module *modules; /* sorted by if_index */
	size_t n_modules, room;
	uint64_t changes;
	size_t next; /* the place in the table of ports of the one that is read next; beyond it: the monitors */
	uint64_t rest_until_us, monitors_due_us;
	bool may_not; /* the kernel does not let us read modules */
};

int
linux_open_sensors(struct linux_device *d, const char *root)
{
	struct linux_sensors *s = calloc(1, sizeof(*s));
	int rc = s ? hwmon_create(root ? root : "/sys", &s->hwmon) : -ENOMEM;

	if (rc < 0) {
		free(s);
		return rc;
	}
	s->changes = 1;
	d->sensors = s;
	return 0;
}

void
linux_close_sensors(struct linux_device *d)
{
	if (!d->sensors)
		return;
	hwmon_destroy(d->sensors->hwmon);
	free(d->sensors->modules);
	free(d->sensors);
	d->sensors = NULL;
}

/* ---- modules ---- */

/* The first that is not before the port. */
static size_t
module_place(const struct linux_sensors *s, uint32_t if_index)
{
	size_t i = 0;

	while (i < s->n_modules && s->modules[i].transceiver.if_index < if_index)
		i++;
	return i;
}

static struct module *
module_of(struct linux_sensors *s, uint32_t if_index)
{
	size_t i = module_place(s, if_index);

	return i < s->n_modules && s->modules[i].transceiver.if_index == if_index ? &s->modules[i] : NULL;
}

static void
remove_module(struct linux_sensors *s, struct module *module)
{
	size_t after = s->n_modules - (size_t)(module - s->modules) - 1;

	memmove(module, module + 1, after * sizeof(*module));
	s->n_modules--;
	s->changes++;
}

static struct module *
add_module(struct linux_sensors *s, uint32_t if_index)
{
	size_t room = s->room > 0 ? 2 * s->room : 16, i;

	if (s->n_modules == s->room) {
		struct module *grown = realloc(s->modules, room * sizeof(*grown));

		if (!grown)
			return NULL;
		s->modules = grown;
		s->room = room;
	}
	i = module_place(s, if_index);
	memmove(&s->modules[i + 1], &s->modules[i], (s->n_modules - i) * sizeof(*s->modules));
	s->modules[i] = (struct module){.transceiver.if_index = if_index};
	s->n_modules++;
	s->changes++;
	return &s->modules[i];
}

/* What ENTITY-MIB shows of it. */
static bool
is_same_part(const struct hal_transceiver *a, const struct hal_transceiver *b)
{
	bool same = a->n_readings == b->n_readings && strcmp(a->type, b->type) == 0 && strcmp(a->maker, b->maker) == 0 &&
	    strcmp(a->model, b->model) == 0 && strcmp(a->serial, b->serial) == 0 && strcmp(a->revision, b->revision) == 0;

	for (size_t i = 0; same && i < a->n_readings; i++)
		same = strcmp(a->readings[i].name, b->readings[i].name) == 0;
	return same;
}

static int
read_memory(struct linux_device *d, const struct links_port *port, struct module_memory *memory)
{
	struct module_page page;
	int rc = 0;

	memory->n = 0;
	while (rc == 0 && memory->n < MODULE_MAX_PAGES && module_next_page(memory, &page)) {
		rc = kernel_get_module(&d->kernel, port->link.kernel_index, &page, memory->octets[memory->n]);
		memory->n += rc == 0;
	}
	return rc;
}

/* A module that does not answer is there until it has not for some times; one that was pulled is gone at once. */
static void
note_module_failure(struct linux_sensors *s, struct module *module, int rc)
{
	struct hal_transceiver *t = &module->transceiver;
	bool is_gone = rc == -ENODEV || rc == -ENXIO || rc == -EOPNOTSUPP || rc == -EPERM;

	if (is_gone || ++module->n_failures >= FAILURES_MAX) {
		remove_module(s, module);
		return;
	}
	for (size_t i = 0; i < t->n_readings; i++) {
		t->readings[i].status = HAL_SENSOR_UNAVAILABLE;
		t->readings[i].value = 0;
	}
}

static void
read_module(struct linux_device *d, const struct links_port *port)
{
	struct linux_sensors *s = d->sensors;
	struct module *module = module_of(s, port->if_index);
	struct hal_transceiver fresh = {.if_index = port->if_index, .read_mono_us = clock_mono_us(d->clock)};
	struct module_memory memory;
	int rc = read_memory(d, port, &memory);

	if (rc == -EPERM && !s->may_not) {
		s->may_not = true;
		log_info("linux", "the kernel does not let this process read transceivers (CAP_NET_ADMIN): they are not served");
	}
	if (rc < 0) {
		if (module) {
			stat_add(&d->stats, LINUX_STAT_MODULE_ERRORS, 1);
			note_module_failure(s, module, rc);
		}
		return;
	}
	if (!module)
		module = add_module(s, port->if_index);
	if (!module)
		return;
	module_decode(&memory, &fresh);
	s->changes += !is_same_part(&module->transceiver, &fresh);
	*module = (struct module){.transceiver = fresh};
}

/* Those of ports that have left. */
static void
sweep_modules(struct linux_device *d)
{
	struct linux_sensors *s = d->sensors;

	for (size_t i = s->n_modules; i > 0; i--)
		if (!links_find(&d->links, s->modules[i - 1].transceiver.if_index))
			remove_module(s, &s->modules[i - 1]);
}

/* ---- in turn ---- */

/* The next port that can have a module; NULL: all were read. */
static const struct links_port *
next_port(struct linux_device *d)
{
	struct linux_sensors *s = d->sensors;

	while (s->next < d->links.n) {
		const struct links_port *port = &d->links.ports[s->next++];

		if (port->share_of == 0 && linux_has_connector(port) && !s->may_not)
			return port;
	}
	return NULL;
}

static void
read_monitors(struct linux_device *d, uint64_t now_us)
{
	struct linux_sensors *s = d->sensors;

	s->next = 0;
	sweep_modules(d);
	if (now_us < s->monitors_due_us)
		return;
	s->monitors_due_us = now_us + MONITORS_PERIOD_US;
	s->changes += hwmon_read(s->hwmon, now_us);
	stat_raise(&d->stats, LINUX_STAT_SENSORS_LEFT_OUT, hwmon_left_out(s->hwmon));
}

static void
sensors_read_next(void *ctx)
{
	struct linux_device *d = ctx;
	uint64_t now_us = clock_mono_us(d->clock);
	const struct links_port *port;

	if (now_us < d->sensors->rest_until_us)
		return;
	port = next_port(d);
	if (port)
		read_module(d, port);
	else
		read_monitors(d, now_us);
	d->sensors->rest_until_us = now_us + REST_TIMES * (clock_mono_us(d->clock) - now_us);
}

bool
linux_read_all_sensors(struct linux_device *d)
{
	const struct links_port *port;

	for (d->sensors->next = 0; (port = next_port(d));)
		read_module(d, port);
	hwmon_read(d->sensors->hwmon, clock_mono_us(d->clock));
	return !d->sensors->may_not;
}

static uint64_t
sensors_changes(void *ctx)
{
	return ((struct linux_device *)ctx)->sensors->changes;
}

static size_t
sensors_count(void *ctx)
{
	return hwmon_n_sensors(((struct linux_device *)ctx)->sensors->hwmon);
}

static const struct hal_sensor *
sensors_get(void *ctx, size_t i)
{
	return hwmon_sensor(((struct linux_device *)ctx)->sensors->hwmon, i);
}

static size_t
transceivers_count(void *ctx)
{
	return ((struct linux_device *)ctx)->sensors->n_modules;
}

static const struct hal_transceiver *
transceivers_get(void *ctx, size_t i)
{
	return &((struct linux_device *)ctx)->sensors->modules[i].transceiver;
}

const struct hal_sensors_ops linux_sensors_ops = {
    .name = "linux",
    .read_next = sensors_read_next,
    .changes = sensors_changes,
    .n_sensors = sensors_count,
    .sensor = sensors_get,
    .n_transceivers = transceivers_count,
    .transceiver = transceivers_get,
};
