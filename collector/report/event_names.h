/*
 * What kinds of events are called: enum ease_notification_kind and enum ease_event_kind in words;
 * and the collector's own outages.
 */
#ifndef EASE_COLLECTOR_REPORT_EVENT_NAMES_H
#define EASE_COLLECTOR_REPORT_EVENT_NAMES_H

/* "new address", "link down", …; "other" for what has no name. Static storage. */
const char *event_name(int kind);

/* "collector crash", "store damaged", …: enum store_outage_kind. The same. */
const char *outage_name(int kind);

#endif
