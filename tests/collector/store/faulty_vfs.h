/*
 * A failing disk for SQLite: a VFS on top of the system's own. Its writes and syncs fail from the
 * n-th on, as often as wanted: because the disk is full, by an error, or in the middle of a write.
 * Or its reads fail or find damage. Only files opened after faulty_vfs_install() are affected.
 */
#ifndef EASE_TESTS_FAULTY_VFS_H
#define EASE_TESTS_FAULTY_VFS_H

enum fault {
	FAULT_NONE,
	FAULT_FULL,	/* nothing is written: SQLITE_FULL */
	FAULT_ERROR,	/* nothing is written: SQLITE_IOERR_WRITE */
	FAULT_SHORT,	/* half of it is written, then SQLITE_IOERR_WRITE */
	FAULT_SYNC,	/* what was written may be lost: SQLITE_IOERR_FSYNC */
	FAULT_DAMAGED,	/* each read of the database: SQLITE_CORRUPT */
	FAULT_READ,	/* the same: SQLITE_IOERR_READ */
	FAULT_LONG_LOG, /* the log beside the database is said to have 1 GiB more */
};

/* Makes it SQLite's default VFS. */
void faulty_vfs_install(void);

/* From now on `after` calls of the kind succeed, then `times` of them fail (-1: all). May be called
 * by any thread. */
void faulty_vfs_fail(enum fault fault, int after, int times);

/* Count since the last faulty_vfs_fail: calls that failed, and all calls of writes and syncs. */
int faulty_vfs_failed(void);
int faulty_vfs_calls(void);

#endif
