/*
 * The table engine: a MIB table is data (struct mib_table: entry OID, typed index, ordered columns,
 * a function that gives the sorted rows of a snapshot) and this one engine serves GET, GETNEXT and
 * the phases of SET for all of them, lists them, and refuses wrong declarations at start.
 *
 * Used by mibs/ (which declares tables), by mib_register.c (which binds them to Net-SNMP) and by
 * tests. It knows neither Net-SNMP nor the type of the rows. Nothing here blocks, allocates or keeps
 * state; every answer comes from the snapshot in the caller's struct mib_context.
 *
 * A group of scalars is a table with one row (rows gives 1, no index): its instance is 0.
 */
#ifndef EASE_AGENT_SNMP_MIB_TABLE_H
#define EASE_AGENT_SNMP_MIB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	MIB_OID_MAX = 128,   /* RFC 2578 section 3.5 */
	MIB_INDEX_PARTS = 3, /* the most of any table: ifIndex, MacAddress, kind */
	MIB_INDEX_ARCS = 8,  /* the longest index: the same */
	MIB_OCTETS_MAX = 1376, /* longest octet string served: a PortList with SONiC's PortChannel9999 */
};

enum { MIB_OID_ARCS = 24 }; /* the longest object instance served has 21 */
struct mib_oid {
	size_t n;
	uint32_t arcs[MIB_OID_ARCS];
};

/* An octet string in a row that is not text: an address, a port list. */
enum { MIB_BINARY_MAX = 512 }; /* a PortList of as many ports as there can be; the longest string that can be set */
struct mib_binary {
	uint16_t len;
	uint8_t octets[MIB_BINARY_MAX];
};

#define MIB_OID(...)                                                                               \
	{                                                                                          \
		.n = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), .arcs = { __VA_ARGS__ } \
	}

/* -1, 0, 1: lexicographic order of OIDs (RFC 2578). */
int mib_oid_compare(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b);

/* SNMPv2 types that values have on the wire. */
enum mib_syntax {
	MIB_INTEGER, /* Integer32 and enumerations */
	MIB_STRING,  /* OCTET STRING */
	MIB_OBJECT_ID,
	MIB_COUNTER32, /* the low 32 bits of a 64-bit total */
	MIB_GAUGE32,   /* also Unsigned32 */
	MIB_TIMETICKS,
	MIB_COUNTER64,
};
const char *mib_syntax_name(enum mib_syntax syntax);

struct mib_value {
	enum mib_syntax syntax;
	int64_t integer;  /* MIB_INTEGER */
	uint64_t number;  /* counters, gauges, ticks; 32-bit kinds are cut by the engine */
	size_t len;	  /* octets of MIB_STRING, arcs of MIB_OBJECT_ID */
	uint8_t octets[MIB_OCTETS_MAX];
	uint32_t arcs[MIB_OID_ARCS + MIB_INDEX_ARCS];
};

void mib_put_octets(struct mib_value *value, const void *octets, size_t len); /* cut at the limit */
void mib_put_text(struct mib_value *value, const char *text);

/* What a request is answered from. */
struct mib_context {
	const void *snapshot;	 /* held by the caller; rows() knows its type */
	uint64_t mono_us;	 /* the agent's monotonic time now */
	int64_t uptime_start_us; /* the agent's monotonic time when the master's sysUpTime was 0 */
	bool whole_counters; /* Counter32 is not cut to 32 bits: for alarms, which measure growth */
};

/* The master's sysUpTime when an event happened at stamp_us (agent's monotonic time), as a TimeStamp;
 * 0 if stamp_us is 0 or before the master's start (RFC 2579). Every reading gives the same value. */
uint32_t mib_time_stamp(const struct mib_context *c, uint64_t stamp_us);

struct mib_column;
struct mib_cell {
	const struct mib_context *context;
	const struct mib_column *column;
	const void *row;
};

/* One setting that a manager requested, validated against its column, for the owner of the device.
 * kind is the column's set_kind (enum mib_set_kind of mibs/mib_set.h). */
struct mib_table;
struct mib_set {
	unsigned kind;
	uint32_t if_index; /* first arc of the row's index; 0 for a scalar */
	int64_t number;	   /* integers, gauges; TruthValue as 0 or 1 */
	size_t text_len;
	char text[MIB_BINARY_MAX + 1]; /* NUL-terminated; binary strings too */
	struct mib_oid oid;	       /* an OBJECT IDENTIFIER */
	/* The cell, for tables whose rows managers create. */
	const struct mib_table *table;
	const struct mib_column *column;
	size_t n_index;
	uint32_t index[MIB_INDEX_ARCS];
};

struct mib_column {
	uint32_t subid;
	const char *name;
	enum mib_syntax syntax;
	/* Where the value comes from: an unsigned member of the row (MIB_AT), or this function, which
	 * writes it to value (MIB_FN, MIB_FIGURE) and returns -ENOENT if the cell does not exist. */
	size_t offset, size;
	int (*get)(const struct mib_cell *cell, struct mib_value *value);
	unsigned arg; /* for get: which of several values */
	/* For a column that a manager may change. */
	unsigned set_kind;  /* 0: read-only */
	int64_t min, max;   /* of an integer or gauge; of a string's octets */
	bool truth; /* TruthValue and its like: 1 or 2 on the wire, true or false in the row */
	bool stamp; /* a TimeStamp: the member is an uint64_t of the agent's monotonic time */
	bool binary; /* a MIB_STRING that is not text: the member is a struct mib_binary */
};

#define MIB_AT(type, member)                                                                       \
	.offset = offsetof(type, member), .size = sizeof(((const type *)0)->member)
#define MIB_STAMP(type, member) MIB_AT(type, member), .stamp = true
#define MIB_FN(fn)	    .get = (fn)
#define MIB_FIGURE(fn, which) .get = (fn), .arg = (which)
#define MIB_WRITE(kind, least, most) .set_kind = (kind), .min = (least), .max = (most)

enum mib_index_kind {
	MIB_INDEX_NONE,
	MIB_INDEX_U32,	/* one arc from a uint32_t member */
	MIB_INDEX_U16,	/* one arc from a uint16_t member */
	MIB_INDEX_ZERO,	/* one arc, which is 0 in every row */
	MIB_INDEX_MAC,	/* six arcs, no length, from a uint8_t[6] member */
};
struct mib_index {
	enum mib_index_kind kind;
	size_t offset;
	uint32_t min, max; /* of the arcs, in rows that managers create */
};
#define MIB_INDEX(k, type, member) {.kind = (k), .offset = offsetof(type, member)}
#define MIB_INDEX_FROM(k, type, member, least, most)                                               \
	{.kind = (k), .offset = offsetof(type, member), .min = (least), .max = (most)}

/* Tables that somebody else at the master may serve better. They are registered as one, at the root that such a program
 * registers, and with a priority behind any other's (mib_register.h): whoever is there as well is asked instead. */
struct mib_region {
	const char *name;
	struct mib_oid root;
};

struct mib_table {
	const char *name;
	const struct mib_region *region; /* NULL: none. Tables of one follow each other in a list of tables, in order of OIDs */
	struct mib_oid entry; /* xxxEntry; for scalars the group, so that entry.subid.0 is an object */
	bool scalars;
	bool creates; /* a SET may name rows that do not exist: see managed_table.h */
	/* The index begins with a TimeFilter (RFC 4502): the row exists at every time mark up to the
	 * TimeStamp of its last change, which is the uint64_t of monotonic time at change_offset. GET answers
	 * each of these marks, GETNEXT only the one that is asked, else 0. */
	bool time_filter;
	size_t change_offset;
	struct mib_index index[MIB_INDEX_PARTS];
	const struct mib_column *columns; /* subid ascending, accessible ones only */
	size_t n_columns;
	size_t row_size;
	bool by_pointer; /* the array is one of pointers to rows */
	/* Gives a snapshot's rows as an array of row_size, sorted by index, and returns their number: 0
	 * if the device does not have what the table shows. O(1) or O(log rows). */
	size_t (*rows)(const struct mib_context *context, const void **first);
	bool (*has_row)(const void *row); /* false: the row does not exist; NULL: all rows exist */
};

/* Initializers of struct mib_table: its columns, and its rows of this type from this function. */
#define MIB_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof((list)[0])
#define MIB_ROWS(type, function) .row_size = sizeof(type), .rows = (function)
#define MIB_ROWS_BY_POINTER(function) MIB_ROWS(const void *, function), .by_pointer = true

/* Refuses a wrong declaration: columns out of order or twice, a missing getter, an index of a scalar,
 * … Returns -EINVAL, with the reason in why (static text). */
int mib_table_check(const struct mib_table *table, const char **why);

enum mib_answer {
	MIB_FOUND,
	MIB_NO_OBJECT,	 /* no such column */
	MIB_NO_INSTANCE, /* no such row, or the cell does not exist on this device */
	MIB_END,	 /* GETNEXT: nothing follows in this table */
};

/* GET: the value of this very OID. O(log rows). */
enum mib_answer mib_get(const struct mib_table *table, const struct mib_context *context,
    const uint32_t *oid, size_t n, struct mib_value *value);

/* GETNEXT: the first cell whose name is greater than oid, which may be any OID: shorter or longer,
 * before or behind the table. next has room for MIB_OID_MAX arcs. O(log rows), plus absent cells. */
enum mib_answer mib_get_next(const struct mib_table *table, const struct mib_context *context,
    const uint32_t *oid, size_t n, uint32_t *next, size_t *n_next, struct mib_value *value);

/* Converts a row's index to arcs and returns their number; and sets the index of a new row from arcs. */
size_t mib_row_index(const struct mib_table *table, const void *row, uint32_t *arcs);
size_t mib_row_set_index(const struct mib_table *table, void *row, const uint32_t *arcs);
/* Reads the member of a column as its value on the wire; and writes a setting to that member. The
 * column must have a member. */
void mib_row_get(const struct mib_column *column, const void *row, struct mib_value *value);
void mib_row_set(void *row, const struct mib_set *set);

/* error-status of RFC 3416. */
enum mib_error {
	MIB_NO_ERROR = 0,
	MIB_GEN_ERR = 5,
	MIB_WRONG_TYPE = 7,
	MIB_WRONG_LENGTH = 8,
	MIB_WRONG_VALUE = 10,
	MIB_NO_CREATION = 11,
	MIB_INCONSISTENT_VALUE = 12,
	MIB_RESOURCE_UNAVAILABLE = 13,
	MIB_COMMIT_FAILED = 14,
	MIB_UNDO_FAILED = 15,
	MIB_NOT_WRITABLE = 17,
	MIB_INCONSISTENT_NAME = 18,
};

/* Checks one varbind of a SET without changing anything. On MIB_NO_ERROR set holds the setting and old
 * the value for undo. value->syntax is the type in the request; a wrong one is refused. */
enum mib_error mib_check_set(const struct mib_table *table, const struct mib_context *context,
    const uint32_t *oid, size_t n, const struct mib_value *value, struct mib_set *set,
    struct mib_set *old);

/* Carries settings out. MIB_PHASE_TEST checks whether all would succeed and changes nothing.
 * MIB_PHASE_UNDO undoes the latest commit; sets then holds the old values, latest first. On an error
 * *failed is the position of the setting that caused it (0 if unknown). If a commit fails, the
 * settings before that one have been made, and an undo of them follows at once. Returns 0, or
 *   -EINVAL wrongValue, -EOPNOTSUPP notWritable, -ENODEV noCreation, -EBUSY inconsistentValue,
 *   -ENOENT inconsistentName, others resourceUnavailable (after the test: commitFailed).
 * May wait, at most about 500 ms. */
enum mib_phase { MIB_PHASE_TEST, MIB_PHASE_COMMIT, MIB_PHASE_UNDO };
struct mib_setter {
	void *ctx;
	int (*apply)(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase,
	    size_t *failed);
};

/* The settings of one SET PDU through its phases (RFC 3416 section 4.2.5), for any number of tables:
 * add each varbind, then test, then commit. Undo restores what commit has changed. Nothing changes
 * before commit. */
enum { MIB_SETS_MAX = 256 }; /* settings in one PDU: all of 48 ports; a larger PDU is refused */
struct mib_transaction {
	size_t n;
	bool tested, committed;
	enum mib_error test_error;
	size_t to_blame; /* position of the setting that the test refused */
	struct mib_set sets[MIB_SETS_MAX];
	struct mib_set olds[MIB_SETS_MAX];
};
void mib_transaction_begin(struct mib_transaction *t);
enum mib_error mib_transaction_add(struct mib_transaction *t, const struct mib_table *table,
    const struct mib_context *context, const uint32_t *oid, size_t n,
    const struct mib_value *value);
/* True if the test refused the varbind with this name. */
bool mib_transaction_blames(const struct mib_transaction *t, const uint32_t *oid, size_t n);
/* Each of these three does its work once, however often it is called for the same PDU. A test is
 * repeated if varbinds were added since. */
enum mib_error mib_transaction_test(struct mib_transaction *t, const struct mib_setter *setter);
enum mib_error mib_transaction_commit(struct mib_transaction *t, const struct mib_setter *setter);
enum mib_error mib_transaction_undo(struct mib_transaction *t, const struct mib_setter *setter);

/* Prints the objects of the tables, one on a line: name, numeric OID, syntax, access and, if it is
 * writable, its range (for a string, of its length in octets), separated by tabs. --list-objects shows
 * this, and a test compares it with the MIB module. */
void mib_list_tables(const struct mib_table *const *tables, size_t n, FILE *out);

/* A MIB module that the tables belong to, for sysORTable (RFC 3418). */
struct mib_module {
	struct mib_oid identity; /* its MODULE-IDENTITY, or its root */
	const char *descr;
};

/* Provides snapshots. hold takes a reference to the newest one (NULL: there is none yet), and release
 * returns it. Both are called on the SNMP thread only and must not wait for a device. */
struct mib_snapshot_source {
	void *ctx;
	const void *(*hold)(void *ctx);
	void (*release)(void *ctx, const void *snapshot);
};

#endif
