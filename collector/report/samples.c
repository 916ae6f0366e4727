#include "collector/report/samples.h"

#include "collector/query/query_private.h"
#include "collector/report/result.h"
#include "collector/store/schema.h"
#include "common/text.h"

#include <errno.h>
#include <jansson.h>
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
};

enum { AGENT, IF_INDEX, TIME, DIRECTION, INPUT_IF, OUTPUT_IF, FIRST_FIELD };

static sqlite3_stmt *
prepare(struct query *query)
{
	char sql[SQL_TEXT + 1024], wanted[512] = "1";

	if (query->filter)
		query_write_wanted(query, wanted, sizeof(wanted));
	snprintf(sql, sizeof(sql), "SELECT agent, if_index, time_us, direction, nullif(input_if, 0), nullif(output_if, 0)");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		text_add(sql, sizeof(sql), ", %s", fields[i].sql);
	text_add(sql, sizeof(sql), " FROM sample WHERE time_us >= :from AND time_us < :to AND %s ORDER BY time_us", wanted);
	return query_prepare(query, sql);
}

static json_t *
value_of(sqlite3_stmt *stmt, int column, enum kind kind)
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
line_of(sqlite3_stmt *stmt, const struct query_port *port)
{
	static const char *const directions[] = {[EASE_IN] = "ingress", [EASE_OUT] = "egress"};
	int direction = sqlite3_column_int(stmt, DIRECTION);
	char time[CLOCK_RFC3339_MAX];
	json_t *line;

	clock_format_rfc3339(query_u64(stmt, TIME), time, sizeof(time));
	line = json_pack("{s:s, s:s, s:s, s:I, s:s}", "time", time, "agent", port->agent->name, "port", port->name, "if_index",
	    (json_int_t)port->if_index, "direction", direction == EASE_IN || direction == EASE_OUT ? directions[direction] : "");
	for (int column = INPUT_IF; column <= OUTPUT_IF; column++)
		if (sqlite3_column_type(stmt, column) != SQLITE_NULL)
			json_object_set_new(line, column == INPUT_IF ? "input_if" : "output_if", value_of(stmt, column, NUMBER));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (sqlite3_column_type(stmt, FIRST_FIELD + (int)i) != SQLITE_NULL)
			json_object_set_new(line, fields[i].name, value_of(stmt, FIRST_FIELD + (int)i, fields[i].kind));
	return line;
}

static int
write_line(sqlite3_stmt *stmt, const struct query_port *port, FILE *out)
{
	json_t *line = line_of(stmt, port);
	int err = line && json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0 && putc('\n', out) != EOF ? 0 : -EIO;

	json_decref(line);
	return err;
}

int
samples_write(struct query *query, uint64_t most, FILE *out)
{
	sqlite3_stmt *stmt;
	uint64_t n = 0;
	int err;

	stmt = prepare(query);
	err = stmt ? 0 : -EIO;
	while (err == 0 && n < most && (err = query_step(query, stmt)) == 1) {
		const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, AGENT),
		    (uint64_t)sqlite3_column_int64(stmt, IF_INDEX));

		err = 0;
		if (port && port->chosen) {
			err = write_line(stmt, port, out);
			n++;
		}
	}
	sqlite3_finalize(stmt);
	return err;
}
