/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive descent over feature expressions. AND and OR have equal rank and group from the left:
 * a|b&c is (a|b)&c. Equal operators in a row share one node, so that a&b&c is one AND of three.
 */
#include "text/constraint.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define DEPTH_MAX 16
#define NAMES_MAX 1024
#define COUNT_MAX 1000000

struct parser {
    const char *text, *at;
    unsigned depth;
    unsigned n_names;
    bool had_brackets;
    struct error *err;
};

static int parser_fail(struct parser *parser, const char *why) {
    return error_set(parser->err, ERR_INVALID_FEATURE,
                     "Invalid feature specification \"%.128s\" at character %zu: %s", parser->text,
                     (size_t) (parser->at - parser->text) + 1, why);
}

void constraint_free(struct constraint *constraint) {
    if (!constraint)
        return;
    for (size_t i = 0; i < constraint->n_parts; i++)
        constraint_free(constraint->parts[i]);
    free(constraint->parts);
    free(constraint->name);
    free(constraint);
}

static void constraint_cleanup(struct constraint **constraint) {
    constraint_free(*constraint);
}
#define cleanup_constraint cleanup(constraint_cleanup)

static void part_append(struct constraint *whole, struct constraint *part) {
    /* Expressions are short: growing one by one keeps the struct small. */
    whole->parts = xreallocarray(whole->parts, whole->n_parts + 1, sizeof(part));
    whole->parts[whole->n_parts++] = part;
}

static struct constraint *operator_new(enum constraint_op op, struct constraint *first) {
    struct constraint *whole = zalloc(struct constraint);
    whole->op = op;
    part_append(whole, first);
    return whole;
}

static int expression_parse(struct parser *parser, char end, struct constraint **ret);

static int name_parse(struct parser *parser, struct constraint **ret) {
    size_t length = strcspn(parser->at, "&|,()[]*! \t\r\n\v\f\"'");
    if (length == 0)
        return parser_fail(parser, "a feature name is missing");
    if (parser->n_names++ == NAMES_MAX)
        return parser_fail(parser, "it has too many names");
    struct constraint *constraint = zalloc(struct constraint);
    constraint->op = CONSTRAINT_NAME;
    constraint->name = xstrndup(parser->at, length);
    parser->at += length;
    *ret = constraint;
    return 0;
}

/* An optional *N after a name or a group. */
static int count_parse_suffix(struct parser *parser, uint32_t *ret_count) {
    if (*parser->at != '*')
        return 0;
    const char *digits = parser->at + 1;
    size_t length = strspn(digits, "0123456789");
    uint32_t count = 0;
    for (size_t i = 0; i < length && count <= COUNT_MAX; i++)
        count = count * 10 + (uint32_t) (digits[i] - '0');
    if (count == 0 || count > COUNT_MAX)
        return parser_fail(parser, "a node count from 1 to 1000000 must follow '*'");
    parser->at = digits + length;
    *ret_count = count;
    return 0;
}

/* [a|b] or [a*2&b*4]: one operator; alternatives have no counts, parts joined by & must. */
static int brackets_check(struct parser *parser, struct constraint *inner,
                          enum constraint_op joined_by) {
    if (joined_by == CONSTRAINT_NAME)
        return 0;
    bool any = joined_by == CONSTRAINT_OR;
    for (size_t i = 0; i < inner->n_parts; i++) {
        if (any && inner->parts[i]->count)
            return parser_fail(parser, "alternatives in [ ] cannot have node counts");
        if (!any && !inner->parts[i]->count)
            return parser_fail(parser, "every part joined by & in [ ] needs a node count");
    }
    if (any)
        inner->op = CONSTRAINT_MATCHING_OR;
    return 0;
}

static int brackets_parse(struct parser *parser, struct constraint **ret) {
    if (parser->had_brackets)
        return parser_fail(parser, "only one pair of [ ] is allowed");
    parser->had_brackets = true;
    parser->at++;
    cleanup_constraint struct constraint *inner = NULL;
    int r = expression_parse(parser, ']', &inner);
    if (r < 0)
        return r;
    *ret = take(inner);
    return 0;
}

/* name[*N], (group)[*N] or [alternatives] */
static int term_parse(struct parser *parser, struct constraint **ret) {
    if (*parser->at == '[')
        return brackets_parse(parser, ret);
    cleanup_constraint struct constraint *term = NULL;
    int r;
    if (*parser->at == '(') {
        parser->at++;
        r = expression_parse(parser, ')', &term);
    } else {
        r = name_parse(parser, &term);
    }
    if (r < 0)
        return r;
    uint32_t count = term->count;
    if (*parser->at == '*' && (count || term->op == CONSTRAINT_MATCHING_OR))
        return parser_fail(parser, "this group cannot have a node count");
    r = count_parse_suffix(parser, &count);
    if (r < 0)
        return r;
    term->count = count;
    *ret = take(term);
    return 0;
}

/* Terms joined by & , | up to `end`, which is consumed ('\0': the end of the text). A trailing
 * '&' is let pass, as scripts that glue features together leave one. */
static int expression_parse(struct parser *parser, char end, struct constraint **ret) {
    if (++parser->depth > DEPTH_MAX)
        return parser_fail(parser, "it is nested too deeply");
    cleanup_constraint struct constraint *whole = NULL;
    enum constraint_op joined_by = CONSTRAINT_NAME; /* nothing yet */
    int r = term_parse(parser, &whole);
    if (r < 0)
        return r;
    while (*parser->at != end) {
        enum constraint_op op;
        if (*parser->at == '&' || *parser->at == ',')
            op = CONSTRAINT_AND;
        else if (*parser->at == '|')
            op = CONSTRAINT_OR;
        else if (*parser->at == '\0')
            return parser_fail(parser, end == ')' ? "a ) is missing" : "a ] is missing");
        else
            return parser_fail(parser, "expected & or |");
        if (end == ']' && joined_by != CONSTRAINT_NAME && op != joined_by)
            return parser_fail(parser, "[ ] cannot mix & and | without ( )");
        parser->at++;
        if (op == CONSTRAINT_AND && end == '\0' && *parser->at == '\0')
            break;
        struct constraint *right = NULL;
        r = term_parse(parser, &right);
        if (r < 0)
            return r;
        /* A group in ( ) stays one part: only what this loop joined is extended. */
        if (op != joined_by)
            whole = operator_new(op, whole);
        joined_by = op;
        part_append(whole, right);
    }
    if (end == ']') {
        r = brackets_check(parser, whole, joined_by);
        if (r < 0)
            return r;
    }
    if (end)
        parser->at++;
    parser->depth--;
    *ret = take(whole);
    return 0;
}

int constraint_parse(const char *text, struct constraint **ret, struct error *err) {
    if (!*text) {
        *ret = NULL;
        return 0;
    }
    struct parser parser = {.text = text, .at = text, .err = err};
    if (!str_is_printable_utf8(text))
        return parser_fail(&parser, "it has characters that cannot be printed");
    return expression_parse(&parser, '\0', ret);
}

void constraint_names(const struct constraint *constraint,
                      void (*fn)(const char *name, void *context), void *context) {
    if (!constraint)
        return;
    if (constraint->op == CONSTRAINT_NAME)
        fn(constraint->name, context);
    for (size_t i = 0; i < constraint->n_parts; i++)
        constraint_names(constraint->parts[i], fn, context);
}

bool constraint_matches(const struct constraint *constraint,
                        bool (*has)(const char *name, void *context), void *context) {
    /* A counted part asks for some nodes only: the others of the job may lack it. */
    if (!constraint || constraint->count)
        return true;
    if (constraint->op == CONSTRAINT_NAME)
        return has(constraint->name, context);
    bool all = constraint->op == CONSTRAINT_AND;
    for (size_t i = 0; i < constraint->n_parts; i++) {
        if (constraint_matches(constraint->parts[i], has, context) != all)
            return !all;
    }
    return all;
}
