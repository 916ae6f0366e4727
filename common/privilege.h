/*
 * Privilege of a daemon that root starts: it becomes a user of its own before anything from outside
 * is read, keeps of root's capabilities those that opening needs, and when all is open those that
 * its work needs, for good. Started by another user it stays that one, with what it was given.
 *
 * Capabilities are a thread's own: privilege_keep comes before the first thread is made.
 */
#ifndef EASE_COMMON_PRIVILEGE_H
#define EASE_COMMON_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PRIVILEGE_NAME = 64 }; /* octets of a user's name with its NUL */

struct privilege_user {
	char name[PRIVILEGE_NAME]; /* "" for whoever we are already */
	uid_t uid;
	gid_t gid;
	bool changes; /* we are root, and this is another user */
	bool missing; /* we are root and stay it, since this machine has no user of that daemon's */
};

/* Whom to become: user and group as the configuration has them. user "": the daemon's own one, if
 * this machine has it, else root stays root; group "": the user's. 0, or -ENOENT with the reason
 * in error. */
int privilege_find(const char *user, const char *group, const char *own,
    struct privilege_user *found, char *error, size_t error_size);

/* Makes dir for that user if it is not there; its parents must be. 0 or -errno. */
int privilege_make_directory(const struct privilege_user *user, const char *dir);

/* Becomes the user and keeps of root's capabilities the n given ones (CAP_…) and what
 * privilege_keep needs. Nothing if the user does not change. 0, or -errno: do not go on. */
int privilege_become(const struct privilege_user *user, const unsigned *capabilities, size_t n);

/* Gives up all capabilities but these, of which it must have each, and any way to new ones. 0, or
 * -errno: nothing was given up. */
int privilege_keep(const unsigned *capabilities, size_t n);

bool privilege_has(unsigned capability);

/* Adds "CAP_BPF, CAP_PERFMON" to text. */
void privilege_names(char *text, size_t size, const unsigned *capabilities, size_t n);

#endif
