/* SPDX-License-Identifier: MIT */
/* What templates render to, made fit for where it goes: nothing of it can end a line of the request's head.
 */
#include "transport_internal.h"

/* May stand in a request target as it is; '%' is taken for an encoding that is there already. */
static bool fits_path(unsigned char c)
{
    return c > ' ' && c < 0x7f && !strchr("\"#<>\\^`{|}", c);
}

size_t path_encode(const char *text, size_t len, struct strbuf *out)
{
    size_t encoded = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (fits_path(c)) {
            strbuf_addc(out, (char)c);
        } else {
            strbuf_addf(out, "%%%02X", c);
            encoded++;
        }
    }
    return encoded;
}

/* What was rendered behind `start`, encoded where it must be: rarely anything is. */
static void encode_from(struct strbuf *out, size_t start)
{
    size_t i = start;

    while (i < out->len && fits_path((unsigned char)out->data[i]))
        i++;
    if (i == out->len)
        return;
    size_t tail_len = out->len - i;
    CLEANUP_FREE char *tail = xmalloc(tail_len);
    memcpy(tail, out->data + i, tail_len);
    out->len = i;
    (void)path_encode(tail, tail_len, out);
}

static void put(const struct request_text *t, const struct workload_values *v, struct strbuf *out)
{
    if (t->text)
        strbuf_add(out, t->text, t->len);
    else
        workload_template_render(t->value, v, out);
}

const char *render_path(const struct request_text *t, const struct workload_values *v, struct strbuf *out)
{
    size_t start = out->len;

    put(t, v, out);
    if (!t->text)
        encode_from(out, start);
    return out->overflow ? "a path that is too long" : NULL;
}

const char *render_header(const struct request_text *t, const struct workload_values *v, struct strbuf *out)
{
    size_t start = out->len;

    put(t, v, out);
    if (t->text)
        return NULL;
    for (size_t i = start; i < out->len; i++)
        if (out->data[i] == '\r' || out->data[i] == '\n' || out->data[i] == '\0')
            return "a header with a line break";
    return out->overflow ? "a header that is too long" : NULL;
}

void render_body(const struct request_text *t, const struct workload_values *v, struct strbuf *out)
{
    put(t, v, out);
}
