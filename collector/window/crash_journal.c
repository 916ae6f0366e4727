#include "collector/window/crash_journal.h"
#include "common/log.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROOM	"crash journal"
#define PREFIX	"easecapd-"
#define UNPUBLISHED ".new"
#define ORPHAN_US (600 * UINT64_C(1000000)) /* since the newest record. *assumed* */

enum {
	FILE_MODE = 0600,
	SLOTS_AT_ONCE = 64, /* allocated together, 80 KiB: a few ports take little memory */
};

/* The version of the layout, and the sizes of the structs as a check. */
#define LAYOUT                                                                                     \
	(1ull << 32 | sizeof(struct crash_journal_slot) << 16 | sizeof(struct crash_journal_header))

static size_t
mapped_octets(uint64_t slots)
{
	return sizeof(struct crash_journal_header) + slots * sizeof(struct crash_journal_slot);
}

uint64_t
crash_journal_memory(uint32_t max_slots)
{
	return mapped_octets(max_slots);
}

int
crash_journal_init(struct crash_journal *j, uint32_t max_slots)
{
	void *at = mmap(NULL, mapped_octets(max_slots), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*j = (struct crash_journal){.fd = -1};
	if (at == MAP_FAILED)
		return -ENOMEM;
	j->max_slots = max_slots;
	j->header = at;
	j->slots = (struct crash_journal_slot *)(j->header + 1);
	return 0;
}

void
crash_journal_free(struct crash_journal *j)
{
	if (j->header)
		munmap(j->header, mapped_octets(j->max_slots));
	if (j->fd >= 0)
		close(j->fd);
	*j = (struct crash_journal){.fd = -1};
}

static void
back_slots(struct crash_journal *j, uint32_t n)
{
	size_t have = mapped_octets(j->backed), need;

	n = (n + SLOTS_AT_ONCE - 1) / SLOTS_AT_ONCE * SLOTS_AT_ONCE;
	if (n > j->max_slots)
		n = j->max_slots;
	need = mapped_octets(n);
	assert(n > j->backed);
	if (j->fd >= 0 && posix_fallocate(j->fd, (off_t)have, (off_t)(need - have)) != 0) {
		/* Shared memory is full. Slots beyond what it gave move to private memory, because an access to
		 * them in the file would be a SIGBUS. */
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		size_t from = (have + page - 1) / page * page, to = mapped_octets(j->max_slots);

		log_warn(ROOM,
		    "the memory for files is full: the crash journal %s has room for %u ports; after a "
		    "crash, samples of other ports that were not stored count as lost in the network",
		    j->name, j->backed / 2);
		if (from < to)
			mmap((char *)j->header + from, to - from, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		j->backed = j->max_slots;
		return;
	}
	j->backed = n;
	j->header->n_slots = n;
}

struct crash_journal_slot *
crash_journal_slot(struct crash_journal *j, uint32_t i)
{
	assert(i < j->max_slots && j->backed <= j->max_slots);
	if (i >= j->backed)
		back_slots(j, i + 1);
	return &j->slots[i];
}

/* Sharing */

/* On a disk, writing to a page under write-back would block. */
static const char *
directory_of(void)
{
	const char *runtime = getenv("RUNTIME_DIRECTORY");
	struct statfs fs;

	return runtime && *runtime == '/' && strlen(runtime) < CRASH_JOURNAL_NAME / 2 &&
		statfs(runtime, &fs) == 0 && fs.f_type == TMPFS_MAGIC
	    ? runtime
	    : "/dev/shm";
}

/* Opens the file if it is a regular file of our user and no other process has locked it. */
static int
open_ours(const char *path, int *fd)
{
	struct stat st;
	int r = 0;

	*fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		r = -EPERM;
	else if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
		r = -EBUSY;
	if (r < 0)
		close(*fd);
	return r;
}

static bool
read_header(int fd, struct crash_journal_header *header)
{
	struct stat st;

	return pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
	    header->layout == LAYOUT && fstat(fd, &st) == 0 && header->n_slots <= UINT32_MAX &&
	    mapped_octets(header->n_slots) <= (uint64_t)st.st_size;
}

static int
read_past(int fd, int64_t store_id, struct crash_journal_past *past)
{
	struct crash_journal_header header;
	size_t octets;

	if (!read_header(fd, &header) || header.store_id != (uint64_t)store_id)
		return -EBADMSG;
	octets = header.n_slots * sizeof(*past->slots);
	past->slots = malloc(octets + 1);
	if (!past->slots)
		return -ENOMEM;
	if (pread(fd, past->slots, octets, sizeof(header)) != (ssize_t)octets)
		return -EIO;
	past->crashed = true;
	past->n_slots = header.n_slots;
	past->last_received_us = header.last_received_us;
	return 0;
}

static bool
is_orphan(const char *path, uint64_t now_us)
{
	struct crash_journal_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool whole = fd >= 0 && read_header(fd, &header) &&
	    memchr(header.store, '\0', sizeof(header.store));

	if (fd >= 0)
		close(fd);
	return whole && header.last_received_us + ORPHAN_US < now_us && access(header.store, F_OK) < 0 && errno == ENOENT;
}

/* Removes the journal of a store that was deleted after a crash. Other journals are not even locked
 * for a look: a collector that starts at this moment may need its own. So may one whose store cannot be seen from
 * here, as in another container, for as long as a restart takes. */
static void
remove_if_orphan(const char *path, uint64_t now_us)
{
	int fd;

	if (!is_orphan(path, now_us) || open_ours(path, &fd) < 0)
		return;
	unlink(path);
	close(fd);
}

/* A file of our store: a journal, or one that was never published. */
static int
take_ours(struct crash_journal *j, const char *path, int *fd)
{
	size_t n = strlen(path), ending = sizeof(UNPUBLISHED) - 1;
	int err = open_ours(path, fd);

	if (err == -EPERM || err == -ELOOP || err == -EACCES || err == -ENXIO)
		return -ENOENT; /* of another user: no journal of ours */
	if (err == 0 && n > ending && strcmp(path + n - ending, UNPUBLISHED) == 0) {
		unlink(path);
		close(*fd);
		return -ENOENT;
	}
	if (err == 0)
		snprintf(j->name, sizeof(j->name), "%s", path);
	return err;
}

/* Finds the journal that an earlier collector of the store left, and removes those that no store needs.
 * Returns 0 with *fd, -ENOENT if there is none, -EBUSY if another process has it. */
static int
find_past(struct crash_journal *j, int64_t store_id, uint64_t now_us, int *fd)
{
	DIR *directory = opendir(directory_of());
	struct dirent *entry;
	char prefix[sizeof(PREFIX) + 16];
	int found = directory ? -ENOENT : -errno;

	snprintf(prefix, sizeof(prefix), PREFIX "%016llx", (unsigned long long)store_id);
	while (directory && found == -ENOENT && (entry = readdir(directory)) != NULL) {
		char path[CRASH_JOURNAL_NAME];

		if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", directory_of(), entry->d_name) >=
			(int)sizeof(path))
			continue;
		if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) == 0)
			found = take_ours(j, path, fd);
		else
			remove_if_orphan(path, now_us);
	}
	if (directory)
		closedir(directory);
	return found;
}

static void
make_name(char name[CRASH_JOURNAL_NAME], int64_t store_id, const char *ending)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)getpid();
	snprintf(name, CRASH_JOURNAL_NAME, "%s/" PREFIX "%016llx.%08x%s", directory_of(),
	    (unsigned long long)store_id, random, ending);
}

/* Copies the slots into a new file and maps it at the same addresses. */
static int
move_into_file(struct crash_journal *j)
{
	size_t used = mapped_octets(j->backed), all = mapped_octets(j->max_slots);
	int fd;

	fd = open(j->new_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || posix_fallocate(fd, 0, (off_t)used) != 0 ||
	    ftruncate(fd, (off_t)all) < 0 ||
	    pwrite(fd, j->header, used, 0) != (ssize_t)used ||
	    mmap(j->header, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED) {
		unlink(j->new_name);
		close(fd);
		return -ENOSPC;
	}
	j->fd = fd;
	return 0;
}

int
crash_journal_share(struct crash_journal *j, int64_t store_id, const char *store_path,
    uint64_t now_us, struct crash_journal_past *past)
{
	char *absolute;
	int fd, r;

	*past = (struct crash_journal_past){0};
	make_name(j->name, store_id, "");
	make_name(j->new_name, store_id, UNPUBLISHED);
	r = find_past(j, store_id, now_us, &fd);
	if (r == 0) {
		r = read_past(fd, store_id, past);
		if (r < 0 && r != -ENOMEM)
			log_warn(ROOM,
			    "%s cannot be read: it is not known which samples the previous "
			    "collector lost",
			    j->name);
		close(fd);
	}
	if (r < 0 && r != -ENOENT && r != -EBADMSG && r != -EIO)
		return r;
	j->header->layout = LAYOUT;
	j->header->store_id = (uint64_t)store_id;
	j->header->n_slots = j->backed;
	absolute = realpath(store_path, NULL);
	snprintf(j->header->store, sizeof(j->header->store), "%s", absolute ? absolute : "/");
	free(absolute);
	return move_into_file(j);
}

int
crash_journal_publish(struct crash_journal *j)
{
	if (j->fd < 0)
		return 0;
	return rename(j->new_name, j->name) < 0 ? -errno : 0;
}

void
crash_journal_rename(struct crash_journal *j, int64_t store_id)
{
	char before[sizeof(j->name)];

	memcpy(before, j->name, sizeof(before));
	make_name(j->name, store_id, "");
	j->header->store_id = (uint64_t)store_id;
	if (j->fd >= 0 && rename(before, j->name) < 0)
		log_warn(ROOM, "cannot rename %s to %s: %s", before, j->name, strerror(errno));
}

void
crash_journal_remove(struct crash_journal *j)
{
	if (j->fd >= 0)
		unlink(j->name);
}
