#include "agent/hal/abilities.h"

#define BIT(figure) (1ull << (figure))

/* A family of figures: a port that has any of them counts it. */
static const struct {
	const char *what;
	uint64_t figures;
	const char *why; /* not */
} counted[] = {
    {"octets and packets", BIT(HAL_IN_OCTETS), NULL},
    {"broadcasts apart", BIT(HAL_IN_BCAST_PKTS), "counted as unicasts there"},
    {"discards", BIT(HAL_IN_DISCARDS) | BIT(HAL_OUT_DISCARDS), "nobody counts them there"},
    {"errors by cause", HAL_DOT3_FIGURES, "nobody tells them apart there"},
    {"PAUSE frames", BIT(HAL_IN_PAUSE_PKTS) | BIT(HAL_OUT_PAUSE_PKTS), "nobody counts them there"},
    {"frames by size (RMON)", HAL_FIGURES(HAL_RMON_64, HAL_RMON_1024_MAX), "nobody counts them there"},
};
enum { N_COUNTED = sizeof(counted) / sizeof(counted[0]) };

struct tally {
	size_t n_ports, with_connector;
	size_t counts[N_COUNTED], low_power, buffers;
	size_t by[EASE_SAMPLED_BY_CHIP + 1], below; /* by enum ease_sampled_by */
};

/* ---- ports ---- */

static uint64_t
known_figures(const struct hal_device *device, uint32_t if_index)
{
	const struct hal_counters_ops *ops = device->counters;
	const uint64_t nothing[HAL_MAX_COUNTER_ROWS] = {0};
	struct hal_counters counters = {0};

	if (!ops)
		return 0;
	if (ops->fetch)
		(void)ops->fetch(device->counters_ctx, if_index);
	ops->derive(nothing, &counters);
	return ops->known ? counters.known & ops->known(device->counters_ctx, if_index) : counters.known;
}

static uint8_t
abilities_sampled_by(const struct hal_device *device, const struct hal_port *port, uint32_t if_index)
{
	const struct hal_sampling_ops *ops = device->sampling;
	uint32_t rate;

	if (port->sampled_by != EASE_SAMPLED_NOT_KNOWN)
		return port->sampled_by;
	if (!ops || (ops->rate && (ops->rate(device->sampling_ctx, if_index, &rate) < 0 || rate == 0)))
		return EASE_SAMPLED_BY_NOBODY;
	return EASE_SAMPLED_NOT_KNOWN;
}

static void
abilities_add_port(const struct hal_device *device, uint32_t if_index, struct tally *tally)
{
	uint64_t known = known_figures(device, if_index);
	struct hal_port port = {0};
	struct hal_energy energy = {0};
	struct hal_buffers buffers;

	if (device->ports->get(device->ports_ctx, if_index, &port) < 0)
		return;
	tally->n_ports++;
	tally->with_connector += port.has_connector;
	for (size_t i = 0; i < N_COUNTED; i++)
		tally->counts[i] += (known & counted[i].figures) != 0;
	if (port.over_others)
		tally->below++;
	else
		tally->by[abilities_sampled_by(device, &port, if_index)]++;
	if (device->energy && device->energy->read(device->energy_ctx, if_index, &energy) == 0 && energy.counts)
		tally->low_power++;
	if (device->buffers && device->buffers->read(device->buffers_ctx, if_index, &buffers) == 0)
		tally->buffers++;
}

/* ---- lines ---- */

void
abilities_row(FILE *out, const char *section, const char *what, size_t n, size_t of, const char *why)
{
	fprintf(out, "%-7s %-21s %5zu of ", section, what, n);
	if (n < of && why)
		fprintf(out, "%-5zu  %.*s\n", of, ABILITIES_WHY_MAX, why);
	else
		fprintf(out, "%zu\n", of);
}

static void
put_answer(FILE *out, const char *section, const char *what, bool yes, const char *why)
{
	fprintf(out, "%-7s %-21s %5s", section, what, yes ? "yes" : "no");
	if (why)
		fprintf(out, "%-11s%.*s", "", ABILITIES_WHY_MAX, why);
	fputc('\n', out);
}

static void
abilities_print_counted(const struct tally *tally, const struct abilities_told *told, FILE *out)
{
	for (size_t i = 0; i < N_COUNTED; i++)
		abilities_row(out, i == 0 ? "COUNTS" : "", counted[i].what, tally->counts[i], tally->n_ports,
		    i == 0 ? told->not_counted : counted[i].why);
	if (tally->low_power > 0)
		abilities_row(out, "", "low-power idle (EEE)", tally->low_power, tally->n_ports, NULL);
	if (tally->buffers > 0)
		abilities_row(out, "", "buffers", tally->buffers, tally->n_ports, NULL);
}

static void
print_sampled(const struct tally *tally, const struct abilities_told *told, FILE *out)
{
	const char *section = "SAMPLES";
	const struct {
		const char *what;
		size_t n;
		const char *why;
	} rows[] = {
	    {"in a switch chip", tally->by[EASE_SAMPLED_BY_CHIP], NULL},
	    {"in the kernel", tally->by[EASE_SAMPLED_BY_KERNEL], NULL},
	    {"in the device", tally->by[EASE_SAMPLED_NOT_KNOWN], NULL},
	    {"at other ports", tally->below, "bridges, LAGs, VLANs, lo, tunnels"},
	    {"nowhere", tally->by[EASE_SAMPLED_BY_NOBODY], told->not_sampled},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].n == 0)
			continue;
		abilities_row(out, section, rows[i].what, rows[i].n, tally->n_ports, rows[i].why);
		section = "";
	}
}

static int
count_one(void *arg, const struct hal_address *address)
{
	(void)address;
	++*(size_t *)arg;
	return 0;
}

static int
count_range(void *arg, const struct hal_vlan_range *range)
{
	(void)range;
	++*(size_t *)arg;
	return 0;
}

static void
print_told(const struct hal_device *device, const struct tally *tally, const struct abilities_told *told, FILE *out)
{
	const struct hal_sensors_ops *sensors = device->sensors;
	size_t n = 0, transceivers = sensors ? sensors->n_transceivers(device->sensors_ctx) : 0;
	bool has = device->addresses && device->addresses->dump(device->addresses_ctx, count_one, &n) == 0;

	put_answer(out, "TELLS", "learned addresses", has, has ? NULL : "there is no bridge");
	has = device->vlans && device->vlans->dump(device->vlans_ctx, count_range, &n) == 0;
	put_answer(out, "", "VLANs", has, has ? NULL : device->vlans ? "no bridge tells VLANs apart" : NULL);
	put_answer(out, "", "senders of bad frames", device->errors != NULL, NULL);
	put_answer(out, "", "dropped packets", told->drops, told->about_drops);
	put_answer(out, "", "delays and queues", told->delays, told->about_delays);
	put_answer(out, "", "hardware sensors", sensors && sensors->n_sensors(device->sensors_ctx) > 0, NULL);
	abilities_row(out, "", "transceivers", transceivers, tally->with_connector, told->no_transceivers);
}

void
abilities_print(const struct hal_device *device, const struct abilities_told *told, FILE *out)
{
	size_t n = device->ports->count(device->ports_ctx);
	struct tally tally = {0};

	for (size_t i = 0; i < n; i++)
		abilities_add_port(device, device->ports->if_index(device->ports_ctx, i), &tally);
	fprintf(out, "device = %s, %zu ports\n", device->ops->kind, tally.n_ports);
	abilities_print_counted(&tally, told, out);
	print_sampled(&tally, told, out);
	print_told(device, &tally, told, out);
}
