#include "tests/agent/power_cut_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 8, SECTOR = 512 };

/* A write, or a truncation (octets NULL) to `offset` octets. */
struct change {
	int64_t offset;
	size_t n;
	uint8_t *octets;
};

/* What the disk has of a file for certain, and what was done since. */
struct disk {
	char path[256];
	uint8_t *synced;
	size_t n_synced;
	struct change *changes;
	size_t n_changes;
};

struct file {
	sqlite3_file base;
	struct disk *disk;
	sqlite3_file *real;
};

static struct {
	sqlite3_vfs *real;
	struct disk disks[FILES_MAX];
	size_t n_disks;
	uint64_t left, done;
	bool off, full;
} power = {.left = POWER_CUT_NEVER};

static sqlite3_file *
real_of(sqlite3_file *file)
{
	return ((struct file *)(void *)file)->real;
}

/* ---- the disk ---- */

static void
read_whole(const char *path, uint8_t **octets, size_t *n)
{
	FILE *file = fopen(path, "r");
	long size;

	*octets = NULL;
	*n = 0;
	if (!file)
		return;
	if (fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) < 0)
		abort();
	rewind(file);
	*octets = malloc((size_t)size + 1);
	if (!*octets || fread(*octets, 1, (size_t)size, file) != (size_t)size)
		abort();
	*n = (size_t)size;
	fclose(file);
}

static void
forget_changes(struct disk *disk)
{
	for (size_t i = 0; i < disk->n_changes; i++)
		free(disk->changes[i].octets);
	free(disk->changes);
	disk->changes = NULL;
	disk->n_changes = 0;
}

static void
sync_disk(struct disk *disk)
{
	forget_changes(disk);
	free(disk->synced);
	read_whole(disk->path, &disk->synced, &disk->n_synced);
}

static struct disk *
disk_of(const char *path)
{
	struct disk *disk;

	for (size_t i = 0; i < power.n_disks; i++) {
		if (strcmp(power.disks[i].path, path) == 0)
			return &power.disks[i];
	}
	if (power.n_disks == FILES_MAX)
		abort();
	disk = &power.disks[power.n_disks++];
	*disk = (struct disk){0};
	snprintf(disk->path, sizeof(disk->path), "%s", path);
	sync_disk(disk);
	return disk;
}

static void
remember(struct disk *disk, int64_t offset, const void *octets, size_t n)
{
	struct change *change;

	disk->changes = realloc(disk->changes, (disk->n_changes + 1) * sizeof(*disk->changes));
	if (!disk->changes)
		abort();
	change = &disk->changes[disk->n_changes++];
	*change = (struct change){.offset = offset, .n = n};
	if (octets) {
		change->octets = malloc(n);
		if (!change->octets)
			abort();
		memcpy(change->octets, octets, n);
	}
}

/* Counts an operation. True: the power goes with it, so it is not known what of it happens. */
static bool
cuts(void)
{
	power.done++;
	if (power.off || power.left == POWER_CUT_NEVER)
		return power.off;
	power.off = --power.left == 0;
	return power.off;
}

/* ---- a file ---- */

static int
file_close(sqlite3_file *file)
{
	int rc = real_of(file)->pMethods ? real_of(file)->pMethods->xClose(real_of(file)) : SQLITE_OK;

	free(real_of(file));
	return rc;
}

static int
file_read(sqlite3_file *file, void *to, int n, sqlite3_int64 offset)
{
	return power.off ? SQLITE_IOERR_READ : real_of(file)->pMethods->xRead(real_of(file), to, n, offset);
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int
file_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 offset)
{
	struct disk *disk = ((struct file *)(void *)file)->disk;
	bool was_off = power.off, cut = cuts();
	sqlite3_int64 size = 0;

	if (was_off)
		return SQLITE_IOERR_WRITE;
	if (power.full && (file_size(file, &size) != SQLITE_OK || offset + n > size))
		return SQLITE_FULL;
	remember(disk, offset, from, (size_t)n);
	return cut ? SQLITE_IOERR_WRITE
		   : real_of(file)->pMethods->xWrite(real_of(file), from, n, offset);
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	bool was_off = power.off, cut = cuts();

	if (was_off)
		return SQLITE_IOERR_TRUNCATE;
	remember(((struct file *)(void *)file)->disk, size, NULL, 0);
	return cut ? SQLITE_IOERR_TRUNCATE
		   : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int
file_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	if (cuts())
		return SQLITE_IOERR_FSYNC;
	sync_disk(((struct file *)(void *)file)->disk); /* the system's own sync would only take time */
	return SQLITE_OK;
}

static int
file_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int
file_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int
file_check_lock(sqlite3_file *file, int *result)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int
file_control(sqlite3_file *file, int operation, void *argument)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int
file_sector_size(sqlite3_file *file)
{
	(void)file;
	return SECTOR;
}

static int
file_characteristics(sqlite3_file *file)
{
	(void)file;
	return 0; /* nothing is promised, not even that a sector is written whole with its neighbours */
}

/* Version 1: without shared memory, as a file that is locked for one process needs none. */
static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
};

/* ---- the way to files ---- */

static int
vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags)
{
	struct file *f = (struct file *)(void *)file;
	int rc;

	(void)vfs;
	f->base.pMethods = NULL;
	if (power.off)
		return SQLITE_CANTOPEN;
	f->real = calloc(1, (size_t)power.real->szOsFile);
	if (!f->real)
		return SQLITE_NOMEM;
	rc = power.real->xOpen(power.real, path, f->real, flags, out_flags);
	if (rc != SQLITE_OK) {
		free(f->real);
		return rc;
	}
	f->disk = disk_of(path ? path : "temporary");
	f->base.pMethods = &file_methods;
	return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
	(void)vfs;
	if (cuts())
		return SQLITE_IOERR_DELETE;
	return power.real->xDelete(power.real, path, sync_directory);
}

int
power_cut_register(void)
{
	static sqlite3_vfs vfs;

	power.real = sqlite3_vfs_find(NULL);
	if (!power.real)
		return -1;
	vfs = *power.real;
	vfs.iVersion = 1;
	vfs.zName = POWER_CUT_VFS;
	vfs.szOsFile = (int)sizeof(struct file);
	vfs.pNext = NULL;
	vfs.xOpen = vfs_open;
	vfs.xDelete = vfs_delete;
	return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? 0 : -1;
}

/* ---- the power ---- */

void
power_cut_after(uint64_t n)
{
	for (size_t i = 0; i < power.n_disks; i++) {
		forget_changes(&power.disks[i]);
		free(power.disks[i].synced);
	}
	power.n_disks = 0;
	power.left = n;
	power.done = 0;
	power.off = false;
}

bool
power_cut_is_off(void)
{
	return power.off;
}

uint64_t
power_cut_operations(void)
{
	return power.done;
}

void
power_cut_fill(bool full)
{
	power.full = full;
}

struct image {
	uint8_t *octets;
	size_t n;
};

static void
resize(struct image *image, size_t n)
{
	image->octets = realloc(image->octets, n + 1);
	if (!image->octets)
		abort();
	if (n > image->n)
		memset(image->octets + image->n, 0, n - image->n);
	image->n = n;
}

/* Every sector of a write reaches the disk or not, as the draw will have it. */
static void
apply(struct image *image, const struct change *change, uint64_t (*random)(void))
{
	uint64_t fate = random() % 4; /* 0, 1: all of it; 2: sectors; 3: nothing */

	if (fate == 3)
		return;
	if (!change->octets) {
		resize(image, (size_t)change->offset);
		return;
	}
	for (size_t i = 0; i < change->n; i += SECTOR) {
		size_t n = change->n - i < SECTOR ? change->n - i : SECTOR;
		size_t at = (size_t)change->offset + i;

		if (fate == 2 && random() % 2)
			continue;
		if (at + n > image->n)
			resize(image, at + n);
		memcpy(image->octets + at, change->octets + i, n);
	}
}

void
power_cut_restore(uint64_t (*random)(void))
{
	for (size_t i = 0; i < power.n_disks; i++) {
		struct disk *disk = &power.disks[i];
		struct image image = {0};
		FILE *file;

		resize(&image, disk->n_synced);
		if (disk->n_synced > 0)
			memcpy(image.octets, disk->synced, disk->n_synced);
		for (size_t j = 0; j < disk->n_changes; j++)
			apply(&image, &disk->changes[j], random);
		file = fopen(disk->path, "w");
		if (!file || fwrite(image.octets, 1, image.n, file) != image.n || fclose(file) != 0)
			abort();
		free(image.octets);
	}
	power_cut_after(POWER_CUT_NEVER);
}
