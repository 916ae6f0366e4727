/*
 * easetop: asks the collector's store and prints a report. Reads only.
 */
#include "collector/top.h"

#include <stdlib.h>

int
main(int argc, char **argv)
{
	struct top top;

	if (top_parse(&top, argc, argv) != 0) {
		fputs("easetop --help lists reports and options\n", stderr);
		return TOP_EXIT_TROUBLE;
	}
	if (!top.help)
		return top_run(&top);
	top_print_usage(stdout);
	return EXIT_SUCCESS;
}
