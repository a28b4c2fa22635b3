#ifndef TOOLBUILD_H
#define TOOLBUILD_H

/// The commit that the tool was built from, or NULL if the build did not say. Scripts/build passes it to the manifest as
/// SECRETPREFS_COMMIT.
const char *_Nullable toolbuild_commit(void);

/// The version of the C library in use, or NULL if it is not glibc.
const char *_Nullable toolbuild_glibc(void);

#endif
