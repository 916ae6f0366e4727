/*
 * Names of kinds of events, enum ease_notification_kind and enum ease_event_kind, and of the
 * collector's own outages.
 */
#ifndef EASE_COLLECTOR_REPORT_EVENT_NAMES_H
#define EASE_COLLECTOR_REPORT_EVENT_NAMES_H

/* "new address", "link down", …; "other" for what has no name. Static storage. */
const char *event_name(int kind);

/* "collector crash", "store damaged", …, of enum store_outage_kind, and what came of it. Static storage. */
struct outage_words {
	const char *name, *text;
};
struct outage_words outage_words(int kind);

#endif
