#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>

#include "agent/snmp/mib_register.h"

#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REGION_PRIORITY = 200 }; /* behind 127, which is what others take that say nothing */
enum { UPTIME_STEP_US = 500000 }; /* a larger step means that the master has restarted */

/* One registration: a whole table, one scalar of a group, or a region of several. */
struct binding {
	struct mib_registry *registry;
	const struct mib_table *table; /* of a region: the first */
	const struct mib_table *const *tables; /* of a region: all of them */
	size_t n_tables;
	uint32_t scalar; /* its subid; 0 for a table and a region */
};

struct mib_registry {
	struct mib_registry_options options;
	struct binding *bindings;
	size_t n_bindings;
	/* The SET in progress. The master carries out one at a time and identifies it by this id. */
	long transaction_id;
	struct mib_transaction transaction;
	int64_t uptime_start_us; /* see uptime_start; 0: not known yet */
};

static const u_char asn_types[] = {
	[MIB_INTEGER] = ASN_INTEGER,
	[MIB_STRING] = ASN_OCTET_STR,
	[MIB_OBJECT_ID] = ASN_OBJECT_ID,
	[MIB_COUNTER32] = ASN_COUNTER,
	[MIB_GAUGE32] = ASN_GAUGE,
	[MIB_TIMETICKS] = ASN_TIMETICKS,
	[MIB_COUNTER64] = ASN_COUNTER64,
};

/* ---- between Net-SNMP's names and values and ours ---- */

static size_t
to_arcs(const oid *name, size_t n, uint32_t *arcs)
{
	n = n < MIB_OID_MAX ? n : MIB_OID_MAX;
	for (size_t i = 0; i < n; i++)
		arcs[i] = (uint32_t)name[i];
	return n;
}

static size_t
from_arcs(const uint32_t *arcs, size_t n, oid *name)
{
	for (size_t i = 0; i < n; i++)
		name[i] = arcs[i];
	return n;
}

static void
register_put_value(netsnmp_variable_list *vb, const struct mib_value *value)
{
	u_char type = asn_types[value->syntax];
	oid name[MIB_OID_MAX];
	struct counter64 c64;

	switch (value->syntax) {
	case MIB_INTEGER:
		snmp_set_var_typed_integer(vb, type, (long)value->integer);
		break;
	case MIB_STRING:
		snmp_set_var_typed_value(vb, type, value->octets, value->len);
		break;
	case MIB_OBJECT_ID:
		from_arcs(value->arcs, value->len, name);
		snmp_set_var_typed_value(vb, type, name, value->len * sizeof(oid));
		break;
	case MIB_COUNTER64:
		c64.high = value->number >> 32;
		c64.low = value->number & UINT32_MAX;
		snmp_set_var_typed_value(vb, type, &c64, sizeof(c64));
		break;
	default:
		snmp_set_var_typed_integer(vb, type, (long)value->number);
		break;
	}
}

/* A type that no writable object has becomes MIB_COUNTER64, for which the engine answers wrongType. */
static void
get_value(const netsnmp_variable_list *vb, struct mib_value *value)
{
	memset(value, 0, sizeof(*value));
	switch (vb->type) {
	case ASN_INTEGER:
		value->syntax = MIB_INTEGER;
		value->integer = (int32_t)*vb->val.integer;
		break;
	case ASN_GAUGE:
		value->syntax = MIB_GAUGE32;
		value->number = (uint32_t)*vb->val.integer;
		break;
	case ASN_OCTET_STR:
		value->syntax = MIB_STRING;
		mib_put_octets(value, vb->val.string, vb->val_len);
		break;
	case ASN_OBJECT_ID:
		value->syntax = MIB_OBJECT_ID;
		value->len = vb->val_len / sizeof(oid);
		if (value->len <= MIB_OID_ARCS)
			to_arcs(vb->val.objid, value->len, value->arcs);
		break;
	default:
		value->syntax = MIB_COUNTER64;
		break;
	}
}

/* ---- GET and GETNEXT ---- */

static enum mib_answer
get_bound(const struct binding *b, const struct mib_context *context, const uint32_t *arcs, size_t n, struct mib_value *value)
{
	enum mib_answer answer = MIB_NO_OBJECT;

	for (size_t i = 0; i < b->n_tables && answer == MIB_NO_OBJECT; i++)
		answer = mib_get(b->tables[i], context, arcs, n, value);
	return answer;
}

static enum mib_answer
get_next_bound(const struct binding *b, const struct mib_context *context, const uint32_t *arcs, size_t n, uint32_t *next,
    size_t *n_next, struct mib_value *value)
{
	enum mib_answer answer = MIB_END;

	for (size_t i = 0; i < b->n_tables && answer != MIB_FOUND; i++)
		answer = mib_get_next(b->tables[i], context, arcs, n, next, n_next, value);
	return answer;
}

static void
answer_get(const struct binding *b, const struct mib_context *context,
    netsnmp_agent_request_info *info, netsnmp_request_info *request)
{
	netsnmp_variable_list *vb = request->requestvb;
	enum mib_answer answer = MIB_NO_INSTANCE;
	uint32_t arcs[MIB_OID_MAX];
	struct mib_value value;
	size_t n = to_arcs(vb->name, vb->name_length, arcs);

	if (context->snapshot)
		answer = get_bound(b, context, arcs, n, &value);
	if (answer == MIB_FOUND)
		register_put_value(vb, &value);
	else
		netsnmp_set_request_error(info, request,
		    answer == MIB_NO_OBJECT ? SNMP_NOSUCHOBJECT : SNMP_NOSUCHINSTANCE);
}

static bool
register_find_next(const struct binding *b, const struct mib_context *context,
    const netsnmp_request_info *request, uint32_t *next, size_t *n_next, struct mib_value *value)
{
	const netsnmp_variable_list *vb = request->requestvb;
	uint32_t arcs[MIB_OID_MAX];
	size_t n = to_arcs(vb->name, vb->name_length, arcs);

	if (request->inclusive && get_bound(b, context, arcs, n, value) == MIB_FOUND) {
		memcpy(next, arcs, n * sizeof(*arcs));
		*n_next = n;
		return true;
	}
	if (get_next_bound(b, context, arcs, n, next, n_next, value) != MIB_FOUND)
		return false;
	return b->scalar == 0 || next[b->table->entry.n] == b->scalar;
}

/* If there is no successor the varbind stays as it is, and Net-SNMP tries the next registration. */
static void
answer_next(const struct binding *b, const struct mib_context *context, netsnmp_request_info *request)
{
	uint32_t next[MIB_OID_MAX];
	oid name[MIB_OID_MAX];
	struct mib_value value;
	size_t n;

	if (!context->snapshot || !register_find_next(b, context, request, next, &n, &value))
		return;
	snmp_set_var_objid(request->requestvb, name, from_arcs(next, n, name));
	register_put_value(request->requestvb, &value);
}

/* The library sets its copy of sysUpTime anew at every ping, each time off by some hundredths of a
 * second. A time stamp must not move with these, so small steps are ignored. */
static int64_t
uptime_start(struct mib_registry *registry, uint64_t mono_us)
{
	int64_t start_us = (int64_t)mono_us - (int64_t)netsnmp_get_agent_uptime() * 10000;
	int64_t step_us = start_us - registry->uptime_start_us;

	if (registry->uptime_start_us == 0 || step_us > UPTIME_STEP_US || step_us < -UPTIME_STEP_US)
		registry->uptime_start_us = start_us;
	return registry->uptime_start_us;
}

static struct mib_context
open_context(struct mib_registry *registry)
{
	const struct mib_snapshot_source *snapshots = &registry->options.snapshots;
	uint64_t mono_us = clock_mono_us(registry->options.clock);

	return (struct mib_context){
		.snapshot = snapshots->hold(snapshots->ctx),
		.mono_us = mono_us,
		.uptime_start_us = uptime_start(registry, mono_us),
	};
}

static void
close_context(const struct mib_registry *registry, const struct mib_context *context)
{
	if (context->snapshot)
		registry->options.snapshots.release(
		    registry->options.snapshots.ctx, context->snapshot);
}

static void
answer_all(const struct binding *b, netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	struct mib_context context = open_context(b->registry);

	for (netsnmp_request_info *r = requests; r; r = r->next) {
		if (r->processed)
			continue;
		if (info->mode == MODE_GET)
			answer_get(b, &context, info, r);
		else
			answer_next(b, &context, r);
	}
	close_context(b->registry, &context);
}

/* ---- SET ---- */

/* Net-SNMP calls each phase for every registration that the PDU touches, and the master may send a
 * PDU of its own for each registration; all PDUs of one SET have the same transaction id. */
static struct mib_transaction *
transaction_of(struct mib_registry *registry, const netsnmp_agent_request_info *info)
{
	long id = info->asp->pdu->transid;

	if (id != registry->transaction_id) {
		registry->transaction_id = id;
		mib_transaction_begin(&registry->transaction);
	}
	return &registry->transaction;
}

static void
reserve_sets(const struct binding *b, struct mib_transaction *t, netsnmp_agent_request_info *info,
    netsnmp_request_info *requests)
{
	struct mib_context context = open_context(b->registry);
	enum mib_error error = MIB_NO_ERROR;

	for (netsnmp_request_info *r = requests; r && !error; r = r->next) {
		uint32_t arcs[MIB_OID_MAX];
		struct mib_value value;
		size_t n = to_arcs(r->requestvb->name, r->requestvb->name_length, arcs);

		get_value(r->requestvb, &value);
		error = context.snapshot
			    ? mib_transaction_add(t, b->table, &context, arcs, n, &value)
			    : MIB_RESOURCE_UNAVAILABLE;
		if (error)
			netsnmp_set_request_error(info, r, (int)error);
	}
	close_context(b->registry, &context);
}

static void
forget_transaction(struct mib_registry *registry)
{
	registry->transaction_id = 0;
	mib_transaction_begin(&registry->transaction);
}

/* Reports the error at the varbind that caused it, whichever registration that belongs to; at the
 * first varbind of this call if that one came in another PDU. */
static void
refuse_set(enum mib_error error, const struct mib_transaction *t, netsnmp_agent_request_info *info,
    netsnmp_request_info *requests)
{
	netsnmp_request_info *all = info->asp->requests, *blamed = requests;

	if (!error)
		return;
	for (int i = 0; all && i < info->asp->vbcount; i++) {
		uint32_t arcs[MIB_OID_MAX];
		size_t n = to_arcs(all[i].requestvb->name, all[i].requestvb->name_length, arcs);

		if (mib_transaction_blames(t, arcs, n))
			blamed = &all[i];
	}
	netsnmp_set_request_error(info, blamed, (int)error);
}

static void
change_phase(const struct binding *b, netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	struct mib_transaction *t = transaction_of(b->registry, info);
	const struct mib_setter *setter = &b->registry->options.setter;
	enum mib_error error = MIB_NO_ERROR;

	switch (info->mode) {
	case MODE_SET_RESERVE1:
		reserve_sets(b, t, info, requests);
		break;
	case MODE_SET_RESERVE2:
		refuse_set(mib_transaction_test(t, setter), t, info, requests);
		break;
	case MODE_SET_ACTION:
		error = mib_transaction_commit(t, setter);
		break;
	case MODE_SET_UNDO:
		error = mib_transaction_undo(t, setter);
		break;
	default: /* COMMIT: ACTION has made the change; FREE: nothing has changed */
		forget_transaction(b->registry);
		break;
	}
	if (error)
		netsnmp_set_request_error(info, requests, (int)error);
}

static int
handle_request(netsnmp_mib_handler *handler, netsnmp_handler_registration *registration,
    netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	const struct binding *b = handler->myvoid;

	(void)registration;
	if (info->mode == MODE_GET || info->mode == MODE_GETNEXT)
		answer_all(b, info, requests);
	else
		change_phase(b, info, requests);
	return SNMP_ERR_NOERROR;
}

/* ---- registration ---- */

static bool
is_writable(const struct binding *b)
{
	for (size_t i = 0; i < b->table->n_columns; i++) {
		const struct mib_column *column = &b->table->columns[i];

		if (column->set_kind && (b->scalar == 0 || b->scalar == column->subid))
			return b->registry->options.setter.apply != NULL;
	}
	return false;
}

static const char *
bound_name(const struct binding *b)
{
	return b->table->region ? b->table->region->name : b->table->name;
}

/* A table is registered at its own OID, as snmpd does, not at its entry's: else snmpd's columns would follow on ours. */
static size_t
registered_at(const struct binding *b, oid *name)
{
	const struct mib_oid *entry = &b->table->entry;
	size_t n;

	if (b->table->region)
		return from_arcs(b->table->region->root.arcs, b->table->region->root.n, name);
	n = from_arcs(entry->arcs, b->scalar ? entry->n : entry->n - 1, name);
	if (b->scalar)
		name[n++] = b->scalar;
	return n;
}

static int
bind_handler(struct binding *b)
{
	int modes = is_writable(b) ? HANDLER_CAN_RWRITE : HANDLER_CAN_RONLY;
	netsnmp_handler_registration *registration;
	oid name[MIB_OID_MAX];
	size_t n = registered_at(b, name);

	registration = netsnmp_create_handler_registration(bound_name(b), handle_request, name, n, modes);
	if (!registration)
		return -ENOMEM;
	registration->handler->myvoid = b;
	registration->priority = b->table->region ? REGION_PRIORITY : b->registry->options.priority;
	if (netsnmp_register_handler(registration) != MIB_REGISTERED_OK) {
		log_error("snmp", "Net-SNMP refuses to register %s", bound_name(b));
		return -EINVAL;
	}
	return 0;
}

static int
add_binding(struct mib_registry *registry, const struct mib_table *const *tables, size_t n_tables, uint32_t scalar)
{
	struct binding *b = &registry->bindings[registry->n_bindings++];

	*b = (struct binding){.registry = registry, .table = *tables, .tables = tables, .n_tables = n_tables, .scalar = scalar};
	return bind_handler(b);
}

/* At the first table of a region all of it. */
static size_t
n_bound(const struct mib_registry_options *options, size_t first)
{
	const struct mib_region *region = options->tables[first]->region;
	size_t n = 1;

	while (region && first + n < options->n_tables && options->tables[first + n]->region == region)
		n++;
	return n;
}

static int
add_table(struct mib_registry *registry, size_t first, size_t n)
{
	const struct mib_table *const *tables = registry->options.tables + first, *table = *tables;
	int error = 0;

	if (!table->scalars || table->region)
		return add_binding(registry, tables, n, 0);
	for (size_t i = 0; i < table->n_columns && !error; i++)
		error = add_binding(registry, tables, n, table->columns[i].subid);
	return error;
}

static size_t
count_bindings(const struct mib_registry_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < options->n_tables; i++)
		n += options->tables[i]->scalars ? options->tables[i]->n_columns : 1;
	return n;
}

int
mib_registry_create(const struct mib_registry_options *options, struct mib_registry **out)
{
	struct mib_registry *registry = calloc(1, sizeof(*registry));
	int error = 0;

	if (!registry)
		return -ENOMEM;
	registry->options = *options;
	registry->bindings = calloc(count_bindings(options) + 1, sizeof(*registry->bindings));
	if (!registry->bindings)
		error = -ENOMEM;
	for (size_t i = 0; i < options->n_tables && !error; i += n_bound(options, i))
		error = add_table(registry, i, n_bound(options, i));
	if (error)
		mib_registry_destroy(registry);
	else
		*out = registry;
	return error;
}

/* Whether binding b is registered at this OID; see bind_handler. */
static bool
is_registered_at(const struct binding *b, const uint32_t *arcs, size_t n)
{
	uint32_t own[MIB_OID_MAX];
	oid name[MIB_OID_MAX];
	size_t n_own = to_arcs(name, registered_at(b, name), own);

	return mib_oid_compare(own, n_own, arcs, n) == 0;
}

const char *
mib_registry_name(const struct mib_registry *registry, const uint32_t *arcs, size_t n)
{
	for (size_t i = 0; registry && i < registry->n_bindings; i++) {
		const struct binding *b = &registry->bindings[i];

		if (!is_registered_at(b, arcs, n))
			continue;
		for (size_t k = 0; b->scalar && k < b->table->n_columns; k++)
			if (b->table->columns[k].subid == b->scalar)
				return b->table->columns[k].name;
		return bound_name(b);
	}
	return "?";
}

void
mib_registry_reset(struct mib_registry *registry)
{
	forget_transaction(registry);
	registry->uptime_start_us = 0;
}

void
mib_registry_destroy(struct mib_registry *registry)
{
	if (!registry)
		return;
	free(registry->bindings);
	free(registry);
}
