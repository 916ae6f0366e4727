/*
 * What --check prints: in one screen what this machine can count, sample and tell, and what keeps it from more. Looks without
 * changing anything: nothing is sampled and nothing started.
 */
#include "agent/hal/abilities.h"
#include "agent/linux/devlink.h"
#include "agent/linux/drop_monitor.h"
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <linux/psample.h>
#include <string.h>

struct chips {
	size_t n_ports, by_driver, by_nobody;
	size_t traps, reported; /* of packets that a chip drops, and those that it gives to the CPU */
};

/* ---- ports ---- */

/* Who would sample the port, were the agent to start. */
static uint8_t
judge_sampling(struct linux_device *d, const struct linux_config *config, const struct links_port *port)
{
	if (config->sampling == LINUX_SAMPLING_NONE)
		return EASE_SAMPLED_BY_NOBODY;
	if (kernel_offloads(&d->kernel, port->link.kernel_index))
		return EASE_SAMPLED_BY_CHIP;
	return !links_is_of_chip(&port->link) || port->forwarding == EASE_FORWARDING_SOFTWARE ? EASE_SAMPLED_BY_KERNEL
											      : EASE_SAMPLED_BY_NOBODY;
}

/* Returns whether a chip samples any. */
static bool
abilities_judge_ports(struct linux_device *d, const struct linux_config *config)
{
	bool by_chip = false;

	for (size_t i = 0; i < d->links.n; i++) {
		struct links_port *port = &d->links.ports[i];

		linux_judge_forwarding(d, port);
		port->sampled_by = judge_sampling(d, config, port);
		by_chip = by_chip || (port->sampled_by == EASE_SAMPLED_BY_CHIP && links_is_sampled(port));
	}
	return by_chip;
}

/* ---- reasons ---- */

static const char *
words_of_delays(struct linux_device *d, bool by_chip)
{
	uint16_t type;

	if (!by_chip)
		return "only chips that sample tell them";
	return netlink_family(d->kernel.generic, PSAMPLE_GENL_NAME, &type) < 0 ? "module psample is not loaded"
									       : "if the chip's driver does";
}

static const char *
words_of_drops(struct linux_device *d, const struct linux_config *config, bool *yes)
{
	struct drop_monitor monitor;
	int rc;

	*yes = false;
	if (config->drops_per_s == 0)
		return "drops is not set";
	rc = drop_monitor_open(d->kernel.generic, &monitor);
	if (rc == 0)
		rc = drop_monitor_probe(&monitor);
	drop_monitor_close(&monitor);
	*yes = rc == 0;
	return rc == 0	     ? "the drop monitor is free"
	    : rc == -EBUSY   ? "another program has the monitor"
	    : rc == -ENOENT  ? "this kernel has no drop monitor"
	    : rc == -EPERM   ? "needs CAP_SYS_ADMIN, CAP_NET_ADMIN"
			     : "it cannot be joined";
}

/* ---- chips ---- */

static int
linux_add_trap(void *ctx, const struct nlmsghdr *message)
{
	struct chips *chips = ctx;
	struct devlink_trap trap;

	if (devlink_parse_trap(message, &trap) < 0 || !trap.is_of_drops)
		return 0;
	chips->traps++;
	chips->reported += trap.action != 0;
	return 0;
}

/* The ports of which nothing is known, as many as have room. */
static void
print_names(const struct linux_device *d, FILE *out)
{
	int room = ABILITIES_COLUMNS - fprintf(out, "%-7s", "");

	for (size_t i = 0; i < d->links.n; i++) {
		const struct links_port *port = &d->links.ports[i];

		if (port->totals != LINKS_TOTALS_NOBODY)
			continue;
		if ((size_t)room <= strlen(port->link.name) + strlen(" …")) {
			fputs(" …", out);
			break;
		}
		room -= fprintf(out, " %s", port->link.name);
	}
	fputc('\n', out);
}

/* Where totals are the counters' fetch has found out. */
static void
print_chips(struct linux_device *d, FILE *out)
{
	struct chips chips = {0};

	for (size_t i = 0; i < d->links.n; i++) {
		const struct links_port *port = &d->links.ports[i];

		chips.n_ports += links_is_of_chip(&port->link);
		chips.by_driver += port->totals == LINKS_TOTALS_DRIVER;
		chips.by_nobody += port->totals == LINKS_TOTALS_NOBODY;
	}
	(void)kernel_get_devlink_traps(&d->kernel, linux_add_trap, &chips);
	if (chips.n_ports + chips.traps == 0)
		return;
	abilities_row(out, "CHIP", "its ports", chips.n_ports, d->links.n, NULL);
	abilities_row(out, "", "counted by its driver", chips.by_driver, chips.n_ports, NULL);
	if (chips.traps > 0)
		abilities_row(out, "", "drops that it reports", chips.reported, chips.traps, "others: devlink trap set … trap");
	abilities_row(out, "", "counted by nobody", chips.by_nobody, chips.n_ports, NULL);
	if (chips.by_nobody > 0)
		print_names(d, out);
}

void
linux_print_abilities(struct linux_device *d, const struct linux_config *config, FILE *out)
{
	bool by_chip = abilities_judge_ports(d, config);
	struct abilities_told told = {
	    .not_counted = "the kernel sees only a part",
	    .not_sampled = config->sampling == LINUX_SAMPLING_NONE ? "sampling = none" : "the driver takes no filters",
	    .delays = by_chip,
	    .about_delays = words_of_delays(d, by_chip),
	};

	told.about_drops = words_of_drops(d, config, &told.drops);
	if (!linux_read_all_sensors(d))
		told.no_transceivers = "needs CAP_NET_ADMIN";
	abilities_print(&d->device, &told, out);
	print_chips(d, out);
}
