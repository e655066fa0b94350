/* SPDX-License-Identifier: MIT */
#include "benchctl/base/hash.h"

#include <assert.h>
#include <openssl/evp.h>

struct sha256 {
    EVP_MD_CTX *context;
};

static void begin(struct sha256 *h)
{
    /* Only an out-of-memory or a broken libcrypto makes these fail. */
    if (!h->context || EVP_DigestInit_ex(h->context, EVP_sha256(), NULL) != 1)
        abort();
}

struct sha256 *sha256_new(void)
{
    struct sha256 *h = xcalloc(1, sizeof(*h));

    h->context = EVP_MD_CTX_new();
    begin(h);
    return h;
}

void sha256_update(struct sha256 *h, const void *bytes, size_t len)
{
    if (EVP_DigestUpdate(h->context, bytes, len) != 1)
        abort();
}

void sha256_final(struct sha256 *h, char hex[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    if (EVP_DigestFinal_ex(h->context, raw, &len) != 1)
        abort();
    assert(len == 32);
    for (unsigned i = 0; i < len; i++) {
        hex[2 * i] = digits[raw[i] >> 4];
        hex[2 * i + 1] = digits[raw[i] & 15];
    }
    hex[2 * len] = '\0';
    begin(h);
}

void sha256_free(struct sha256 *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->context);
    free(h);
}

void sha256_hex(const void *bytes, size_t len, char hex[SHA256_HEX_SIZE])
{
    CLEANUP(sha256_free) struct sha256 *h = sha256_new();

    sha256_update(h, bytes, len);
    sha256_final(h, hex);
}

uint64_t hash64(const void *bytes, size_t len, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&seed);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

/* xoshiro256** 1.0, by Blackman and Vigna. */
uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
    assert(bound > 0);
    uint64_t threshold = -bound % bound; /* 2^64 mod bound: values below it would be counted twice */
    for (;;) {
        uint64_t x = rng_next(r);
        if (x >= threshold)
            return x % bound;
    }
}
