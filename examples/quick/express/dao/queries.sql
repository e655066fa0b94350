-- The only SQL of the example. This file is byte for byte the same in every
-- application, which the matrix' parity section proves before anything is run.
-- Each application reads it at start and prepares each statement by its name.

-- name: health
SELECT 1;

-- name: item_by_id
SELECT id, name, description, price_cents, stock
FROM items
WHERE id = $1::integer;

-- name: items_after
SELECT id, name, description, price_cents, stock
FROM items
WHERE id > $1::integer
ORDER BY id
LIMIT $2::integer;

-- name: insert_item
INSERT INTO items (name, description, price_cents, stock)
VALUES ($1::text, $2::text, $3::integer, $4::integer)
RETURNING id, name, description, price_cents, stock;
