/*
 * How a daemon that root starts drops privilege. Before it reads anything from outside, it changes
 * to a user of its own and keeps only the capabilities that it needs to open things; when all is
 * open, it keeps only those that its work needs. A daemon started by another user stays that user
 * and keeps the capabilities that it was given.
 *
 * CAP_DAC_OVERRIDE, with which a process opens everybody's files, can be kept in reserve: in force only
 * between privilege_raise and privilege_lower, around one system call. Else whoever can put a link
 * where the daemon writes would have it write through the link.
 *
 * Each thread has its own capabilities, so call privilege_keep before the first thread is made.
 */
#ifndef EASE_COMMON_PRIVILEGE_H
#define EASE_COMMON_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PRIVILEGE_NAME = 64 }; /* octets of a user's name with its NUL */

struct privilege_user {
	char name[PRIVILEGE_NAME]; /* "": the user that we are already */
	uid_t uid;
	gid_t gid;
	bool changes; /* we are root, and this is another user */
	bool missing; /* we are root and stay root: this machine has no user for that daemon */
};

/* Finds the user to change to, from user and group of the configuration. If user is "", that is the
 * daemon's own user, if this machine has it; else root stays root. If group is "", it is the
 * user's. 0, or -ENOENT with the reason in error. */
int privilege_find(const char *user, const char *group, const char *own,
    struct privilege_user *found, char *error, size_t error_size);

/* Makes dir, owned by that user, if it does not exist; its parent must exist. Follows no link. 0 or
 * -errno. */
int privilege_make_directory(const struct privilege_user *user, const char *dir);

/* Changes to the user and keeps the n given capabilities (CAP_…) of root's, and what privilege_keep
 * needs; with reserve, also CAP_DAC_OVERRIDE in reserve. Does nothing if the user does not change. 0,
 * or -errno: the daemon must then end. */
int privilege_become(const struct privilege_user *user, const unsigned *capabilities, size_t n,
    bool reserve);

/* Drops all capabilities but these, each of which it must have, and the reserve, and every way to gain
 * new ones. 0, or -errno if nothing was dropped. */
int privilege_keep(const unsigned *capabilities, size_t n, bool reserve);

/* Puts CAP_DAC_OVERRIDE in force for the calling thread, if it is in reserve. True if it did: then
 * call privilege_lower. */
bool privilege_raise(void);
void privilege_lower(void);

bool privilege_has(unsigned capability);

/* Adds "CAP_BPF, CAP_PERFMON" to text. */
void privilege_names(char *text, size_t size, const unsigned *capabilities, size_t n);

#endif
