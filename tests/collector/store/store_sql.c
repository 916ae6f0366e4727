/*
 * Asks a store by SQL with its sums unpacked (unpacked.h), for the scripts: as sqlite3 would print.
 *   store_sql [-separator TEXT] STORE SQL
 */
#include "tests/collector/unpacked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
print_rows(sqlite3 *db, const char *sql, const char *separator)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(s);
		for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(s); i++) {
			const unsigned char *text = sqlite3_column_text(s, i);

			printf("%s%s", i > 0 ? separator : "", text ? (const char *)text : "");
		}
		if (code == SQLITE_ROW)
			printf("\n");
	}
	if (code != SQLITE_DONE)
		fprintf(stderr, "store_sql: %s\n", sqlite3_errmsg(db));
	sqlite3_finalize(s);
	return code == SQLITE_DONE ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	const char *separator = "|";
	sqlite3 *db;
	int status;

	if (argc == 5 && strcmp(argv[1], "-separator") == 0) {
		separator = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: store_sql [-separator TEXT] STORE SQL\n");
		return EXIT_FAILURE;
	}
	db = unpacked_open(argv[1], argv[2]);
	if (!db)
		return EXIT_FAILURE;
	status = print_rows(db, argv[2], separator);
	sqlite3_close(db);
	return status;
}
