#include "tests/collector/dialects/heard.h"

#include "collector/collector.h"
#include "common/log.h"
#include "tests/collector/answers.h"
#include "tests/collector/dialects/capture.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERROR_TEXT = 512 };
#define HOUR_US 3600000000ull

/* ---- the collector ---- */

static void
write_config(const struct heard *h, const char *path, const char *more)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "sflow_listen = {\"127.0.0.1:%d\"}\nsenders = {\"192.0.2.0/24\"}\nhttp_listen = \"\"\n"
		      "memory = 128\nstore = \"%s\"\n%s", CAPTURE_PORT, h->store, more);
	ck_assert_int_eq(fclose(file), 0);
}

static void
import(const struct heard *h, const char *more, const struct collector_verdicts *verdicts)
{
	struct clock clock = {.manual = true, .manual_wall_us = SPEAKER_START_US};
	const struct collector_arguments options = {.no_sockets = true};
	struct collector_config config = {0};
	char path[HEARD_PATH + 8], error[ERROR_TEXT] = "";
	struct import_counts counts;
	struct collector *c;
	uint64_t other;

	snprintf(path, sizeof(path), "%s.conf", h->store);
	write_config(h, path, more);
	ck_assert_msg(collector_config_load(path, &config, error, sizeof(error)) == 0, "%s", error);
	ck_assert_msg(collector_open(&c, &config, &options, &clock, error, sizeof(error)) == 0, "%s", error);
	collector_set_verdicts(c, verdicts);
	ck_assert_msg(collector_import(c, &clock, h->capture, &counts, &other, error, sizeof(error)) == 0, "%s", error);
	collector_close(c);
	collector_config_free(&config);
}

/* ---- the reports ---- */

static json_t *
ask(const struct heard *h, const char *name, enum report_layer layer)
{
	struct report_options options = report_default_options();

	options.all = true;
	options.layer = layer;
	return answer_json(h->store, name, &options, SPEAKER_START_US + HOUR_US);
}

static void
make(struct heard *h, const struct dialect *d)
{
	struct capture *capture;

	*h = (struct heard){.dir = "/tmp/ease-dialect-XXXXXX"};
	log_set_most(LOG_LEVEL_ERROR);
	ck_assert_ptr_nonnull(mkdtemp(h->dir));
	snprintf(h->capture, sizeof(h->capture), "%s/capture", h->dir);
	snprintf(h->store, sizeof(h->store), "%s/ease.db", h->dir);
	capture = capture_begin(h->capture);
	capture_row(capture, d, CAPTURE_PORT, &h->passed);
	capture_end(capture);
}

void
heard_alarms(struct heard *h, const struct dialect *d, const char *rule, const struct collector_verdicts *verdicts)
{
	char option[128];

	make(h, d);
	snprintf(option, sizeof(option), "alarms = {\"%s\"}\n", rule);
	import(h, option, verdicts);
	h->events = ask(h, "events", REPORT_LAYER_IP);
}

void
heard_run(struct heard *h, const struct dialect *d)
{
	make(h, d);
	import(h, "", &(struct collector_verdicts){.arg = NULL});
	h->talkers = ask(h, "talkers", d->truth.layer ? d->truth.layer : REPORT_LAYER_IP);
	h->load = ask(h, "load", REPORT_LAYER_IP);
	h->loss = ask(h, "loss", REPORT_LAYER_IP);
	h->agents = ask(h, "agents", REPORT_LAYER_IP);
	h->audit = ask(h, "audit", REPORT_LAYER_IP);
}

void
heard_end(struct heard *h)
{
	json_t *const answers[] = {h->talkers, h->load, h->loss, h->agents, h->audit, h->events};
	DIR *dir = opendir(h->dir);
	struct dirent *entry;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		json_decref(answers[i]);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(h->dir);
}

/* ---- what they say ---- */

static const json_t *
at(const json_t *object, const char *path)
{
	char copy[128], *rest = copy, *step;

	snprintf(copy, sizeof(copy), "%s", path);
	while (object && (step = strsep(&rest, ".")) != NULL)
		object = json_is_array(object) ? json_array_get(object, strtoul(step, NULL, 10))
					       : json_object_get(object, step);
	return object;
}

double
heard_number(const json_t *object, const char *path)
{
	const json_t *number = at(object, path);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

const char *
heard_text(const json_t *object, const char *path)
{
	const char *text = json_string_value(at(object, path));

	return text ? text : "";
}

size_t
heard_rows(const json_t *report)
{
	return json_array_size(json_object_get(report, "rows"));
}

double
heard_place(const struct heard *h, const char *place)
{
	const json_t *places = json_object_get(h->loss, "places");
	double sum = 0;

	for (size_t i = 0; i < json_array_size(places); i++)
		if (strcmp(heard_text(json_array_get(places, i), "place"), place) == 0)
			sum += heard_number(json_array_get(places, i), "count");
	return sum;
}

double
heard_stats(const struct heard *h, size_t n, const char *const *names)
{
	const json_t *counters = json_object_get(h->loss, "collector");
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += json_number_value(json_object_get(counters, names[i]));
	return sum;
}
