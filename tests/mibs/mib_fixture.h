/*
 * An invented switch for tests of the MIB tables: any number of ports and addresses, figures that are
 * a known function of port and kind, and a setter that changes these rows. Each third port has no
 * RMON and no EtherLike figures, so that walks meet absent cells.
 */
#ifndef EASE_TESTS_MIB_FIXTURE_H
#define EASE_TESTS_MIB_FIXTURE_H

#include "agent/snmp/mib_table.h"
#include "mibs/mib_snapshot.h"

#include <stdbool.h>

enum { FIXTURE_FIRST_IF = 1, FIXTURE_IF_STEP = 3 }; /* ifIndex 1, 4, 7, …: with gaps */

struct mib_fixture {
	struct hal_port *ports;
	struct sampling_port_row *rows;
	struct ease_error_source *error_sources; /* two kinds a port, of fixture_error_mac */
	const struct hal_port **bridge_ports;
	struct hal_address *addresses; /* each twice: without a VLAN, in VLAN 1's database */
	struct hal_vlan vlans[2]; /* the first: of all addresses */
	struct hal_vlan_range *ranges; /* VLAN 1 at each port */
	struct hal_layer *layers;
	struct hal_part *parts; /* a chassis, a module in it, and the ports in that */
	struct hal_contained *contents;
	struct hal_structure structure;
	struct hal_sensor_row sensors[2]; /* -5.5 degrees, and one that says nothing; of no part */
	struct hal_snapshot snapshot;
	struct sampling_table sampling;
	struct mib_snapshot mib_snapshot;
	/* the setter */
	int test_error, commit_error; /* what apply answers; 0: it works */
	size_t failed;		      /* the setting that apply blames */
	unsigned n_tests, n_commits;
};

int fixture_create(size_t n_ports, size_t n_addresses, struct mib_fixture *fixture);
void fixture_destroy(struct mib_fixture *fixture);

uint32_t fixture_if_index(size_t port);
/* The value of a figure: more than 32 bits, exact in a double. */
uint64_t fixture_figure(uint32_t if_index, enum hal_figure figure);
bool fixture_lacks_facets(uint32_t if_index);
extern const uint8_t fixture_error_mac[6];

/* mib_setter.apply with the fixture as ctx. */
int fixture_apply(void *fixture, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed);

/* mib_snapshot_source with the fixture as ctx. */
const void *fixture_hold(void *fixture);
void fixture_release(void *fixture, const void *snapshot);

#endif
