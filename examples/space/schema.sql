-- Surveys: a name, a score of 0 to 100, and the moment they were written in milliseconds since 1970.
CREATE TABLE survey (
    id         bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text    NOT NULL CHECK (name <> ''),
    score      integer NOT NULL CHECK (score BETWEEN 0 AND 100),
    created_at bigint  NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
);

INSERT INTO survey (name, score) SELECT 'survey ' || n, n % 101 FROM generate_series(1, 1000) AS n;
