#include "collector/report/samples.h"

#include "collector/query/query_private.h"
#include "collector/report/pcapng.h"
#include "collector/report/result.h"
#include "collector/store/schema.h"
#include "common/text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

const struct report samples_report = {"samples", "the samples that are kept, as JSON lines",
    REPORT_TAKES_FRAMES | REPORT_TAKES_TOP, NULL};

enum { SQL_TEXT = 1024 };

enum kind { NUMBER, IP, MAC, ETHERTYPE };

/* Columns behind those that name time and place; what a sample does not have is no member. */
static const struct {
	const char *name, *sql;
	enum kind kind;
} fields[] = {
    {"rate", "mean_skip", NUMBER}, /* 1 in so many, as the agent says */
    {"stands_for", "nullif(stands_for, 1)", NUMBER}, /* samples that had no row of their own (sample_rows) */
    {"octets", "frame_octets", NUMBER},
    {"src_mac", "src_mac", MAC},
    {"dst_mac", "dst_mac", MAC},
    {"vlan", "vlan", NUMBER},
    {"ethertype", "ethertype", ETHERTYPE},
    {"src", "src_ip", IP},
    {"dst", "dst_ip", IP},
    {"protocol", "ip_proto", NUMBER},
    {"src_port", "iif(" STORE_IS_ICMP ", NULL, src_port)", NUMBER},
    {"dst_port", "iif(" STORE_IS_ICMP ", NULL, dst_port)", NUMBER},
    {"icmp_type", "iif(" STORE_IS_ICMP ", dst_port >> 8, NULL)", NUMBER},
    {"icmp_code", "iif(" STORE_IS_ICMP ", dst_port & 255, NULL)", NUMBER},
    {"inner_src", "inner_src_ip", IP},
    {"inner_dst", "inner_dst_ip", IP},
    {"vni", "vni", NUMBER},
    {"src_as", "src_as", NUMBER}, /* as a router states them */
    {"dst_as", "dst_as", NUMBER},
    {"queue", "queue", NUMBER},
    {"queue_depth_octets", "depth_octets", NUMBER},
    {"delay_ns", "delay_ns", NUMBER},
};

enum { AGENT, IF_INDEX, TIME, DIRECTION, INPUT_IF, OUTPUT_IF, FIRST_FIELD };

static sqlite3_stmt *
prepare_select(struct query *query, const char *columns, const char *which)
{
	char sql[SQL_TEXT + 1024], wanted[512] = "1";

	if (query->filter)
		query_write_wanted(query, wanted, sizeof(wanted));
	snprintf(sql, sizeof(sql), "SELECT agent, if_index, time_us, direction, %s FROM sample WHERE time_us >= :from AND"
	    " time_us < :to AND %s%s ORDER BY time_us", columns, wanted, which);
	return query_prepare(query, sql);
}

/* ---- each of them ---- */

typedef int sample_fn(void *arg, sqlite3_stmt *stmt, const struct query_port *port);

/* Returns how many of them were given to take, or -errno. */
static int64_t
each_sample(struct query *query, sqlite3_stmt *stmt, uint64_t most, sample_fn *take, void *arg)
{
	int err = stmt ? 0 : -EIO;
	uint64_t n = 0;

	while (err == 0 && n < most && (err = query_step(query, stmt)) == 1) {
		const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, AGENT),
		    (uint64_t)sqlite3_column_int64(stmt, IF_INDEX));

		err = 0;
		if (port && port->chosen) {
			err = take(arg, stmt, port);
			n++;
		}
	}
	sqlite3_finalize(stmt);
	return err < 0 ? err : (int64_t)n;
}

/* ---- as lines ---- */

static json_t *
samples_value_of(sqlite3_stmt *stmt, int column, enum kind kind)
{
	char text[FRAME_IP_TEXT];

	if (kind == NUMBER)
		return json_integer(sqlite3_column_int64(stmt, column));
	if (kind == ETHERTYPE)
		return json_sprintf("0x%04x", (unsigned)sqlite3_column_int(stmt, column));
	result_format_address((size_t)sqlite3_column_bytes(stmt, column), sqlite3_column_blob(stmt, column), text);
	return json_string(text);
}

static json_t *
samples_line_of(sqlite3_stmt *stmt, const struct query_port *port)
{
	static const char *const directions[] = {[EASE_IN] = "ingress", [EASE_OUT] = "egress"};
	int direction = sqlite3_column_int(stmt, DIRECTION);
	char time[CLOCK_RFC3339_MAX];
	json_t *line;

	clock_format_rfc3339_us(query_u64(stmt, TIME), time, sizeof(time));
	line = json_pack("{s:s, s:s, s:s, s:I, s:s}", "time", time, "agent", port->agent->name, "port", port->name, "if_index",
	    (json_int_t)port->if_index, "direction", direction == EASE_IN || direction == EASE_OUT ? directions[direction] : "");
	for (int column = INPUT_IF; column <= OUTPUT_IF; column++)
		if (sqlite3_column_type(stmt, column) != SQLITE_NULL)
			json_object_set_new(line, column == INPUT_IF ? "input_if" : "output_if", samples_value_of(stmt, column, NUMBER));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (sqlite3_column_type(stmt, FIRST_FIELD + (int)i) != SQLITE_NULL)
			json_object_set_new(line, fields[i].name, samples_value_of(stmt, FIRST_FIELD + (int)i, fields[i].kind));
	return line;
}

static int
write_line(void *out, sqlite3_stmt *stmt, const struct query_port *port)
{
	json_t *line = samples_line_of(stmt, port);
	int err = line && json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0 && putc('\n', out) != EOF ? 0 : -EIO;

	json_decref(line);
	return err;
}

int
samples_as_lines(struct query *query, uint64_t most, FILE *out)
{
	char columns[SQL_TEXT] = "nullif(input_if, 0), nullif(output_if, 0)";
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		text_add(columns, sizeof(columns), ", %s", fields[i].sql);
	n = each_sample(query, prepare_select(query, columns, ""), most, write_line, out);
	return n < 0 ? (int)n : 0;
}

/* ---- as pcapng ---- */

enum { RATE = DIRECTION + 1, STANDS_FOR, OCTETS, HEADER, IS_FRAME, COMMENT_TEXT = 96, ETHERNET_OCTETS = 18 };

/* A packet without its frame is of another link type, so it has an interface of its own. */
struct interface {
	const struct query_port *port;
	bool is_frame;
	uint32_t number;
};

struct pcapng {
	FILE *out;
	void *interfaces; /* tsearch(3) */
	uint32_t n_interfaces;
};

static int
compare_interfaces(const void *left, const void *right)
{
	const struct interface *a = left, *b = right;

	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return a->is_frame - b->is_frame;
}

/* NULL: no memory. */
static const struct interface *
samples_interface_of(struct pcapng *p, const struct query_port *port, bool is_frame)
{
	struct interface wanted = {port, is_frame, p->n_interfaces}, **found, *added;
	char name[512];

	found = tfind(&wanted, &p->interfaces, compare_interfaces);
	if (found)
		return *found;
	added = malloc(sizeof(*added));
	if (added)
		*added = wanted;
	if (!added || !tsearch(added, &p->interfaces, compare_interfaces)) {
		free(added);
		return NULL;
	}
	if (p->n_interfaces++ == 0)
		pcapng_begin(p->out, "easeswitch " PACKAGE_VERSION);
	snprintf(name, sizeof(name), "%s %s", port->agent->name, port->name);
	pcapng_interface(p->out, is_frame ? PCAPNG_ETHERNET : PCAPNG_RAW_IP, 0, name);
	return added;
}

static int
samples_write_packet(void *arg, sqlite3_stmt *stmt, const struct query_port *port)
{
	struct pcapng *p = arg;
	bool is_frame = sqlite3_column_int(stmt, IS_FRAME);
	const struct interface *interface = samples_interface_of(p, port, is_frame);
	uint32_t octets = (uint32_t)sqlite3_column_int64(stmt, OCTETS);
	uint32_t around = is_frame ? FRAME_FCS_OCTETS : ETHERNET_OCTETS;
	char comment[COMMENT_TEXT];
	struct pcapng_packet packet = {
	    .time_us = query_u64(stmt, TIME),
	    .n = (size_t)sqlite3_column_bytes(stmt, HEADER),
	    .octets = sqlite3_column_blob(stmt, HEADER),
	    .direction = sqlite3_column_int(stmt, DIRECTION) == EASE_OUT ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
	    .comment = comment,
	};

	if (!interface)
		return -ENOMEM;
	packet.interface = interface->number;
	packet.wire_octets = octets > around + packet.n ? octets - around : (uint32_t)packet.n;
	snprintf(comment, sizeof(comment), "1 in %" PRId64, (int64_t)sqlite3_column_int64(stmt, RATE));
	if (sqlite3_column_int64(stmt, STANDS_FOR) > 1)
		text_add(comment, sizeof(comment), ", stands for %" PRId64 " samples",
		    (int64_t)sqlite3_column_int64(stmt, STANDS_FOR));
	pcapng_packet(p->out, &packet);
	return ferror(p->out) ? -EIO : 0;
}

int
samples_as_pcapng(struct query *query, uint64_t most, FILE *out)
{
	struct pcapng p = {.out = out};
	int64_t n;

	n = each_sample(query, prepare_select(query, "mean_skip, stands_for, frame_octets, header, src_mac IS NOT NULL",
		" AND header IS NOT NULL"), most, samples_write_packet, &p);
	tdestroy(p.interfaces, free);
	if (n == 0)
		return query_fail(query, -ENOENT, "no sample of this range has its header: easecapd keeps them with"
		    " headers in the option keep, in its own store");
	return n < 0 ? (int)n : 0;
}
