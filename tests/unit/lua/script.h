/* SPDX-License-Identifier: Apache-2.0 */
/* A script in a file that goes away with the test. */
#ifndef SLUICE_UNIT_LUA_SCRIPT_H
#define SLUICE_UNIT_LUA_SCRIPT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct script {
    char path[64];
};

static inline void script_done(struct script *script) {
    unlink(script->path);
}
#define cleanup_script __attribute__((__cleanup__(script_done)))

static inline void script_write(struct script *script, const char *text) {
    FILE *file = fopen(script->path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static inline struct script script_of(const char *text) {
    struct script script = {"/tmp/sluice-lua-XXXXXX"};
    int fd = mkstemp(script.path);
    assert_true(fd >= 0);
    close(fd);
    script_write(&script, text);
    return script;
}

#endif
