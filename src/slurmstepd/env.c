/* SPDX-License-Identifier: Apache-2.0 */
/* A list of entries, searched by name: some 100 entries, set once, cost less than any index. */
#include "slurmstepd/env.h"

#include <string.h>

void env_init(struct env *env, struct arena *arena) {
    *env = (struct env) {.arena = arena};
}

void env_done(struct env *env) {
    vec_done(&env->entries);
}

static char **env_find(const struct env *env, const char *name, size_t length) {
    for (size_t i = 0; i < env->entries.n; i++) {
        char *entry = env->entries.items[i];
        if (entry[0] == name[0] && strncmp(entry, name, length) == 0 && entry[length] == '=')
            return &env->entries.items[i];
    }
    return NULL;
}

static void env_put(struct env *env, char *entry, size_t name_length) {
    char **old = env_find(env, entry, name_length);

    if (old)
        *old = entry;
    else
        vec_push(&env->entries, entry);
}

void env_load(struct env *env, struct blob block) {
    const char *at = (const char *) block.data, *end = at + block.size;

    while (at < end) {
        size_t length = strnlen(at, (size_t) (end - at));
        const char *equals = memchr(at, '=', length);
        if (equals && equals != at)
            env_put(env, arena_strndup(env->arena, at, length), (size_t) (equals - at));
        at += length + 1;
    }
}

void env_copy(struct env *dst, const struct env *src) {
    env_init(dst, src->arena);
    vec_reserve(&dst->entries, src->entries.n + 16);
    if (src->entries.n)
        memcpy(dst->entries.items, src->entries.items, src->entries.n * sizeof(char *));
    dst->entries.n = src->entries.n;
}

const char *env_get(const struct env *env, const char *name) {
    size_t length = strlen(name);
    char **entry = env_find(env, name, length);

    return entry ? *entry + length + 1 : NULL;
}

void env_set(struct env *env, const char *name, const char *value) {
    size_t name_length = strlen(name), value_length;
    char *entry;

    if (!value)
        return;
    value_length = strlen(value);
    entry = arena_alloc(env->arena, name_length + value_length + 2);
    memcpy(entry, name, name_length);
    entry[name_length] = '=';
    memcpy(entry + name_length + 1, value, value_length);
    env_put(env, entry, name_length);
}

void env_set_u64(struct env *env, const char *name, uint64_t value) {
    cleanup_str struct str text = STR_INIT;

    str_append_u64(&text, value);
    env_set(env, name, str_cstr(&text));
}

void env_unset(struct env *env, const char *name) {
    char **entry = env_find(env, name, strlen(name));

    if (entry)
        vec_remove(&env->entries, (size_t) (entry - env->entries.items));
}

char **env_array(struct env *env) {
    vec_reserve(&env->entries, 1);
    env->entries.items[env->entries.n] = NULL;
    return env->entries.items;
}
