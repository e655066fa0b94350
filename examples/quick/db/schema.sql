CREATE TABLE items (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text    NOT NULL CHECK (name <> ''),
    description text    NOT NULL,
    price_cents integer NOT NULL CHECK (price_cents >= 0),
    stock       integer NOT NULL CHECK (stock >= 0)
);
