/* SPDX-License-Identifier: MIT */
/* The framing of log streams: one byte channel, three of padding, four of length (big-endian), then the
 * payload. */
#include "engine_internal.h"

int log_demux_feed(struct log_demux *d, const char *bytes, size_t len,
                   void (*sink)(int channel, const char *bytes, size_t len, void *data), void *data)
{
    if (d->tty) {
        if (len)
            sink(1, bytes, len, data);
        return 0;
    }
    while (len && !d->bad) {
        if (d->left) {
            size_t n = len < d->left ? len : d->left;
            sink(d->channel, bytes, n, data);
            d->left -= n;
            bytes += n;
            len -= n;
            continue;
        }
        d->header[d->header_len++] = (unsigned char)*bytes++;
        len--;
        if (d->header_len < sizeof(d->header))
            continue;
        d->header_len = 0;
        d->channel = d->header[0];
        d->left = (size_t)d->header[4] << 24 | (size_t)d->header[5] << 16 | (size_t)d->header[6] << 8 |
                  d->header[7];
        d->bad = d->channel != 1 && d->channel != 2;
        d->frames++;
    }
    return d->bad ? -1 : 0;
}

bool log_demux_complete(const struct log_demux *d)
{
    return d->header_len == 0 && d->left == 0;
}
