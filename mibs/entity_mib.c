/*
 * ENTITY-MIB (RFC 6933): the physical parts of the switch, from the HAL's structure. A chassis
 * contains modules, sensors, fans and power supplies, modules contain ports, and ports transceivers; all but modules have
 * sensors of their own. entAliasMappingTable has each port's ifIndex. The agent
 * is the only logical entity, so entLogicalTable and entLPMappingTable have no rows.
 */
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#include <string.h>

#define PART(member) MIB_AT(struct hal_part, member)

static const struct hal_structure *
structure_of(const struct mib_context *context)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	return hal ? hal->structure : NULL;
}

static size_t
part_rows(const struct mib_context *context, const void **first)
{
	const struct hal_structure *structure = structure_of(context);

	if (!structure)
		return 0;
	*first = structure->parts;
	return structure->n_parts;
}

/* The chassis has the agent's version. */
static int
software_revision(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_part *part = cell->row;

	mib_put_text(value, part->class == HAL_PART_CHASSIS ? PACKAGE_VERSION : "");
	return 0;
}

static int
is_replaceable(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = ((const struct hal_part *)cell->row)->is_replaceable ? MIB_TRUE : MIB_FALSE;
	return 0;
}

/* DateAndTime; all zeros if not known (RFC 6933). */
static int
date_unknown(const struct mib_cell *cell, struct mib_value *value)
{
	(void)cell;
	mib_put_octets(value, (const uint8_t[8]){0}, 8);
	return 0;
}

/* An unknown text is an empty string. */
static const struct mib_column physical_columns[] = {
	{2, "entPhysicalDescr", MIB_STRING, PART(descr)},
	{3, "entPhysicalVendorType", MIB_OBJECT_ID, MIB_FN(mib_null_oid)},
	{4, "entPhysicalContainedIn", MIB_INTEGER, PART(contained_in)},
	{5, "entPhysicalClass", MIB_INTEGER, PART(class)},
	{6, "entPhysicalParentRelPos", MIB_INTEGER, PART(position)},
	{7, "entPhysicalName", MIB_STRING, PART(name)},
	{8, "entPhysicalHardwareRev", MIB_STRING, PART(revision)},
	{9, "entPhysicalFirmwareRev", MIB_STRING, MIB_CONSTANT(0)},
	{10, "entPhysicalSoftwareRev", MIB_STRING, MIB_FN(software_revision)},
	{11, "entPhysicalSerialNum", MIB_STRING, PART(serial)},
	{12, "entPhysicalMfgName", MIB_STRING, PART(maker)},
	{13, "entPhysicalModelName", MIB_STRING, PART(model)},
	{14, "entPhysicalAlias", MIB_STRING, MIB_CONSTANT(0)},
	{15, "entPhysicalAssetID", MIB_STRING, MIB_CONSTANT(0)},
	{16, "entPhysicalIsFRU", MIB_INTEGER, MIB_FN(is_replaceable)},
	{17, "entPhysicalMfgDate", MIB_STRING, MIB_FN(date_unknown)},
	{18, "entPhysicalUris", MIB_STRING, MIB_CONSTANT(0)},
};
const struct mib_table entity_mib_physical_table = {
	.name = "entPhysicalTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_part, index)},
	MIB_COLUMNS(physical_columns),
	MIB_ROWS(struct hal_part, part_rows),
};

static size_t
port_part_rows(const struct mib_context *context, const void **first)
{
	const struct hal_structure *structure = structure_of(context);

	if (!structure)
		return 0;
	*first = structure->parts + structure->first_port_part;
	return structure->n_port_parts;
}

/* The name of the port's ifIndex. */
static int
alias_identifier(const struct mib_cell *cell, struct mib_value *value)
{
	static const uint32_t if_index[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1};
	const struct hal_part *part = cell->row;

	memcpy(value->arcs, if_index, sizeof(if_index));
	value->len = sizeof(if_index) / sizeof(if_index[0]);
	value->arcs[value->len++] = part->if_index;
	return 0;
}

static const struct mib_column alias_columns[] = {
	{2, "entAliasMappingIdentifier", MIB_OBJECT_ID, MIB_FN(alias_identifier)},
};
/* entAliasLogicalIndexOrZero is 0: the mapping is the same for every logical entity. */
const struct mib_table entity_mib_alias_table = {
	.name = "entAliasMappingTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 47, 1, 3, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_part, index),
	    {.kind = MIB_INDEX_ZERO}},
	MIB_COLUMNS(alias_columns),
	MIB_ROWS(struct hal_part, port_part_rows),
};

static size_t
contained_rows(const struct mib_context *context, const void **first)
{
	const struct hal_structure *structure = structure_of(context);

	if (!structure)
		return 0;
	*first = structure->contents;
	return structure->n_parts - 1;
}

static const struct mib_column contains_columns[] = {
	{1, "entPhysicalChildIndex", MIB_INTEGER, MIB_AT(struct hal_contained, child)},
};
const struct mib_table entity_mib_contains_table = {
	.name = "entPhysicalContainsTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 47, 1, 3, 3, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_contained, parent),
	    MIB_INDEX(MIB_INDEX_U32, struct hal_contained, child)},
	MIB_COLUMNS(contains_columns),
	MIB_ROWS(struct hal_contained, contained_rows),
};

static int
entity_mib_last_change(const struct mib_cell *cell, struct mib_value *value)
{
	value->number = mib_time_stamp(cell->context, structure_of(cell->context)->parts_changed_mono_us);
	return 0;
}

static const struct mib_column general_columns[] = {
	{1, "entLastChangeTime", MIB_TIMETICKS, MIB_FN(entity_mib_last_change)},
};
const struct mib_table entity_mib_general = {
	.name = "entityGeneral",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 47, 1, 4),
	.scalars = true,
	MIB_COLUMNS(general_columns),
	MIB_ROWS(struct mib_snapshot, mib_device_rows),
};
