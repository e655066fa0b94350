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
