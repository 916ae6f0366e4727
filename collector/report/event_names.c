#include "collector/report/event_names.h"

#include "collector/record.h"
#include "collector/report/result.h"
#include "collector/store/schema.h"

#include <stddef.h>

const char *
event_name(int kind)
{
	static const struct {
		int kind;
		const char *name;
	} names[] = {
		{EASE_NOTIFY_NEW_ADDRESS, "new address"},
		{EASE_NOTIFY_ERROR_SOURCE, "error source"},
		{EASE_NOTIFY_BACK_PRESSURE, "back pressure"},
		{EASE_NOTIFY_SAMPLING_STALLED, "sampling stalled"},
		{EASE_NOTIFY_SAMPLING_CHANGED, "sampling changed"},
		{EASE_EVENT_LINK_DOWN, "link down"},
		{EASE_EVENT_LINK_UP, "link up"},
		{EASE_EVENT_RISING_ALARM, "rising alarm"},
		{EASE_EVENT_FALLING_ALARM, "falling alarm"},
		{EASE_EVENT_PARTS_CHANGED, "parts changed"},
		{EASE_EVENT_BOOT_OUT_OF_ORDER, "boot out of order"},
		{EASE_EVENT_CLOCK_WRONG, "clock wrong"},
		{EASE_EVENT_CLOCK_RIGHT, "clock right again"},
		{EASE_EVENT_ALARM, "alarm"},
		{EASE_EVENT_ALARM_OVER, "alarm over"},
		{EASE_EVENT_ALARM_STANDS, "alarm stands"},
		{EASE_EVENT_PRECISION, "precision"},
		{EASE_EVENT_LINK_DISAGREES, "link disagrees"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].kind == kind)
			return names[i].name;
	return "other";
}

struct outage_words
outage_words(int kind)
{
	static const struct outage_words words[] = {
		[0] = {"other outage", ""},
		[STORE_OUTAGE_CRASH] = {"collector crash", "samples lost in the collector"},
		[STORE_OUTAGE_MACHINE] = {"machine down", "or a copy of the store was put back: samples that came meanwhile are lost in the network"},
		[STORE_OUTAGE_DAMAGED] = {"store damaged", "a new store was begun"},
		[STORE_OUTAGE_MOVED] = {"store moved", "a new store was begun"},
		[STORE_OUTAGE_STOPPED] = {"collector stopped", "samples that came meanwhile are lost in the network"},
	};

	return words[kind > 0 && kind < (int)ARRAY_LEN(words) ? kind : 0];
}
