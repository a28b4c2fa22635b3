#ifndef TOOLBUILD_H
#define TOOLBUILD_H

/// The commit that the tool was built from, or NULL if Scripts/build did not write it.
const char *_Nullable toolbuild_commit(void);

/// Removes the variable with which the Swift runtime has started although there is no /proc. Called before any thread
/// and any child.
void toolbuild_unset_root(void);

/// The version of the C library in use, or NULL if it is not glibc.
const char *_Nullable toolbuild_glibc(void);

#endif
