/*
 * What --check prints at its end: in a few lines what this machine can count, sample and tell, and what keeps it from more.
 */
#include "agent/linux/linux_private.h"

#include <linux/psample.h>

struct abilities {
	size_t n_links, by_kernel, by_driver, by_nobody;
	size_t sampled_by_kernel, sampled_by_chip, sampled_by_nobody, elsewhere;
};

/* The judgement and the place of totals are those of linux_print_forwarding. */
static void
add_port_abilities(struct linux_device *d, struct links_port *port, struct abilities *a)
{
	a->n_links++;
	a->by_driver += port->totals == LINKS_TOTALS_DRIVER;
	a->by_nobody += port->totals == LINKS_TOTALS_NOBODY;
	a->by_kernel += port->totals == LINKS_TOTALS_KERNEL;
	if (!links_is_sampled(port))
		a->elsewhere++;
	else if (kernel_offloads(&d->kernel, port->link.kernel_index))
		a->sampled_by_chip++;
	else if (!links_is_of_chip(&port->link) || port->forwarding == EASE_FORWARDING_SOFTWARE)
		a->sampled_by_kernel++;
	else
		a->sampled_by_nobody++;
}

static void
print_delay(struct linux_device *d, const struct abilities *a, FILE *out)
{
	uint16_t type;
	const char *why = a->sampled_by_chip == 0 ? "no, for only switch chips that sample tell them, and none does here"
	    : netlink_family(d->kernel.generic, PSAMPLE_GENL_NAME, &type) < 0
	    ? "not yet: the kernel's module psample is not loaded"
	    : "where the chip's driver tells them by psample";

	fprintf(out, "tells delays and queues: %s\n", why);
}

void
linux_print_abilities(struct linux_device *d, const struct linux_config *config, FILE *out)
{
	struct abilities a = {0};

	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].share_of == 0)
			add_port_abilities(d, &d->links.ports[i], &a);
	fprintf(out, "counts: %zu interfaces: %zu by the kernel, %zu by a chip's driver, %zu by nobody\n", a.n_links, a.by_kernel,
	    a.by_driver, a.by_nobody);
	fprintf(out, "samples: %zu in the kernel, %zu by a switch chip, %zu by nobody, as their driver takes no filters; %zu have no"
	    " frames of their own\n", a.sampled_by_kernel, a.sampled_by_chip, a.sampled_by_nobody, a.elsewhere);
	print_delay(d, &a, out);
	fprintf(out, "tells dropped packets: %s\n", config->drops_per_s > 0 ? "yes, while the kernel's drop monitor is free" : "no, as drops is not set");
	linux_print_sensors(d, out);
}
