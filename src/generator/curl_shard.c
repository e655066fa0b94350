/* SPDX-License-Identifier: MIT */
/* Where channels keep their connections. */
#include "curl.h"

static CURLSH *new_pool(void)
{
    CURLSH *pool = curl_share_init();

    if (!pool || curl_share_setopt(pool, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) != CURLSHE_OK)
        abort(); /* out of memory */
    return pool;
}

static struct curl_shard *roomy_shard(struct curl_transport *t)
{
    struct curl_shard *s = TAILQ_FIRST(&t->roomy);

    if (s)
        return s;
    s = xcalloc(1, sizeof(*s));
    s->pool = new_pool();
    TAILQ_INSERT_HEAD(&t->roomy, s, link);
    return s;
}

void curl_shard_join(struct curl_channel *c)
{
    struct curl_transport *t = (struct curl_transport *)c->base.transport;
    struct curl_shard *s = roomy_shard(t);

    while (s->taken & UINT32_C(1) << c->place)
        c->place++;
    s->taken |= UINT32_C(1) << c->place;
    if (s->taken == UINT32_MAX)
        TAILQ_REMOVE(&t->roomy, s, link);
    c->shard = s;
}

void curl_shard_leave(struct curl_channel *c)
{
    struct curl_transport *t = (struct curl_transport *)c->base.transport;
    struct curl_shard *s = TAKE(c->shard);

    if (s->taken == UINT32_MAX)
        TAILQ_INSERT_TAIL(&t->roomy, s, link);
    s->taken &= ~(UINT32_C(1) << c->place);
    if (s->taken)
        return;
    TAILQ_REMOVE(&t->roomy, s, link);
    (void)curl_share_cleanup(s->pool);
    free(s);
}
