#include "tests/collector/store/faulty_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct faulty_file {
	sqlite3_file base;
	bool database;	    /* or its log */
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *system_vfs;
static sqlite3_vfs faulty_vfs;
static _Atomic enum fault fault;
static atomic_int good, bad, failed, calls;

void
faulty_vfs_fail(enum fault which, int after, int times)
{
	atomic_store(&fault, FAULT_NONE);
	atomic_store(&good, after);
	atomic_store(&bad, times);
	atomic_store(&failed, 0);
	atomic_store(&calls, 0);
	atomic_store(&fault, which);
}

int
faulty_vfs_failed(void)
{
	return atomic_load(&failed);
}

int
faulty_vfs_calls(void)
{
	return atomic_load(&calls);
}

/* The one writing thread calls, so that counting needs no lock. */
static bool
fails(void)
{
	if (atomic_load(&good) > 0) {
		atomic_fetch_sub(&good, 1);
		return false;
	}
	if (atomic_load(&bad) == 0)
		return false;
	if (atomic_load(&bad) > 0)
		atomic_fetch_sub(&bad, 1);
	atomic_fetch_add(&failed, 1);
	return true;
}

static sqlite3_file *
real(sqlite3_file *f)
{
	return ((struct faulty_file *)f)->real;
}

static int
f_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int
f_read(sqlite3_file *f, void *octets, int n, sqlite3_int64 at)
{
	enum fault which = atomic_load(&fault);

	if ((which == FAULT_DAMAGED || which == FAULT_READ) &&
	    ((struct faulty_file *)f)->database && fails())
		return which == FAULT_READ ? SQLITE_IOERR_READ : SQLITE_CORRUPT;
	return real(f)->pMethods->xRead(real(f), octets, n, at);
}

static int
f_write(sqlite3_file *f, const void *octets, int n, sqlite3_int64 at)
{
	enum fault which = atomic_load(&fault);

	atomic_fetch_add(&calls, 1);
	if (which >= FAULT_FULL && which <= FAULT_SHORT && fails()) {
		if (which == FAULT_FULL)
			return SQLITE_FULL;
		if (which == FAULT_SHORT)
			real(f)->pMethods->xWrite(real(f), octets, n / 2, at);
		return SQLITE_IOERR_WRITE;
	}
	return real(f)->pMethods->xWrite(real(f), octets, n, at);
}

static int
f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return real(f)->pMethods->xTruncate(real(f), size);
}

static int
f_sync(sqlite3_file *f, int flags)
{
	atomic_fetch_add(&calls, 1);
	if (atomic_load(&fault) == FAULT_SYNC && fails())
		return SQLITE_IOERR_FSYNC;
	return real(f)->pMethods->xSync(real(f), flags);
}

static int
f_size(sqlite3_file *f, sqlite3_int64 *size)
{
	int code = real(f)->pMethods->xFileSize(real(f), size);

	if (atomic_load(&fault) == FAULT_LONG_LOG && !((struct faulty_file *)f)->database && fails())
		*size += 1 << 30;
	return code;
}

static int
f_lock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xLock(real(f), level);
}

static int
f_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int
f_check_lock(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int
f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
f_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int
f_characteristics(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int
f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **at)
{
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, at);
}

static int
f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}

static void
f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int
f_shm_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* without mapped reads, which would pass us by */
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_unlock,
    .xCheckReservedLock = f_check_lock,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_characteristics,
    .xShmMap = f_shm_map,
    .xShmLock = f_shm_lock,
    .xShmBarrier = f_shm_barrier,
    .xShmUnmap = f_shm_unmap,
};

static int
faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	struct faulty_file *f = (struct faulty_file *)file;
	int r;

	(void)vfs;
	f->real = (sqlite3_file *)(f + 1);
	f->database = flags & SQLITE_OPEN_MAIN_DB;
	r = system_vfs->xOpen(system_vfs, name, f->real, flags, out_flags);
	f->base.pMethods = r == SQLITE_OK ? &methods : NULL;
	return r;
}

void
faulty_vfs_install(void)
{
	if (system_vfs)
		return;
	system_vfs = sqlite3_vfs_find(NULL);
	faulty_vfs = *system_vfs;
	faulty_vfs.zName = "faulty";
	faulty_vfs.szOsFile = (int)sizeof(struct faulty_file) + system_vfs->szOsFile;
	faulty_vfs.xOpen = faulty_open;
	sqlite3_vfs_register(&faulty_vfs, 1);
}
