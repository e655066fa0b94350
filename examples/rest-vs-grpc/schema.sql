-- What both services keep, 1,000 users and four bookings each on five days. Ids are text of five digits.
create sequence user_id start 11000;
create table users (
    id     text primary key default nextval('user_id')::text,
    name   text not null,
    email  text not null,
    opens  int not null,
    closes int not null
);
create table booking (
    id      int generated always as identity primary key,
    user_id text not null,
    day     date not null,
    begins  int not null,
    ends    int not null
);

insert into users (id, name, email, opens, closes)
select n::text, 'user ' || n, 'user' || n || '@example.com', 480 + 15 * (n % 5), 960 + 15 * (n % 9)
from generate_series(10000, 10999) n;

insert into booking (user_id, day, begins, ends)
select n::text, date '2027-01-04' + d, 500 + 110 * b + n % 40, 500 + 110 * b + n % 40 + 30 + 15 * ((n + d + b) % 4)
from generate_series(10000, 10999) n, generate_series(0, 4) d, generate_series(0, 3) b;

create index on booking (user_id, day);
