/* SPDX-License-Identifier: MIT */
#include "benchctl/base/expr.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "benchctl/base/strbuf.h"
#include "benchctl/base/units.h"

enum op {
    OP_NUMBER,
    OP_NAME,
    OP_ADD, /* two operands from here on */
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_OR,
    OP_CALL /* a function of the table below */
};

#define MAX_DEPTH 50
#define MAX_NODES 2000

struct expr {
    enum op op;
    double number;
    const char *name;
    int function;
    const struct expr *first, *next; /* operands as a list */
};

enum function { FN_MIN, FN_MAX, FN_ABS, FN_ROUND, FN_FLOOR, FN_IF, FN_KNOWN, FN_FIRST };
static const struct {
    const char *name;
    int min, max; /* arguments; max 0: any number */
} functions[] = {
    [FN_MIN] = {"min", 1, 0},     [FN_MAX] = {"max", 1, 0},     [FN_ABS] = {"abs", 1, 1},
    [FN_ROUND] = {"round", 1, 1}, [FN_FLOOR] = {"floor", 1, 1}, [FN_IF] = {"if", 2, 3},
    [FN_KNOWN] = {"known", 1, 1}, [FN_FIRST] = {"first", 1, 0},
};

struct parser {
    const char *text, *p;
    struct arena *arena;
    struct error *err;
    int depth, nodes;
};

/* Binary operators by precedence, loosest first; longer spellings before their prefixes. */
static const struct {
    const char *text;
    enum op op;
    int level;
} operators[] = {
    {"or", OP_OR, 0}, {"and", OP_AND, 1}, {"<=", OP_LE, 2}, {">=", OP_GE, 2},
    {"==", OP_EQ, 2}, {"!=", OP_NE, 2},   {"<", OP_LT, 2},  {">", OP_GT, 2},
    {"+", OP_ADD, 3}, {"-", OP_SUB, 3},   {"*", OP_MUL, 4}, {"/", OP_DIV, 4},
};
#define LEVEL_UNARY 5

static int parse_level(struct parser *s, int level, struct expr **ret);

static int fail(struct parser *s, const char *what)
{
    return error_set(s->err, ERROR_INVALID, "%s at column %d of expression '%.200s'", what,
                     (int)(s->p - s->text) + 1, s->text);
}

static void skip_blanks(struct parser *s)
{
    s->p += strspn(s->p, " \t\n");
}

static struct expr *new_node(struct parser *s, enum op op)
{
    struct expr *e = arena_new_of(s->arena, struct expr);

    e->op = op;
    s->nodes++;
    return e;
}

static size_t name_length(const char *p)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*p) && *p != '_')
        return 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.')
        n++;
    return n;
}

static int parse_arguments(struct parser *s, struct expr *call)
{
    const struct expr **tail = &call->first;
    int count = 0;

    do {
        struct expr *argument = NULL;
        s->p++; /* '(' or ',' */
        if (parse_level(s, 0, &argument) < 0)
            return -1;
        *tail = argument;
        tail = &argument->next;
        count++;
        skip_blanks(s);
    } while (*s->p == ',');
    if (*s->p != ')')
        return fail(s, "expected ')'");
    s->p++;
    int max = functions[call->function].max;
    if (count < functions[call->function].min || (max && count > max))
        return fail(s, "wrong number of arguments");
    return 0;
}

static int parse_name(struct parser *s, struct expr **ret)
{
    size_t n = name_length(s->p);
    const char *name = arena_strndup(s->arena, s->p, n);

    s->p += n;
    skip_blanks(s);
    if (*s->p != '(') {
        *ret = new_node(s, OP_NAME);
        (*ret)->name = name;
        return 0;
    }
    *ret = new_node(s, OP_CALL);
    for ((*ret)->function = 0; (size_t)(*ret)->function < ARRAY_LEN(functions); (*ret)->function++)
        if (strcmp(functions[(*ret)->function].name, name) == 0)
            return parse_arguments(s, *ret);
    return error_set(s->err, ERROR_INVALID, "unknown function '%s' in expression '%.200s'", name, s->text);
}

static int parse_unary(struct parser *s, struct expr **ret)
{
    skip_blanks(s);
    if (*s->p == '-') {
        struct expr *operand = NULL, *zero = new_node(s, OP_NUMBER);
        s->p++;
        if (parse_level(s, LEVEL_UNARY, &operand) < 0)
            return -1;
        *ret = new_node(s, OP_SUB);
        (*ret)->first = zero;
        zero->next = operand;
        return 0;
    }
    if (*s->p == '(') {
        s->p++;
        if (parse_level(s, 0, ret) < 0)
            return -1;
        skip_blanks(s);
        if (*s->p != ')')
            return fail(s, "expected ')'");
        s->p++;
        return 0;
    }
    if (isdigit((unsigned char)*s->p) || *s->p == '.') {
        *ret = new_node(s, OP_NUMBER);
        size_t n = number_scan(s->p, strspn(s->p, "0123456789.eE"), &(*ret)->number);
        if (!n)
            return fail(s, "not a number");
        s->p += n;
        return 0;
    }
    if (!name_length(s->p))
        return fail(s, *s->p ? "expected a number or a name" : "it ends too early");
    return parse_name(s, ret);
}

/* The index of the operator of this level at the cursor, or -1. */
static int operator_here(struct parser *s, int level)
{
    skip_blanks(s);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t n = strlen(operators[i].text);
        if (strncmp(s->p, operators[i].text, n) != 0)
            continue;
        if (isalpha((unsigned char)operators[i].text[0]) &&
            (isalnum((unsigned char)s->p[n]) || s->p[n] == '_'))
            continue;
        return operators[i].level == level ? (int)i : -1;
    }
    return -1;
}

static int parse_level(struct parser *s, int level, struct expr **ret)
{
    if (++s->depth > MAX_DEPTH * (LEVEL_UNARY + 1) || s->nodes > MAX_NODES)
        return fail(s, "too deep or too long");
    if ((level == LEVEL_UNARY ? parse_unary(s, ret) : parse_level(s, level + 1, ret)) < 0)
        return -1;
    for (int i = -1; level < LEVEL_UNARY && (i = operator_here(s, level)) >= 0;) {
        struct expr *right = NULL, *left = *ret;
        s->p += strlen(operators[i].text);
        if (parse_level(s, level + 1, &right) < 0)
            return -1;
        assert(left && right);
        *ret = new_node(s, operators[i].op);
        (*ret)->first = left;
        left->next = right;
        if (s->nodes > MAX_NODES)
            return fail(s, "too long");
    }
    s->depth--;
    return 0;
}

int expr_compile(const char *text, struct arena *a, const struct expr **ret, struct error *err)
{
    struct parser s = {.text = text, .p = text, .arena = a, .err = err};
    struct expr *e = NULL;

    if (parse_level(&s, 0, &e) < 0)
        return -1;
    skip_blanks(&s);
    if (*s.p)
        return fail(&s, "unexpected text");
    *ret = e;
    return 0;
}

int expr_each_name(const struct expr *e, int (*visit)(const char *name, void *data, struct error *err),
                   void *data, struct error *err)
{
    if (e->op == OP_NAME)
        return visit(e->name, data, err);
    for (const struct expr *x = e->first; x; x = x->next)
        if (expr_each_name(x, visit, data, err) < 0)
            return -1;
    return 0;
}

struct scope {
    double (*lookup)(const char *name, void *data);
    void *data;
};

static double evaluate(const struct expr *e, const struct scope *s);

static double call(const struct expr *e, const struct scope *s)
{
    double first = evaluate(e->first, s);

    switch ((enum function)e->function) {
    case FN_ABS:
        return fabs(first);
    case FN_ROUND:
        return round(first);
    case FN_FLOOR:
        return floor(first);
    case FN_KNOWN:
        return !isnan(first);
    case FN_IF:
        if (isnan(first))
            return NAN;
        if (first != 0)
            return evaluate(e->first->next, s);
        return e->first->next->next ? evaluate(e->first->next->next, s) : NAN;
    case FN_FIRST:
    case FN_MIN:
    case FN_MAX:
        break;
    }
    for (const struct expr *x = e->first->next; x; x = x->next) {
        double value = evaluate(x, s);
        if (e->function == FN_FIRST)
            first = isnan(first) ? value : first;
        else if (isnan(first) || isnan(value))
            first = NAN;
        else
            first = e->function == FN_MIN ? fmin(first, value) : fmax(first, value);
    }
    return first;
}

static double apply(enum op op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return b == 0 ? NAN : a / b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_AND:
        return a != 0 && b != 0;
    case OP_OR:
        return a != 0 || b != 0;
    case OP_NUMBER:
    case OP_NAME:
    case OP_CALL:
        break;
    }
    return NAN;
}

static double evaluate(const struct expr *e, const struct scope *s)
{
    if (e->op == OP_NUMBER)
        return e->number;
    if (e->op == OP_NAME)
        return s->lookup(e->name, s->data);
    if (e->op == OP_CALL)
        return call(e, s);
    return apply(e->op, evaluate(e->first, s), evaluate(e->first->next, s));
}

double expr_value(const struct expr *e, double (*lookup)(const char *name, void *data), void *data)
{
    const struct scope s = {lookup, data};

    return evaluate(e, &s);
}
