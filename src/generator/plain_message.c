/* SPDX-License-Identifier: MIT */
#include "plain_message.h"

/* The head as alternating constant text and what is rendered. */
struct assembly {
    struct arena *arena;
    struct strbuf text;
    VEC(struct request_piece) pieces;
};

static void flush_text(struct assembly *s)
{
    if (!s->text.len)
        return;
    struct request_piece piece = {PIECE_TEXT,
                                  {arena_copy(s->arena, s->text.data, s->text.len), s->text.len, NULL}};
    vec_push(&s->pieces, piece);
    strbuf_clear(&s->text);
}

static void add(struct assembly *s, enum piece_kind kind, const struct request_text *t)
{
    if (t->text) {
        strbuf_add(&s->text, t->text, t->len);
        return;
    }
    flush_text(s);
    struct request_piece piece = {kind, *t};
    vec_push(&s->pieces, piece);
}

void message_prepare(struct request_kind *k, struct arena *a)
{
    struct assembly s = {.arena = a};

    strbuf_addf(&s.text, "%s ", k->method);
    add(&s, PIECE_PATH, &k->path);
    strbuf_adds(&s.text, " HTTP/1.1\r\n");
    for (size_t i = 0; i < k->header_count; i++) {
        strbuf_addf(&s.text, "%s: ", k->headers[i].name);
        add(&s, PIECE_HEADER, &k->headers[i].value);
        strbuf_adds(&s.text, "\r\n");
    }
    if (k->has_body && k->body.text)
        strbuf_addf(&s.text, "Content-Length: %zu\r\n", k->body.len);
    if (!k->has_body || k->body.text)
        strbuf_adds(&s.text, "\r\n");
    flush_text(&s);
    k->pieces = arena_copy(a, s.pieces.items, s.pieces.len * sizeof(*s.pieces.items));
    k->piece_count = s.pieces.len;
    if (s.pieces.len == 1 && (!k->has_body || k->body.text)) {
        const struct request_text *head = &s.pieces.items[0].what;
        char *message = arena_alloc(a, head->len + k->body.len + 1);
        memcpy(message, head->text, head->len);
        if (k->body.len)
            memcpy(message + head->len, k->body.text, k->body.len);
        k->message = message;
        k->message_len = head->len + k->body.len;
    }
    strbuf_release(&s.text);
    vec_release(&s.pieces);
}

const char *message_render(const struct request_kind *k, const struct workload_values *v, struct strbuf *out,
                           struct strbuf *body)
{
    const char *problem = NULL;

    strbuf_clear(out);
    out->overflow = body->overflow = false;
    for (size_t i = 0; i < k->piece_count && !problem; i++) {
        const struct request_piece *p = &k->pieces[i];
        if (p->kind == PIECE_PATH)
            problem = render_path(&p->what, v, out);
        else
            problem = render_header(&p->what, v, out);
    }
    if (problem || !k->has_body)
        return problem;
    if (k->body.text) {
        strbuf_add(out, k->body.text, k->body.len);
    } else {
        strbuf_clear(body);
        render_body(&k->body, v, body);
        strbuf_addf(out, "Content-Length: %zu\r\n\r\n", body->len);
        strbuf_add(out, body->data, body->len);
    }
    return out->overflow || body->overflow ? "a body that is too long" : NULL;
}
