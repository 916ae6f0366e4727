#include "common/privilege.h"
#include "common/text.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int
privilege_find_group(const char *group, struct privilege_user *found, char *error, size_t error_size)
{
	const struct group *entry = getgrnam(group);

	if (!entry) {
		snprintf(error, error_size, "run_as_group: this machine has no group \"%s\"", group);
		return -ENOENT;
	}
	found->gid = entry->gr_gid;
	return 0;
}

int
privilege_find(const char *user, const char *group, const char *own,
    struct privilege_user *found, char *error, size_t error_size)
{
	const struct passwd *entry;

	*found = (struct privilege_user){.uid = geteuid(), .gid = getegid()};
	if (geteuid() != 0)
		return 0;
	entry = getpwnam(*user ? user : own);
	if (!entry && *user) {
		snprintf(error, error_size, "run_as: this machine has no user \"%s\"", user);
		return -ENOENT;
	}
	found->missing = !entry;
	if (!entry || entry->pw_uid == 0)
		return 0;
	found->changes = true;
	found->uid = entry->pw_uid;
	found->gid = entry->pw_gid;
	snprintf(found->name, sizeof(found->name), "%s", entry->pw_name);
	return *group ? privilege_find_group(group, found, error, error_size) : 0;
}

int
privilege_make_directory(const struct privilege_user *user, const char *dir)
{
	if (mkdir(dir, 0750) < 0)
		return errno == EEXIST ? 0 : -errno;
	return user->changes && lchown(dir, user->uid, user->gid) < 0 ? -errno : 0;
}

static void
select_capabilities(const unsigned *capabilities, size_t n, bool reserve)
{
	capng_clear(CAPNG_SELECT_BOTH);
	for (size_t i = 0; i < n; i++)
		(void)capng_update(CAPNG_ADD,
		    CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, capabilities[i]);
	if (reserve)
		(void)capng_update(CAPNG_ADD, CAPNG_PERMITTED | CAPNG_BOUNDING_SET, CAP_DAC_OVERRIDE);
}

/* We do not use capng_change_id, because it drops the capability that empties the bounding set. */
static int
change_ids(const struct privilege_user *user)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || initgroups(user->name, user->gid) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}

int
privilege_become(const struct privilege_user *user, const unsigned *capabilities, size_t n, bool reserve)
{
	int r = user->changes ? change_ids(user) : 0;

	if (!user->changes || r < 0)
		return r;
	capng_get_caps_process();
	select_capabilities(capabilities, n, reserve);
	(void)capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SETPCAP);
	return capng_apply(CAPNG_SELECT_CAPS) < 0 ? -EPERM : 0;
}

bool
privilege_has(unsigned capability)
{
	capng_get_caps_process();
	return capng_have_capability(CAPNG_PERMITTED, capability);
}

int
privilege_keep(const unsigned *capabilities, size_t n, bool reserve)
{
	bool bounds;

	capng_get_caps_process();
	bounds = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
	select_capabilities(capabilities, n, reserve);
	if (capng_apply(bounds ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) < 0)
		return -EPERM;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return 0;
}

bool
privilege_raise(void)
{
	capng_get_caps_process();
	return capng_have_capability(CAPNG_PERMITTED, CAP_DAC_OVERRIDE) &&
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE) &&
	    capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE) == 0 &&
	    capng_apply(CAPNG_SELECT_CAPS) == 0;
}

void
privilege_lower(void)
{
	capng_get_caps_process();
	(void)capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_DAC_OVERRIDE);
	if (capng_apply(CAPNG_SELECT_CAPS) < 0)
		abort(); /* a thread may always drop what it has */
}

void
privilege_names(char *text, size_t size, const unsigned *capabilities, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = capng_capability_to_name(capabilities[i]);

		text_add(text, size, "%sCAP_", *text ? ", " : "");
		for (; name && *name; name++)
			text_add(text, size, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
	}
}
