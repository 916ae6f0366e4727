#include "collector/report/claims.h"

#define ESTIMATE_TESTS "tests/collector/estimate/"
#define REPORT_TESTS   "tests/collector/report/"

const struct claim claims[] = {
	{"counted", "counted; load; totals",
	    "Counted by the ports themselves: there is no sampling in it, but for ports that an \"about\" names, and for what"
	    " was counted across the ends of the range, up to 1 %.",
	    REPORT_TESTS "check_outage.c"},
	{"divided", "about … counted (a .. b); Counters are far apart",
	    "Where counters come each 20 to 60 s or stay away for ten minutes, samples tell how much of what was counted across"
	    " an end of a range or step belongs to it; at least 94 of 100 limits hold, of ranges of one minute and of five.",
	    REPORT_TESTS "check_ends.c"},
	{"completeness", "completeness",
	    "Of the sample numbers that were given out, the part that arrived.", ESTIMATE_TESTS "check_transit.c"},
	{"lost_by_load", "More is lost when more passes",
	    "At most 1 of 1,000 reports says so where each sample is lost with the same probability, in runs of up to 500, by"
	    " minutes or in an outage; where 500 samples, 5 to 20 %, are lost and more of them when more passes, 95 of 100"
	    " ranges of eight hours tell it, and 9 of 10 of four.",
	    ESTIMATE_TESTS "check_load_loss.c"},
	{"disagreement", "Samples stand for … where … were counted",
	    "Said where octets differ by more than four standard deviations, 8 octets a frame and what passes in 30 s: in at"
	    " most 1 of 1,000 lists of bursty traffic whose counters come each 2 to 30 s.",
	    REPORT_TESTS "check_edge.c"},
	{"check", "CHECK",
	    "ok says that samples times skip, of sFlow times the rate that they state, and the port's counters agree within"
	    " four standard deviations; of 1,000 ports that sample soundly at most one is accused.",
	    REPORT_TESTS "check_load.c"},
	{"estimate", "estimate of a row",
	    "What this key had at all ports that count and had a sample, while samples arrived; right on the average"
	    " for a key that is chosen without looking at the list.", ESTIMATE_TESTS "check_estimate.c"},
	{"row", "95% LOW..HIGH of a row",
	    "At least 95 of 100 limits that lists print hold, also of the first row, the fifth and the tenth alone;"
	    " 90 of the first row where the skip was a hundred times as large for a tenth of the time.",
	    ESTIMATE_TESTS "check_printed.c"},
	{"low", "=sure part of a bar; low",
	    "Of 1,000 lower limits that lists print at most 25 are above the truth.",
	    ESTIMATE_TESTS "check_printed.c"},
	{"hiding", "may hide as much",
	    "Upper limits allow for what a key may have at ports where it has no sample; the port that may hide most is"
	    " named when it more than doubles one.", REPORT_TESTS "check_report.c"},
	{"sure", "limits with --sure list", "In 95 of 100 lists all limits hold at once.",
	    ESTIMATE_TESTS "check_printed.c"},
	{"rank", "RANK a-b",
	    "In 95 of 100 lists all ranks lie in their ranges, keys without a sample included; so a row whose range ends"
	    " at 10 or before is one of the ten largest.", ESTIMATE_TESTS "check_printed.c"},
	{"together", "top n together",
	    "What the rows have in all, corrected for their having been chosen for size; at least 94 of 100 limits hold; in"
	    " the unit that the list is not sorted by at least 92, and 91 where some ports sample 1 in 10 and others 1 in 5,000.",
	    ESTIMATE_TESTS "check_printed.c"},
	{"others", "others",
	    "What all other keys with a sample have; at least 94 of 100 limits hold; in the unit that the"
	    " list is not sorted by at least 92, and 89 where some ports sample 1 in 10 and others 1 in 5,000.",
	    ESTIMATE_TESTS "check_printed.c"},
	{"not_seen", "unseen",
	    "What all keys without a sample have together; at least 91 of 100 limits hold, 83 where the skip was a hundred"
	    " times as large for a tenth of the time.", ESTIMATE_TESTS "check_printed.c"},
	{"rest", "without IP; other frames; outside the filter",
	    "Frames that have no such key; limits as of a key that is named beforehand, of which 92 to 98 of 100 hold.",
	    ESTIMATE_TESTS "check_named.c"},
	{"no_sample", "ports, no sample; while samples were lost, skip counters were empty; before a first sample", "Counted; whose it was is not known.",
	    REPORT_TESTS "check_outage.c"},
	{"account", "all lines below the rows", "They add up to what the ports counted, to the frame, where all of them send counters.",
	    "tests/e2e/check_printed.sh"},
	{"uncounted", "about; NO COUNTERS; no counters",
	    "Of ports that sent samples and no counters, estimated from the samples' weights alone: 94 to 97 of 100 limits of"
	    " a key that is named beforehand hold, 92 where skips differ, 89 of octets where some are a hundred times as"
	    " large. Lines below the rows add up to the estimate of such a port, not to a count.",
	    ESTIMATE_TESTS "check_named.c"},
	{"partly", "Counted in a part of the range",
	    "Of what passed before a port's first counters or after its last ones, estimated from the samples' weights"
	    " beside what was counted: at least 94 of 100 limits hold, in captures of 45 seconds to 3 minutes.",
	    REPORT_TESTS "check_edge.c"},
	{"unseen", "No … without a sample … more than x frames",
	    "In 95 of 100 lists no such key that is missing has more.", ESTIMATE_TESTS "check_printed.c"},
	{"quantile", "median, p95, p99 of delay",
	    "Of all frames of the row, as its samples stand for them; whatever the values are, 94 to 99 of 100 limits hold, where"
	    " skips differ by tens or more up to 998 of 1,000. What samples are too few to tell is - or ?.",
	    ESTIMATE_TESTS "check_weighted_quantiles.c"},
	{"highest", "HIGHEST of delay", "What one sample had; frames that were not sampled may have had more.",
	    REPORT_TESTS "check_delay.c"},
	{"attempts", "SYN/s",
	    "TCP SYNs without ACK, each time that one is sent; 94 to 97 of 100 limits hold of a server or source that is"
	    " named beforehand and has 5 expected samples.", ESTIMATE_TESTS "check_accuracy.sh"},
	{"versus", "up, down of --versus", "Where nothing changed, at least 95 of 100 reports have no mark at all.",
	    REPORT_TESTS "check_versus.c"},
	{"alarm", "WARNING surely above; _low and _high of /metrics",
	    "Judged at one in a million a look: limits at such levels are wrong no more often than the level says,"
	    " measured from 1 in 100 to 1 in 10,000.", ESTIMATE_TESTS "check_levels.c"},
	{"step", "a step of history",
	    "The limits are those that a list of that step's time has for the keys of the whole list.",
	    REPORT_TESTS "check_history.c"},
	{"look", "a picture of the page or of --watch",
	    "A report like any other: each picture is judged for itself.", "tests/collector/web/check_page.py"},
	{NULL, NULL, NULL, NULL},
};

void
claims_print(FILE *out)
{
	for (const struct claim *c = claims; c->id; c++)
		fprintf(out, "%s\n  %s\n  Measured by %s\n", c->printed, c->claim, c->test);
}

json_t *
claims_json(void)
{
	json_t *array = json_array();

	for (const struct claim *c = claims; array && c->id; c++)
		if (json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "id", c->id, "printed", c->printed,
		    "claim", c->claim, "test", c->test)) != 0) {
			json_decref(array);
			array = NULL;
		}
	return array;
}
