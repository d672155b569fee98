#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNTPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int nt_exchange_paths(const char *a, const char *b) {
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}
