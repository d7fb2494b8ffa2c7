/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing values: from the text in a file to the member that a row describes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "model/conf_keys.h"
#include "model/conf_table.h"
#include "text/duration.h"
#include "text/size.h"

/* ---- Words ---- */

/* The part of "select/cons_tres" behind the slash; the prefix may be left out. */
static const char *word_tail(const char *word) {
    const char *slash = strchr(word, '/');
    return slash != NULL ? slash + 1 : word;
}

static bool word_matches(const struct conf_word *word, const char *text, size_t length,
                         bool *ret_has_value) {
    const char *name = word->name;
    size_t name_length = strlen(name);
    *ret_has_value = name[name_length - 1] == '=';
    if (*ret_has_value)
        return length >= name_length - 1 && strncasecmp(name, text, name_length - 1) == 0 &&
               (length == name_length - 1 || text[name_length - 1] == '=');
    if (length == name_length && strncasecmp(name, text, length) == 0)
        return true;
    const char *tail = word_tail(name);
    return tail != name && strlen(tail) == length && strncasecmp(tail, text, length) == 0;
}

static const struct conf_word *word_find(const struct conf_vocabulary *words, const char *text,
                                         size_t length, bool *ret_has_value) {
    for (size_t i = 0; i < words->n; i++) {
        if (words->words[i].name[0] != '(' &&
            word_matches(&words->words[i], text, length, ret_has_value))
            return &words->words[i];
    }
    return NULL;
}

/* "a, b or c", long lists cut. */
static void words_list(const struct conf_vocabulary *words, struct str *out) {
    const size_t most = 16;
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++) {
        const struct conf_word *word = &words->words[i];
        if (word->alias || word->name[0] == '(' || word->effect == CONF_REFUSED)
            continue;
        if (n == most) {
            str_append(out, " …");
            return;
        }
        if (n++ > 0)
            str_append(out, ", ");
        str_append(out, word->name);
    }
}

/* Compares what stands behind the slash only, where words differ; NULL when none is near. */
static const char *word_nearest(const struct conf_vocabulary *words, const char *text) {
    const char *tails[CONF_NEAREST_MAX], *names[CONF_NEAREST_MAX];
    size_t n = 0;
    for (size_t i = 0; i < words->n && n < CONF_NEAREST_MAX; i++) {
        if (words->words[i].alias || words->words[i].effect == CONF_REFUSED)
            continue;
        names[n] = words->words[i].name;
        tails[n] = word_tail(names[n]);
        n++;
    }
    if (n == 0)
        return NULL;
    const char *nearest = str_nearest(word_tail(text), tails, n);
    for (size_t i = 0; nearest != NULL && i < n; i++) {
        if (tails[i] == nearest)
            return names[i];
    }
    return NULL;
}

static void word_unknown(const struct conf_key *key, const char *text,
                         const struct conf_context *context) {
    const char *nearest = word_nearest(key->words, text);
    cleanup_str struct str list = STR_INIT;
    words_list(key->words, &list);
    if (nearest != NULL)
        conf_error(context, "%s: \"%s\" is not known (did you mean \"%s\"?); the values are %s",
                   key->name, text, nearest, str_cstr(&list));
    else
        conf_error(context, "%s: \"%s\" is not known; the values are %s", key->name, text,
                   str_cstr(&list));
}

/* Says what a known word's effect is; false when it is refused. */
static bool word_accept(const struct conf_key *key, const struct conf_word *word, const char *text,
                        const struct conf_context *context) {
    switch (word->effect) {
    case CONF_NOT_YET:
        if (key->effect != CONF_NOT_YET)
            conf_notice(context, "%s: \"%s\" has no effect yet", key->name, text);
        return true;
    case CONF_OBSOLETE: {
        const char *used = conf_word_name(key->words, (unsigned) word->value);
        if (key->type == CONF_ENUM && used != NULL)
            conf_notice(context, "%s: \"%s\" is obsolete; \"%s\" is used", key->name, text, used);
        else
            conf_notice(context, "%s: \"%s\" is obsolete and has no effect", key->name, text);
        return true;
    }
    case CONF_REFUSED: {
        cleanup_str struct str list = STR_INIT;
        words_list(key->words, &list);
        conf_error(context, "%s: \"%s\" is not supported; the values are %s", key->name, text,
                   str_cstr(&list));
        return false;
    }
    case CONF_HONOURED:
    case CONF_NOT_NEEDED:
        break;
    }
    return true;
}

/* ---- Parsing values ---- */

static const char *keep(const struct conf_context *context, const char *text, size_t length) {
    return arena_strndup(context->arena, text, length);
}

static bool is_infinite_word(const char *value) {
    return strcasecmp(value, "INFINITE") == 0 || strcasecmp(value, "UNLIMITED") == 0 ||
           strcmp(value, "-1") == 0;
}

static void number_wrong(const struct conf_key *key, const char *value,
                         const struct conf_context *context) {
    const char *space = key->unit != NULL && key->unit[0] != '\0' ? " " : "";
    const char *unit = key->unit != NULL ? key->unit : "";
    if (key->type == CONF_MIB)
        conf_error(context,
                   "%s: \"%s\" is no amount of memory from %llu MiB up (MiB, or with K, M, "
                   "G, T)",
                   key->name, value, (unsigned long long) key->min);
    else if (key->max >= CONF_U64_MAX)
        conf_error(context, "%s: \"%s\" is not a number from %llu up%s%s", key->name, value,
                   (unsigned long long) key->min, space, unit);
    else
        conf_error(context, "%s: \"%s\" is not a number from %llu to %llu%s%s%s", key->name, value,
                   (unsigned long long) key->min,
                   (unsigned long long) min_of(key->max, (uint64_t) CONF_U32_MAX), space, unit,
                   key->max == CONF_INFINITE ? " or UNLIMITED" : "");
}

static bool number_parse(const struct conf_key *key, const char *value, uint64_t *ret,
                         const struct conf_context *context) {
    uint64_t number;
    bool ok;
    if (key->type == CONF_MIB)
        ok = is_infinite_word(value) ? (number = 0, true) : mem_parse(value, &number, NULL) == 0;
    else
        ok = str_to_u64(value, &number);
    if (ok && number >= key->min && number <= key->max &&
        !(key->max == CONF_INFINITE && number == CONF_INFINITE)) {
        *ret = number;
        return true;
    }
    if (key->max == CONF_INFINITE && is_infinite_word(value)) {
        *ret = CONF_INFINITE;
        return true;
    }
    number_wrong(key, value, context);
    return false;
}

static bool percent_parse(const struct conf_key *key, const char *value, double *ret,
                          const struct conf_context *context) {
    char *end;
    double number = strtod(value, &end);
    if (*end == '%')
        end++;
    if (end == value || *end != '\0' || !isdigit((unsigned char) value[0]) ||
        !(number >= (double) key->min && number <= (double) key->max)) {
        conf_error(context, "%s: \"%s\" is not a percentage from %llu to %llu", key->name, value,
                   (unsigned long long) key->min, (unsigned long long) key->max);
        return false;
    }
    *ret = number;
    return true;
}

/* YES and NO in the ways people write them; -1 when it is neither. */
static int bool_parse(const char *value) {
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"yes", true}, {"no", false}, {"true", true},  {"false", false}, {"1", true},
                 {"0", false},  {"up", true},  {"down", false}, {"on", true},     {"off", false},
                 {"y", true},   {"n", false},  {"t", true},     {"f", false}};
    for (size_t i = 0; i < countof(words); i++) {
        if (strcasecmp(value, words[i].word) == 0)
            return words[i].value;
    }
    return -1;
}

static bool bool_set(const struct conf_key *key, const char *value, bool *ret,
                     const struct conf_context *context) {
    int result = bool_parse(value);
    if (result < 0) {
        conf_error(context, "%s: \"%s\" is neither YES nor NO", key->name, value);
        return false;
    }
    *ret = result != 0;
    return true;
}

static bool enum_parse(const struct conf_key *key, const char *value, unsigned *ret,
                       const struct conf_context *context) {
    bool has_value;
    const struct conf_word *word = word_find(key->words, value, strlen(value), &has_value);
    if (word == NULL && context->lenient)
        return true; /* the default stays */
    if (word == NULL) {
        word_unknown(key, value, context);
        return false;
    }
    if (!word_accept(key, word, value, context))
        return false;
    *ret = (unsigned) word->value;
    return true;
}

/* Calls on each non-empty part of a comma list, blanks trimmed; parts are NUL-terminated. */
static char *list_next(char **cursor) {
    for (;;) {
        char *part = str_next_word(cursor, ",");
        if (part == NULL)
            return NULL;
        part = str_trim(part);
        if (*part != '\0')
            return part;
    }
}

static bool flags_parse(const struct conf_key *key, const char *value, uint64_t *ret,
                        const struct conf_context *context) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    uint64_t flags = 0;
    bool ok = true;
    for (char *part; (part = list_next(&cursor)) != NULL;) {
        bool has_value;
        const struct conf_word *word = word_find(key->words, part, strlen(part), &has_value);
        if (word == NULL && context->lenient)
            continue;
        if (word == NULL) {
            word_unknown(key, part, context);
            ok = false;
        } else if (has_value && strchr(part, '=') == NULL) {
            conf_error(context, "%s: \"%s\" needs a value: %sVALUE", key->name, part, word->name);
            ok = false;
        } else if (!word_accept(key, word, part, context)) {
            ok = false;
        } else {
            flags |= word->value;
        }
    }
    if (ok)
        *ret = flags;
    return ok;
}

static bool option_parse(const struct conf_key *owner, char *part, void *object,
                         const struct conf_context *context) {
    const struct conf_table *table = owner->options;
    char *equals = strchr(part, '=');
    const char *value = NULL;
    if (equals != NULL) {
        *equals = '\0';
        value = str_trim(equals + 1);
        part = str_trim(part);
    } else if (table->bare != NULL && isdigit((unsigned char) part[0])) {
        value = part;
        part = (char *) table->bare;
    } else if (table->bare_path != NULL && part[0] == '/') {
        value = part;
        part = (char *) table->bare_path;
    }
    const struct conf_key *key = conf_key_find(table, part, strlen(part));
    if (key == NULL && context->lenient)
        return true;
    if (key == NULL) {
        const char *nearest = conf_key_nearest(table, part);
        if (nearest != NULL)
            conf_error(context, "%s: unknown option \"%s\" (did you mean \"%s\"?)", owner->name,
                       part, nearest);
        else
            conf_error(context, "%s: unknown option \"%s\"", owner->name, part);
        return false;
    }
    if (value == NULL && key->type != CONF_SWITCH) {
        conf_error(context, "%s: option \"%s\" needs a value: %s=VALUE", owner->name, key->name,
                   key->name);
        return false;
    }
    /* Problems of the option's value name the key that it stands in. */
    cleanup_str struct str name = STR_INIT;
    str_printf(&name, "%s: %s", owner->name, key->name);
    struct conf_key named = *key;
    named.name = str_cstr(&name);
    if (!conf_value_parse(&named, value != NULL ? value : "yes", object, context))
        return false;
    if (key->effect == CONF_NOT_YET && owner->effect != CONF_NOT_YET &&
        !conf_value_is_default(key, object, table->defaults))
        conf_notice(context, "%s: option \"%s\" has no effect yet", owner->name, key->name);
    return true;
}

/* Does this part of the list set the option? */
static bool option_is_given(const struct conf_key *option, const char *value) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    for (char *part; (part = list_next(&cursor)) != NULL;) {
        part[strcspn(part, "=")] = '\0';
        if (strcasecmp(part, option->name) == 0)
            return true;
    }
    return false;
}

/* One notice for all options that there is no need for, those with the same reason together. */
static void not_needed_notice(const struct conf_key *owner, const char *value,
                              const struct conf_context *context) {
    const struct conf_table *table = owner->options;
    cleanup_str struct str text = STR_INIT;
    cleanup_free bool *told = xcalloc(table->n + 1, sizeof(bool));
    for (size_t i = 0; i < table->n; i++) {
        const char *reason = table->keys[i].help;
        bool first = true;
        for (size_t k = i; reason != NULL && k < table->n; k++) {
            const struct conf_key *option = &table->keys[k];
            if (told[k] || option->effect != CONF_NOT_NEEDED || !str_equal(option->help, reason) ||
                !option_is_given(option, value))
                continue;
            told[k] = true;
            str_printf(&text, "%s%s", !first ? ", " : text.length > 0 ? "; " : "", option->name);
            first = false;
        }
        if (!first)
            str_printf(&text, " (%s)", reason);
    }
    if (text.length > 0)
        conf_notice(context, "%s: not needed here: %s", owner->name, str_cstr(&text));
}

#define SIZE(type) [CONF_##type] = sizeof(CONF_MEMBER_##type)
static const size_t member_sizes[] = {
    SIZE(STRING),   SIZE(TEXT),  SIZE(LIST),  SIZE(NAMES), SIZE(BOOL),    SIZE(BIT),
    SIZE(SWITCH),   SIZE(U32),   SIZE(U64),   SIZE(MIB),   SIZE(PERCENT), SIZE(MINUTES),
    SIZE(DURATION), SIZE(AGE),   SIZE(ENUM),  SIZE(FLAGS), SIZE(WORDS),   SIZE(OPTIONS),
    SIZE(WEIGHTS),  SIZE(PORTS), SIZE(SHARE),
};
#undef SIZE

/* Of a key that is given again the last one counts, with all its options. */
static void options_reset(const struct conf_table *options, void *object) {
    for (size_t i = 0; i < options->n; i++) {
        const struct conf_key *option = &options->keys[i];
        if (!option->derived && option->same_as == NULL && option->effect != CONF_OBSOLETE)
            memcpy((char *) object + option->offset,
                   (const char *) options->defaults + option->offset, member_sizes[option->type]);
    }
}

static bool options_parse(const struct conf_key *key, const char *value, const char **member,
                          void *object, const struct conf_context *context) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    bool ok = true;
    options_reset(key->options, object);
    for (char *part; (part = list_next(&cursor)) != NULL;)
        ok &= option_parse(key, part, object, context);
    if (ok)
        not_needed_notice(key, value, context);
    *member = *value != '\0' ? keep(context, value, strlen(value)) : NULL;
    return ok;
}

/* CPU=1.0,Mem=0.25G,GRES/gpu=2 */
static bool weights_parse(const struct conf_key *key, const char *value, const char **member,
                          const struct conf_context *context) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    bool ok = true;
    for (char *part; (part = list_next(&cursor)) != NULL;) {
        char *equals = strchr(part, '=');
        char *end = NULL;
        if (equals != NULL && (isdigit((unsigned char) equals[1]) || equals[1] == '.'))
            (void) strtod(equals + 1, &end);
        if (end != NULL && *end != '\0' && strchr("KMGTPkmgtp", *end) != NULL)
            end++;
        if (equals == NULL || equals == part || end == NULL || *end != '\0') {
            conf_error(context, "%s: \"%s\" is not NAME=WEIGHT, as in CPU=1.0,Mem=0.25G,GRES/gpu=2",
                       key->name, part);
            ok = false;
        }
    }
    if (ok)
        *member = *value != '\0' ? keep(context, value, strlen(value)) : NULL;
    return ok;
}

static const char *list_parse(const char *value, const struct conf_context *context) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    cleanup_str struct str list = STR_INIT;
    for (char *part; (part = list_next(&cursor)) != NULL;)
        str_join(&list, ",", part);
    return list.length > 0 ? keep(context, list.data, list.length) : NULL;
}

static bool ports_parse(const struct conf_key *key, const char *value, struct conf_ports *ret,
                        const struct conf_context *context) {
    cleanup_free char *first = xstrdup(value);
    char *dash = strchr(first, '-');
    uint64_t from = 0, to = 0;
    if (dash != NULL)
        *dash = '\0';
    bool ok = str_to_u64(first, &from) && (dash == NULL || str_to_u64(dash + 1, &to));
    if (dash == NULL)
        to = from;
    if (!ok || from < key->min || to > key->max || from > to) {
        conf_error(context,
                   "%s: \"%s\" is no port or range of ports (%llu to %llu, as in 6817 or "
                   "6817-6820)",
                   key->name, value, (unsigned long long) key->min, (unsigned long long) key->max);
        return false;
    }
    *ret = (struct conf_ports) {(uint16_t) from, (uint16_t) to};
    return true;
}

static const struct {
    const char *word;
    uint32_t mode;
} share_words[] = {{"NO", CONF_SHARE_NO},
                   {"EXCLUSIVE", CONF_SHARE_EXCLUSIVE},
                   {"YES", CONF_SHARE_YES},
                   {"FORCE", CONF_SHARE_FORCE}};
#define SHARE_JOBS_MAX 200
#define SHARE_JOBS 4 /* jobs per resource when YES or FORCE name no number */

static bool share_parse(const struct conf_key *key, const char *value, uint32_t *ret,
                        const struct conf_context *context) {
    const char *colon = strchr(value, ':');
    size_t length = colon != NULL ? (size_t) (colon - value) : strlen(value);
    for (size_t i = 0; i < countof(share_words); i++) {
        if (strlen(share_words[i].word) != length ||
            strncasecmp(share_words[i].word, value, length) != 0)
            continue;
        uint32_t mode = share_words[i].mode;
        uint64_t jobs = mode >= CONF_SHARE_YES ? SHARE_JOBS : 0;
        if (colon != NULL &&
            (mode < CONF_SHARE_YES || !str_to_u64(colon + 1, &jobs) || jobs < 1 || jobs > 0xffff))
            break;
        if (jobs > SHARE_JOBS_MAX)
            conf_notice(context, "%s: \"%s\" lets %u jobs share a CPU, no more", key->name, value,
                        (unsigned) SHARE_JOBS_MAX);
        *ret = mode | (uint32_t) jobs;
        return true;
    }
    conf_error(context, "%s: \"%s\" is not NO, EXCLUSIVE, YES[:n] or FORCE[:n]", key->name, value);
    return false;
}

void conf_share_print(uint32_t share, struct str *out) {
    uint32_t mode = conf_share_mode(share);
    for (size_t i = 0; i < countof(share_words); i++) {
        if (share_words[i].mode == mode)
            str_append(out, share_words[i].word);
    }
    if (mode >= CONF_SHARE_YES)
        str_printf(out, ":%u", conf_share_jobs(share));
}

static void names_add(struct conf_names *names, const char *text,
                      const struct conf_context *context) {
    const char **items = arena_alloc(context->arena, (names->n + 1) * sizeof(*items));
    if (names->n > 0)
        memcpy(items, names->items, names->n * sizeof(*items));
    items[names->n] = text;
    names->items = items;
    names->n++;
}

bool conf_age_read(const char *value, uint64_t *ret) {
    static const struct {
        const char *word;
        uint64_t seconds;
    } units[] = {{"", 2592000},   {"month", 2592000}, {"months", 2592000}, {"day", 86400},
                 {"days", 86400}, {"hour", 3600},     {"hours", 3600}};
    size_t digits = strspn(value, "0123456789");
    cleanup_free char *number = xstrndup(value, digits);
    uint64_t count = 0;
    for (size_t i = 0; i < countof(units) && str_to_u64(number, &count); i++) {
        if (strcasecmp(value + digits, units[i].word) == 0 && count <= UINT32_MAX) {
            *ret = count * units[i].seconds;
            return true;
        }
    }
    return false;
}

static bool age_parse(const struct conf_key *key, const char *value, uint64_t *ret,
                      const struct conf_context *context) {
    if (conf_age_read(value, ret))
        return true;
    conf_error(context, "%s: \"%s\" is no age: N, Nmonths, Ndays or Nhours", key->name, value);
    return false;
}

static bool time_wrong(const struct conf_key *key, const char *value,
                       const struct conf_context *context) {
    conf_error(context,
               "%s: \"%s\" is no length of time (minutes, [D-]HH:MM:SS, D-HH or UNLIMITED)",
               key->name, value);
    return false;
}

bool conf_value_parse(const struct conf_key *key, const char *value, void *object,
                      const struct conf_context *context) {
    void *member = (char *) object + key->offset;
    size_t length = strlen(value);
    uint64_t number;
    switch ((enum conf_type) key->type) {
    case CONF_STRING:
    case CONF_TEXT:
        *(const char **) member = length > 0 ? keep(context, value, length) : NULL;
        return true;
    case CONF_LIST:
        *(const char **) member = list_parse(value, context);
        return true;
    case CONF_NAMES:
        if (length > 0)
            names_add(member, keep(context, value, length), context);
        return true;
    case CONF_BOOL:
    case CONF_BIT:
    case CONF_SWITCH:
        return bool_set(key, value, member, context);
    case CONF_U32:
        if (!number_parse(key, value, &number, context))
            return false;
        *(uint32_t *) member = (uint32_t) number;
        return true;
    case CONF_U64:
    case CONF_MIB:
        return number_parse(key, value, member, context);
    case CONF_PERCENT:
        return percent_parse(key, value, member, context);
    case CONF_MINUTES:
        if (key->min == 1 && strcasecmp(value, "NONE") == 0) {
            *(uint32_t *) member = MINUTES_UNSET;
            return true;
        }
        return minutes_parse(value, member, NULL) == 0 || time_wrong(key, value, context);
    case CONF_DURATION:
        if (strcasecmp(value, "NONE") == 0)
            value = "0";
        if (duration_parse(value, &number, NULL) != 0 || number < key->min)
            return time_wrong(key, value, context);
        *(uint64_t *) member = number;
        return true;
    case CONF_AGE:
        return age_parse(key, value, member, context);
    case CONF_ENUM:
        return enum_parse(key, value, member, context);
    case CONF_FLAGS:
        return flags_parse(key, value, member, context);
    case CONF_WORDS: {
        struct conf_words words = {0};
        if (!flags_parse(key, value, &words.flags, context))
            return false;
        words.text = list_parse(value, context);
        *(struct conf_words *) member = words;
        return true;
    }
    case CONF_OPTIONS:
        return options_parse(key, value, member, object, context);
    case CONF_WEIGHTS:
        return weights_parse(key, value, member, context);
    case CONF_PORTS:
        return ports_parse(key, value, member, context);
    case CONF_SHARE:
        return share_parse(key, value, member, context);
    }
    return false;
}
