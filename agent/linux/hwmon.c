#include "agent/linux/hwmon.h"

#include "common/close_fd.h"
#include "common/hash.h"
#include "common/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_MAX = 99, TEXT = 64, KEY = 2 * TEXT }; /* of sensors of a kind in one monitor */

/* What a file's value is in, and what it becomes. */
static const struct kind {
	const char *prefix, *value; /* "temp1_input" */
	double unit;
	uint8_t type, scale;
	int8_t precision;
} kinds[] = {
    {"temp", "input", 1e-3, HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3},
    {"in", "input", 1e-3, HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 0},
    {"curr", "input", 1e-3, HAL_SENSOR_AMPERES, HAL_SCALE_MILLI, 0},
    {"power", "input", 1e-6, HAL_SENSOR_WATTS, HAL_SCALE_MILLI, 0},
    {"power", "average", 1e-6, HAL_SENSOR_WATTS, HAL_SCALE_MILLI, 0},
    {"fan", "input", 1, HAL_SENSOR_RPM, HAL_SCALE_UNITS, 0},
    {"humidity", "input", 1e-3, HAL_SENSOR_PERCENT_RH, HAL_SCALE_UNITS, 3},
};

struct slot {
	bool is_there, was_read; /* the latter in the pass that is going on */
	char key[KEY];		 /* monitor's place and file */
	struct hal_sensor sensor;
};

/* The one that is being read. */
struct monitor {
	int directory;
	char name[TEXT];
	char place[KEY - TEXT]; /* name and device: the kernel numbers monitors anew at each start */
	bool is_asleep;	/* to read a value would wake the device */
};

struct hwmon {
	char *path;
	struct slot slots[HAL_MAX_SENSORS]; /* by number */
	const struct hal_sensor *listed[HAL_MAX_SENSORS];
	size_t n_listed;
	uint64_t left_out;
	bool changed;
	uint64_t now_us;
};

int
hwmon_create(const char *root, struct hwmon **hwmon)
{
	struct hwmon *h = calloc(1, sizeof(*h));

	if (!h || asprintf(&h->path, "%s/class/hwmon", root) < 0) {
		free(h);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < HAL_MAX_SENSORS; i++)
		h->slots[i].sensor.number = i;
	*hwmon = h;
	return 0;
}

void
hwmon_destroy(struct hwmon *h)
{
	if (h)
		free(h->path);
	free(h);
}

/* ---- files ---- */

/* The first line of a file of the directory, cleaned; false: it cannot be read. */
static bool
read_text_file(int directory, const char *name, char line[TEXT])
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	char octets[TEXT] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, octets, sizeof(octets) - 1);

	close_fd(fd);
	if (n < 0)
		return false;
	octets[n] = '\0';
	octets[strcspn(octets, "\n")] = '\0';
	utf8_printable(octets, line, TEXT);
	return true;
}

static bool
read_number_file(int directory, const char *name, double *number)
{
	char line[TEXT], *end;

	if (!read_text_file(directory, name, line))
		return false;
	errno = 0;
	*number = (double)strtoll(line, &end, 10);
	return errno == 0 && end != line && *end == '\0';
}

static bool
is_number(int directory, const char *name, double wanted)
{
	double number;

	return read_number_file(directory, name, &number) && number == wanted;
}

/* ---- sensors ---- */

/* The sensor's slot, or a free one; NULL: there is none. Where a monitor's begin is the same at each start, as long as no
 * others have them. */
static struct slot *
sensor_slot(struct hwmon *h, const char *place, const char *key)
{
	uint64_t first = hash_fnv(HASH_FNV, place, strlen(place)) % HAL_MAX_SENSORS;
	struct slot *free_slot = NULL;

	for (size_t i = 0; i < HAL_MAX_SENSORS; i++) {
		struct slot *slot = &h->slots[(first + i) % HAL_MAX_SENSORS];

		if (slot->is_there && !slot->was_read && strcmp(slot->key, key) == 0)
			return slot;
		if (!slot->is_there && !free_slot)
			free_slot = slot;
	}
	if (!free_slot) {
		h->left_out++;
		return NULL;
	}
	free_slot->is_there = h->changed = true;
	snprintf(free_slot->key, sizeof(free_slot->key), "%s", key);
	free_slot->sensor.reading.name[0] = '\0';
	return free_slot;
}

/* "temp1_label" and so on: file names have the kind's prefix and the number before the last part. */
static double
read_value_file(int directory, const struct kind *kind, unsigned number, bool *has_fault)
{
	char name[TEXT];
	double value;

	snprintf(name, sizeof(name), "%s%u_fault", kind->prefix, number);
	*has_fault = is_number(directory, name, 1);
	snprintf(name, sizeof(name), "%s%u_enable", kind->prefix, number);
	if (is_number(directory, name, 0))
		return NAN;
	snprintf(name, sizeof(name), "%s%u_%s", kind->prefix, number, kind->value);
	return read_number_file(directory, name, &value) ? value * kind->unit : NAN;
}

static void
name_sensor(struct hwmon *h, struct hal_reading *reading, const char *monitor, const char *label)
{
	char name[sizeof(reading->name)];

	snprintf(name, sizeof(name), "%.31s %.31s", monitor, label);
	h->changed |= strcmp(name, reading->name) != 0;
	strcpy(reading->name, name);
}

static void
read_sensor(struct hwmon *h, const struct monitor *monitor, const struct kind *kind, unsigned number)
{
	char key[KEY], name[TEXT], label[TEXT];
	struct slot *slot;
	bool has_fault = false;

	snprintf(key, sizeof(key), "%s %s%u_%s", monitor->place, kind->prefix, number, kind->value);
	slot = sensor_slot(h, monitor->place, key);
	if (!slot)
		return;
	slot->was_read = true;
	slot->sensor.read_mono_us = h->now_us;
	slot->sensor.reading.type = kind->type;
	slot->sensor.reading.scale = kind->scale;
	slot->sensor.reading.precision = kind->precision;
	hal_reading_set(&slot->sensor.reading,
	    monitor->is_asleep ? NAN : read_value_file(monitor->directory, kind, number, &has_fault));
	if (has_fault) {
		slot->sensor.reading.status = HAL_SENSOR_NONOPERATIONAL;
		slot->sensor.reading.value = 0;
	}
	snprintf(name, sizeof(name), "%s%u_label", kind->prefix, number);
	if (!read_text_file(monitor->directory, name, label) || label[0] == '\0')
		snprintf(label, sizeof(label), "%s%u", kind->prefix, number);
	name_sensor(h, &slot->sensor.reading, monitor->name, label);
}

/* Whether the file is a value of the kind, of a sensor with that number. */
static bool
is_value(const char *file, const struct kind *kind, unsigned *number)
{
	size_t n = strlen(kind->prefix);
	char *end;
	unsigned long parsed;

	if (strncmp(file, kind->prefix, n) != 0 || file[n] < '0' || file[n] > '9')
		return false;
	parsed = strtoul(file + n, &end, 10);
	*number = (unsigned)parsed;
	return parsed <= NUMBER_MAX && *end == '_' && strcmp(end + 1, kind->value) == 0;
}

/* file: the directory's name, which the kernel made up. */
static void
name_monitor(struct monitor *monitor, const char *file)
{
	char target[PATH_MAX] = "", status[TEXT];
	ssize_t n = readlinkat(monitor->directory, "device", target, sizeof(target) - 1);
	const char *device = n > 0 ? strrchr(target, '/') : NULL;

	if (!read_text_file(monitor->directory, "name", monitor->name))
		snprintf(monitor->name, sizeof(monitor->name), "%.60s", file);
	snprintf(monitor->place, sizeof(monitor->place), "%.30s %.30s", monitor->name, device ? device + 1 : file);
	monitor->is_asleep = read_text_file(monitor->directory, "device/power/runtime_status", status) &&
	    strcmp(status, "suspended") == 0;
}

static void
read_monitor(struct hwmon *h, int fd, const char *file)
{
	struct monitor monitor = {.directory = fd};
	DIR *directory = fdopendir(fd);
	struct dirent *entry;
	unsigned number;

	if (!directory) {
		close_fd(fd);
		return;
	}
	name_monitor(&monitor, file);
	while ((entry = readdir(directory)))
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (is_value(entry->d_name, &kinds[k], &number))
				read_sensor(h, &monitor, &kinds[k], number);
	closedir(directory);
}

static void
list_sensors(struct hwmon *h)
{
	h->n_listed = 0;
	for (size_t i = 0; i < HAL_MAX_SENSORS; i++) {
		struct slot *slot = &h->slots[i];

		if (slot->is_there && !slot->was_read) {
			slot->is_there = false;
			h->changed = true;
		}
		slot->was_read = false;
		if (slot->is_there)
			h->listed[h->n_listed++] = &slot->sensor;
	}
}

bool
hwmon_read(struct hwmon *h, uint64_t now_us)
{
	DIR *monitors = opendir(h->path);
	struct dirent *entry;

	h->changed = false;
	h->now_us = now_us;
	while (monitors && (entry = readdir(monitors))) {
		int fd = entry->d_name[0] == '.' ? -1
		    : openat(dirfd(monitors), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			read_monitor(h, fd, entry->d_name);
	}
	if (monitors)
		closedir(monitors);
	list_sensors(h);
	return h->changed;
}

size_t
hwmon_n_sensors(const struct hwmon *h)
{
	return h->n_listed;
}

const struct hal_sensor *
hwmon_sensor(const struct hwmon *h, size_t i)
{
	return h->listed[i];
}

uint64_t
hwmon_left_out(const struct hwmon *h)
{
	return h->left_out;
}
