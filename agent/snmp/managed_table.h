/*
 * Tables whose rows managers create, fill, activate and delete by SET: the control tables of RMON and
 * of bridges. One state machine serves EntryStatus (RFC 2819 section 3.2), RowStatus (RFC 2579) and
 * dot1dStaticStatus (RFC 4188). The table's declaration drives it (mib_table.h, `creates`): a setting
 * is written to the member of its column.
 *
 * Used only by the thread that owns the settings. Nothing here blocks. A request is carried out as a
 * whole or not at all, and a commit can be undone until the next one.
 */
#ifndef EASE_AGENT_SNMP_MANAGED_TABLE_H
#define EASE_AGENT_SNMP_MANAGED_TABLE_H

#include "agent/snmp/mib_table.h"

struct managed_table;

enum managed_status_kind { MANAGED_ENTRY_STATUS, MANAGED_ROW_STATUS, MANAGED_STATIC_STATUS };

/* Values of a row's status member (uint8_t), as a GET returns them. */
enum { ENTRY_VALID = 1, ENTRY_CREATE_REQUEST = 2, ENTRY_UNDER_CREATION = 3, ENTRY_INVALID = 4 };
enum {
	ROW_ACTIVE = 1,
	ROW_NOT_IN_SERVICE = 2,
	ROW_NOT_READY = 3,
	ROW_CREATE_AND_GO = 4,
	ROW_CREATE_AND_WAIT = 5,
	ROW_DESTROY = 6,
};

/* dot1dStaticStatus: how long a row exists. Its columns may be changed in that time. */
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
	size_t max_rows;	/* a SET that would create one more gets resourceUnavailable */
	/* Writes the defaults of the columns to a zeroed row. */
	void (*defaults)(void *ctx, void *row);
	/* Whether the row may become active: 0, or -EBUSY (inconsistentValue). */
	int (*ready)(void *ctx, const void *row);
	/* Tells the log why ready refused a row that a manager wanted to be active. NULL: nothing. */
	void (*explain)(void *ctx, const void *row);
	/* Whether the row is kept over a restart. NULL: all are, but those of deleteOnReset. */
	bool (*kept)(const void *row);
	/* Applies these n rows to the device. On failure (-errno) the device is unchanged, and the
	 * request fails. NULL: the device need not know the rows. */
	int (*apply)(void *ctx, const void *rows, size_t n);
};

/* table, type and ctx are borrowed. */
int managed_create(const struct mib_table *table, const struct managed_type *type, void *ctx,
    struct managed_table **managed);
void managed_destroy(struct managed_table *managed); /* NULL allowed */
const struct mib_table *managed_declaration(const struct managed_table *managed);

/* Carries out the sets that belong to this table; see struct mib_setter for the phases and errors. On
 * an error *failed is the position in sets of the one that caused it. */
int managed_apply(struct managed_table *managed, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed);

/* The rows as an array of the table's row_size, sorted by index, valid until the next change. The
 * owner may write members that managers cannot set. */
size_t managed_rows(struct managed_table *managed, void **first);
/* The row with this index, or NULL. */
void *managed_find(struct managed_table *managed, const uint32_t *index, size_t n);
/* True if the row is in effect: valid, active, or static. */
bool managed_is_active(const struct managed_table *managed, const void *row);
/* True if the row is kept over a restart. */
bool managed_is_kept(const struct managed_table *managed, const void *row);

/* Creates the one row that sets describe, with its stored status: restores a row after a restart.
 * -EBUSY: it exists already, or cannot become active. */
int managed_make(struct managed_table *managed, const struct mib_set *sets, size_t n, size_t *failed);

/* Add and remove a row for the agent itself, without a SET. -ENOSPC, -EEXIST, -ENOMEM. */
int managed_add(struct managed_table *managed, const void *row);
void managed_remove(struct managed_table *managed, const void *row);

#endif
