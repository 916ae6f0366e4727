/* The tables of each module, for mibs.c. Each module is one file with the module's name. */
#ifndef EASE_MIBS_MODULES_H
#define EASE_MIBS_MODULES_H

#include "agent/snmp/mib_table.h"

extern const struct mib_table if_mib_number, if_mib_table, if_mib_x_table, if_mib_stack_table,
    if_mib_last_change;
extern const struct mib_table etherlike_mib_stats_table, etherlike_mib_control_table,
    etherlike_mib_pause_table, etherlike_mib_hc_stats_table;
extern const struct mib_table rmon_mib_stats_table, rmon_mib_hc_stats_table;
extern const struct mib_table rmon_mib_history_table, rmon_mib_hc_history_table,
    rmon_mib_log_table;
extern const struct mib_table hc_alarm_mib_capabilities;
extern const struct mib_table bridge_mib_base, bridge_mib_base_port_table, bridge_mib_tp,
    bridge_mib_fdb_table, bridge_mib_tp_port_table, bridge_mib_tp_hc_port_table,
    bridge_mib_tp_overflow_table;
extern const struct mib_table q_bridge_mib_base, q_bridge_mib_fdb_table, q_bridge_mib_tp_fdb_table,
    q_bridge_mib_vlan, q_bridge_mib_current_table, q_bridge_mib_static_table,
    q_bridge_mib_port_table;
extern const struct mib_table lag_mib_aggregate_table, lag_mib_ports_table, lag_mib_member_table;
extern const struct mib_table entity_mib_physical_table, entity_mib_alias_table,
    entity_mib_contains_table, entity_mib_general;
extern const struct mib_table entity_sensor_mib_table;
extern const struct mib_table lldp_mib_local, lldp_mib_local_port_table, lldp_mib_remote_table;
extern const struct mib_table ease_mib_system, ease_mib_port_table, ease_mib_error_source_table,
    ease_mib_energy_table, ease_mib_buffer_table, ease_mib_forwarding_table;

#endif
