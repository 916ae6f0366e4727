/*
 * Where the counted total of a list went: to its rows together, to other keys, to keys without a sample, to frames
 * that have no such key, to ports without a sample. These lines add up to the total.
 */
#ifndef EASE_COLLECTOR_REPORT_LIST_ACCOUNT_H
#define EASE_COLLECTOR_REPORT_LIST_ACCOUNT_H

#include "collector/report/lists_private.h"

/* The full memory for keys may have cost the figure samples (unkeyed: unkeyed_most), so its upper limit rises; its lower
 * limit stays. */
void list_allow_for_folded(const struct list *list, enum estimate_unit unit, double unkeyed, struct estimate_figure *f);

/* Fills the cells of a row, or of a line of the account, that have frames, octets, share and samples. */
void list_fill_figures(const struct list *list, struct report_value *row,
    const struct estimate_figure figure[2], uint64_t n);

/* Fills in the account of the list's result, and its lines. The rows are chosen. 0 or -ENOMEM. */
int list_add_account(const struct list *list, const struct estimate_order *order);

#endif
