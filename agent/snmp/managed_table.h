/*
 * Rows that managers make: the control tables of RMON and of bridges, whose rows are created,
 * completed, put to work and deleted by SET. One state machine for EntryStatus (RFC 2819 section
 * 3.2), RowStatus (RFC 2579) and dot1dStaticStatus (RFC 4188), driven by the table's declaration
 * (mib_table.h, `creates`): a setting goes into the member of its column.
 *
 * Belongs to the thread that owns the settings. Nothing here blocks. All of one request or none; a
 * commit can be taken back until the next one.
 */
#ifndef EASE_AGENT_SNMP_MANAGED_TABLE_H
#define EASE_AGENT_SNMP_MANAGED_TABLE_H

#include "agent/snmp/mib_table.h"

struct managed_table;

enum managed_status_kind { MANAGED_ENTRY_STATUS, MANAGED_ROW_STATUS, MANAGED_STATIC_STATUS };

/* What a row's status member (uint8_t) holds and a GET returns. */
enum { ENTRY_VALID = 1, ENTRY_CREATE_REQUEST = 2, ENTRY_UNDER_CREATION = 3, ENTRY_INVALID = 4 };
enum {
	ROW_ACTIVE = 1,
	ROW_NOT_IN_SERVICE = 2,
	ROW_NOT_READY = 3,
	ROW_CREATE_AND_GO = 4,
	ROW_CREATE_AND_WAIT = 5,
	ROW_DESTROY = 6,
};

/* dot1dStaticStatus: how long a row lives. Its columns may change while it does. */
enum {
	STATIC_OTHER = 1,
	STATIC_INVALID = 2,
	STATIC_PERMANENT = 3,
	STATIC_DELETE_ON_RESET = 4, /* not kept over a restart */
};

struct managed_type {
	enum managed_status_kind kind;
	uint32_t status_column; /* its subid */
	size_t status_offset;	/* of the uint8_t in the row */
	size_t max_rows;	/* one more is refused: resourceUnavailable */
	/* Fills a zeroed row with the defaults of its columns. */
	void (*defaults)(void *ctx, void *row);
	/* Whether the row may be put to work: 0, or -EBUSY (inconsistentValue). */
	int (*ready)(void *ctx, const void *row);
	/* Makes these n rows so in the device; on failure (-errno) nothing has changed there, and the
	 * request fails. NULL: there is nothing to do. */
	int (*apply)(void *ctx, const void *rows, size_t n);
};

/* table, type and ctx are borrowed. */
int managed_create(const struct mib_table *table, const struct managed_type *type, void *ctx,
    struct managed_table **managed);
void managed_destroy(struct managed_table *managed); /* NULL allowed */
const struct mib_table *managed_declaration(const struct managed_table *managed);

/* Carries out those of the sets that are for this table; see struct mib_setter for the phases and
 * errors. On an error *failed is the position in sets of the one to blame. */
int managed_apply(struct managed_table *managed, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed);

/* The rows, sorted by index, as an array of the table's row_size; good until the next change. The
 * owner may write members that no manager sets. */
size_t managed_rows(struct managed_table *managed, void **first);
/* The row of an index or NULL. */
void *managed_find(struct managed_table *managed, const uint32_t *index, size_t n);
/* True if the row is at work: valid, active, or static. */
bool managed_is_active(const struct managed_table *managed, const void *row);
/* True if the row outlives a restart. */
bool managed_is_kept(const struct managed_table *managed, const void *row);

/* Makes the one row that sets describe, its status as kept: what a restart brings back. -EBUSY: it
 * is there, or cannot be put to work. */
int managed_make(struct managed_table *managed, const struct mib_set *sets, size_t n, size_t *failed);

/* The owner's own rows: made at start, or given up. -ENOSPC, -EEXIST, -ENOMEM. */
int managed_add(struct managed_table *managed, const void *row);
void managed_remove(struct managed_table *managed, const void *row);

#endif
