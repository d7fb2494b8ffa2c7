/* SPDX-License-Identifier: Apache-2.0 */
/* Building effects: bodies are encoded into the batch's arena at once. */
#include "core/effect.h"

#include <stdio.h>
#include <string.h>

#include "core/state.h"

void effects_init(struct effects *effects) {
    memset(effects, 0, sizeof(*effects));
    arena_init(&effects->memory, 0);
}

void effects_done(struct effects *effects) {
    vec_done(&effects->list);
    arena_done(&effects->memory);
}

bool effects_need_store(const struct effects *effects) {
    for (size_t i = 0; i < effects->list.n; i++) {
        enum effect_kind kind = effects->list.items[i].kind;
        if (kind == EFFECT_PUT || kind == EFFECT_DELETE || kind == EFFECT_HISTORY)
            return true;
    }
    return false;
}

struct effect *emit(struct core *core, enum effect_kind kind) {
    struct effect *effect = vec_add(&core->out->list);
    effect->kind = kind;
    return effect;
}

#define ENCODED_USUALLY 1000 /* bytes: a job has fewer */

struct bytes effect_encode(struct core *core, const struct record *record, const void *object) {
    struct str out cleanup_str = STR_INIT;
    str_reserve(&out, ENCODED_USUALLY);
    wire_encode(record, object, NULL, &out);
    if (out.length == 0)
        return (struct bytes) {NULL, 0};
    char *copy = arena_strndup(&core->out->memory, out.data, out.length);
    return (struct bytes) {(const uint8_t *) copy, out.length};
}

void emit_reply(struct core *core, uint64_t client, uint16_t type, uint16_t flags, uint32_t seq,
                const void *body) {
    if (client == 0)
        return;
    struct bytes bytes =
        body != NULL ? effect_encode(core, message_record(type), body) : (struct bytes) {NULL, 0};
    struct effect *effect = emit(core, EFFECT_REPLY);
    effect->client = client;
    effect->type = type;
    effect->flags = flags;
    effect->seq = seq;
    effect->body = bytes;
}

void emit_reply_error(struct core *core, uint64_t client, uint32_t seq,
                      const struct reply_error *reply) {
    emit_reply(core, client, MSG_ERROR, 1, seq, reply);
}

void emit_error(struct core *core, uint64_t client, uint32_t seq, int code, const char *detail) {
    struct reply_error reply;
    record_init(&record_reply_error, &reply);
    reply.code = (uint32_t) (code < 0 ? -code : code);
    reply.detail = (char *) (uintptr_t) detail; /* only encoded */
    emit_reply_error(core, client, seq, &reply);
}

void emit_node(struct core *core, uint32_t node, uint16_t type, const void *body) {
    if (!core->nodes[node].connected)
        return;
    struct bytes bytes =
        body != NULL ? effect_encode(core, message_record(type), body) : (struct bytes) {NULL, 0};
    struct effect *effect = emit(core, EFFECT_NODE);
    effect->node = node;
    effect->type = type;
    effect->body = bytes;
}

void emit_grant(struct core *core, uint64_t client, uint32_t seq, uint16_t type, const void *body,
                struct bytes credential) {
    struct bytes bytes = effect_encode(core, message_record(type), body);
    struct effect *effect = emit(core, EFFECT_GRANT);
    effect->client = client;
    effect->seq = seq;
    effect->type = type;
    effect->flags = 1;
    effect->body = bytes;
    effect->credential = credential;
}

void emit_log(struct core *core, enum effect_level level, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    struct effect *effect = emit(core, EFFECT_LOG);
    effect->level = level;
    effect->text = arena_strdup(&core->out->memory, text);
}

void emit_put(struct core *core, uint32_t kind, uint64_t id, const struct record *record,
              const void *object) {
    struct bytes bytes = effect_encode(core, record, object);
    struct effect *effect = emit(core, EFFECT_PUT);
    effect->store_kind = kind;
    effect->id = id;
    effect->body = bytes;
}

void emit_delete(struct core *core, uint32_t kind, uint64_t id) {
    struct effect *effect = emit(core, EFFECT_DELETE);
    effect->store_kind = kind;
    effect->id = id;
}
