/*
 * Takes the settings of one SET PDU through its phases (mib_table.h): collects them while they are
 * checked, then tests, commits and undoes them all together.
 */
#include "agent/snmp/mib_table.h"

#include <assert.h>
#include <errno.h>

void
mib_transaction_begin(struct mib_transaction *t)
{
	t->n = 0;
	t->tested = false;
	t->committed = false;
	t->test_error = MIB_NO_ERROR;
	t->to_blame = 0;
}

enum mib_error
mib_transaction_add(struct mib_transaction *t, const struct mib_table *table,
    const struct mib_context *context, const uint32_t *oid, size_t n,
    const struct mib_value *value)
{
	enum mib_error error;

	if (t->n == MIB_SETS_MAX)
		return MIB_RESOURCE_UNAVAILABLE;
	error = mib_check_set(table, context, oid, n, value, &t->sets[t->n], &t->olds[t->n]);
	if (error)
		return error;
	t->n++;
	t->tested = false;
	return MIB_NO_ERROR;
}

static enum mib_error
test_error(int error)
{
	switch (error) {
	case 0:
		return MIB_NO_ERROR;
	case -EINVAL:
		return MIB_WRONG_VALUE;
	case -EOPNOTSUPP:
	case -EPERM: /* no value could be written (RFC 3416 section 4.2.5) */
		return MIB_NOT_WRITABLE;
	case -ENODEV:
		return MIB_NO_CREATION;
	case -EBUSY:
		return MIB_INCONSISTENT_VALUE;
	case -ENOENT:
		return MIB_INCONSISTENT_NAME;
	default:
		return MIB_RESOURCE_UNAVAILABLE;
	}
}

enum mib_error
mib_transaction_test(struct mib_transaction *t, const struct mib_setter *setter)
{
	size_t failed = 0;

	if (t->n == 0)
		return MIB_NO_ERROR;
	if (!t->tested) {
		t->tested = true;
		t->test_error = test_error(setter->apply(setter->ctx, t->sets, t->n, MIB_PHASE_TEST, &failed));
		t->to_blame = failed < t->n ? failed : 0;
	}
	return t->test_error;
}

bool
mib_transaction_blames(const struct mib_transaction *t, const uint32_t *oid, size_t n)
{
	const struct mib_set *set = &t->sets[t->to_blame];
	const struct mib_oid *entry = &set->table->entry;

	assert(t->to_blame < MIB_SETS_MAX);
	return t->test_error && n == entry->n + 1 + set->n_index &&
	    mib_oid_compare(oid, entry->n, entry->arcs, entry->n) == 0 &&
	    oid[entry->n] == set->column->subid &&
	    mib_oid_compare(oid + entry->n + 1, set->n_index, set->index, set->n_index) == 0;
}

/* Undoes the latest setting first, so that an object that was set twice gets its first value back. */
static enum mib_error
transaction_take_back(struct mib_transaction *t, size_t n, const struct mib_setter *setter)
{
	size_t failed;

	assert(n <= t->n && t->n <= MIB_SETS_MAX);
	for (size_t i = 0; i < n / 2; i++) {
		struct mib_set kept = t->olds[i];

		t->olds[i] = t->olds[n - 1 - i];
		t->olds[n - 1 - i] = kept;
	}
	if (n > 0 && setter->apply(setter->ctx, t->olds, n, MIB_PHASE_UNDO, &failed))
		return MIB_UNDO_FAILED;
	return MIB_NO_ERROR;
}

/* If one setting fails, those before it are undone at once, because an UndoSet may not come. */
enum mib_error
mib_transaction_commit(struct mib_transaction *t, const struct mib_setter *setter)
{
	size_t failed = 0;

	if (t->committed || t->n == 0)
		return MIB_NO_ERROR;
	t->committed = setter->apply(setter->ctx, t->sets, t->n, MIB_PHASE_COMMIT, &failed) == 0;
	if (t->committed)
		return MIB_NO_ERROR;
	return transaction_take_back(t, failed < t->n ? failed : 0, setter) ? MIB_UNDO_FAILED : MIB_COMMIT_FAILED;
}

enum mib_error
mib_transaction_undo(struct mib_transaction *t, const struct mib_setter *setter)
{
	if (!t->committed)
		return MIB_NO_ERROR;
	t->committed = false;
	return transaction_take_back(t, t->n, setter);
}
