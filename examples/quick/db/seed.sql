-- Ten thousand items with 16 kB of description each, the same on every machine: no random numbers, no clock.
INSERT INTO items (name, description, price_cents, stock)
SELECT 'item ' || n,
       repeat(md5(n::text) || ' ', 500),
       100 + n * 7919 % 9900,
       n % 100
FROM generate_series(1, 10000) AS n;
