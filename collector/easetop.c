/*
 * easetop: prints a report from a collector's store, which it only reads.
 */
#include "collector/report/claims.h"
#include "collector/report_command.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	struct report_command command;

	if (report_command_parse(&command, argc, argv) != 0) {
		fputs("easetop --help lists the reports and options.\n", stderr);
		return COMMAND_EXIT_TROUBLE;
	}
	if (command.help)
		report_command_print_usage(&command, stdout);
	else if (command.version)
		puts("easetop " PACKAGE_VERSION);
	else if (command.claims)
		claims_print(stdout);
	else
		return report_command_run(&command);
	return EXIT_SUCCESS;
}
