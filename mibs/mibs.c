#include "mibs/mibs.h"

#include "mibs/modules.h"

const struct mib_table *const mibs_tables[] = {
	&if_mib_number,
	&if_mib_table,
	&if_mib_x_table,
	&if_mib_stack_table,
	&if_mib_last_change,
	&etherlike_mib_stats_table,
	&etherlike_mib_control_table,
	&etherlike_mib_pause_table,
	&etherlike_mib_hc_stats_table,
	&rmon_mib_stats_table,
	&rmon_mib_hc_stats_table,
	&rmon_mib_history_control_table,
	&rmon_mib_history_table,
	&rmon_mib_hc_history_table,
	&rmon_mib_alarm_table,
	&rmon_mib_event_table,
	&rmon_mib_log_table,
	&hc_alarm_mib_table,
	&hc_alarm_mib_capabilities,
	&bridge_mib_base,
	&bridge_mib_base_port_table,
	&bridge_mib_tp,
	&bridge_mib_fdb_table,
	&bridge_mib_tp_port_table,
	&bridge_mib_tp_hc_port_table,
	&bridge_mib_tp_overflow_table,
	&bridge_mib_static_table,
	&q_bridge_mib_base,
	&q_bridge_mib_fdb_table,
	&q_bridge_mib_tp_fdb_table,
	&q_bridge_mib_vlan,
	&q_bridge_mib_current_table,
	&q_bridge_mib_static_table,
	&q_bridge_mib_port_table,
	&lag_mib_aggregate_table,
	&lag_mib_ports_table,
	&lag_mib_member_table,
	&entity_mib_physical_table,
	&entity_mib_alias_table,
	&entity_mib_contains_table,
	&entity_mib_general,
	&entity_sensor_mib_table,
	&lldp_mib_local,
	&lldp_mib_local_port_table,
	&lldp_mib_remote_table,
	&ease_mib_system,
	&ease_mib_port_table,
	&ease_mib_error_source_table,
	&ease_mib_energy_table,
	&ease_mib_buffer_table,
	&ease_mib_forwarding_table,
};
const size_t mibs_n_tables = sizeof(mibs_tables) / sizeof(mibs_tables[0]);

const struct mib_module mibs_modules[] = {
	{MIB_OID(1, 3, 6, 1, 2, 1, 31), "IF-MIB (RFC 2863)"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 35), "EtherLike-MIB (RFC 3635)"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 16, 20, 8), "RMON-MIB (RFC 2819): statistics, history, alarm, event"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 16, 20, 5), "HC-RMON-MIB (RFC 3273): statistics, history"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 16, 29), "HC-ALARM-MIB (RFC 3434)"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 17), "BRIDGE-MIB (RFC 4188), without dot1dStp"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 17, 6), "P-BRIDGE-MIB (RFC 4363): dot1dTpHCPortTable, dot1dTpPortOverflowTable"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 17, 7), "Q-BRIDGE-MIB (RFC 4363): addresses and VLANs"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 47), "ENTITY-MIB (RFC 6933): chassis, modules, ports"},
	{MIB_OID(1, 3, 6, 1, 2, 1, 99), "ENTITY-SENSOR-MIB (RFC 3433)"},
	{MIB_OID(1, 0, 8802, 1, 1, 2), "LLDP-MIB (IEEE 802.1AB): names of this switch, its ports and its neighbours"},
	{MIB_OID(1, 2, 840, 10006, 300, 43), "IEEE8023-LAG-MIB (IEEE 802.1AX): aggregates and members"},
	{MIB_OID(1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 1), "EASE-SAMPLING-MIB"},
};
const size_t mibs_n_modules = sizeof(mibs_modules) / sizeof(mibs_modules[0]);

void
mib_list_objects(FILE *out)
{
	mib_list_tables(mibs_tables, mibs_n_tables, out);
}
