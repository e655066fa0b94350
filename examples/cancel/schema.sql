CREATE TABLE survey (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token text NOT NULL,                -- the client's, unique to each request
    work_s double precision NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);
