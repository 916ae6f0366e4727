/*
 * A store for tests of reports, filled row by row with SQL, and a report that is run over it. Sums are written as
 * rows of tables of the test's own (report_store.c), of which a report gets parts. Times count from REPORT_STORE_T0,
 * the start of a window.
 */
#ifndef EASE_TESTS_REPORT_STORE_H
#define EASE_TESTS_REPORT_STORE_H

#include "collector/query/query.h"
#include "collector/render/render.h"
#include "collector/report/report.h"

#include <jansson.h>
#include <sqlite3.h>

#define REPORT_STORE_T0 1700000040000000ull /* 2023-11-14T22:14:00Z */
#define SECOND		1000000ull
#define MINUTE		(60 * SECOND)

struct report_store {
	char path[64];	/* with sums as rows */
	char newest[80]; /* what report_store_renew makes of it */
	sqlite3 *db;
	const char *naming; /* rows of device names, each ended by a newline; NULL: none */
};

void report_store_make(struct report_store *store);
void report_store_remove(struct report_store *store);

/* Makes a copy with the sums in parts, as easecapd would; each report runs on a new one. With db closed
 * there is none: the file itself is read. */
void report_store_renew(struct report_store *store);

/* Runs statements, the second by printf; each fails the test on an error. */
void report_store_sql_text(struct report_store *store, const char *sql);
void report_store_sql(struct report_store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An agent (id n, address 192.0.2.n) heard from T0 to T0 + last_s, and a port of it, up. */
void report_store_agent(struct report_store *store, int agent, int last_s);
void report_store_port(struct report_store *store, int agent, int if_index, const char *name,
    int edge);

/* The window `minute` of a port, received direction: its totals. */
void report_store_window(struct report_store *store, int minute, int agent, int if_index,
    int pkts, int octets);

/* n samples of weight w and length b in that window, which report_store_window has made, of one pair: adds to the window's
 * sums, the key's, and the samples expected and received; of STORE_KEY_IP_PAIR the key alone, as they are those of the MAC
 * pair. Addresses as hex. */
void report_store_samples(struct report_store *store, int minute, int agent, int if_index, int n,
    int w, int b, int kind, const char *key1, const char *key2);

/* All windows' range, JSON. The options are changed by the caller before. */
struct report_options report_store_options(void);
json_t *report_store_json(struct report_store *store, const char *report,
    const struct report_options *options);

/* The filter of a text, valid until the next call; fails the test if it is refused. */
const struct filter *report_store_filter(const char *text);

/* Any renderer; to be freed. now is T0 + now_s. */
char *report_store_render(struct report_store *store, const char *report,
    const struct report_options *options, render_fn *render, int now_s);

/* object.path.to.member, members by name, elements by number; fails the test if it is not there. */
const json_t *report_json_at(const json_t *object, const char *path);
double report_json_number(const json_t *object, const char *path);
const char *report_json_text(const json_t *object, const char *path);

#endif
