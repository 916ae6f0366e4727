#include "tests/agent/sim/bus/bus_record.h"

void
bus_record_clear(struct bus_record *record)
{
	record->n = 0;
	record->n_lost = 0;
}

static void
keep(struct bus_record *record, bool write, uint32_t address, uint32_t value, int rc)
{
	if (record->n == BUS_RECORD_MAX) {
		record->n_lost++;
		return;
	}
	record->accesses[record->n++] = (struct bus_access){
	    .write = write, .address = address, .value = value, .rc = rc};
}

static int
record_read(void *ctx, uint32_t address, uint32_t *value)
{
	struct bus_record *record = ctx;
	int rc;

	*value = 0;
	rc = bus_read(record->below, address, value);
	keep(record, false, address, *value, rc);
	return rc;
}

static int
record_write(void *ctx, uint32_t address, uint32_t value)
{
	struct bus_record *record = ctx;
	int rc = bus_write(record->below, address, value);

	keep(record, true, address, value, rc);
	return rc;
}

static void *
record_alloc_shared(void *ctx, size_t octets, uint32_t *bus_address)
{
	struct bus_record *record = ctx;

	return record->below->ops->alloc_shared(record->below->ctx, octets, bus_address);
}

static const struct bus_ops record_ops = {
    .name = "record",
    .read = record_read,
    .write = record_write,
    .alloc_shared = record_alloc_shared,
};

struct bus
bus_record_bus(struct bus_record *record)
{
	return (struct bus){.ops = &record_ops, .ctx = record};
}

size_t
bus_record_count(const struct bus_record *record, uint32_t address, bool write)
{
	size_t n = 0;

	for (size_t i = 0; i < record->n; i++)
		n += record->accesses[i].address == address && record->accesses[i].write == write;
	return n;
}
