"""Items over HTTP: Flask on gunicorn's threads, psycopg2, blocking all the way."""
import json
import os
import queue
import re
from contextlib import contextmanager
from pathlib import Path

import psycopg2
from flask import Flask, Response, request
from werkzeug.exceptions import BadRequest, HTTPException, NotFound

COLUMNS = ("id", "name", "description", "price_cents", "stock")
MAX_LIMIT = 1000
MAX_ID = 2**31 - 1


def load_queries(path):
    """name -> SQL of the file's '-- name: NAME' blocks."""
    parts = re.split(r"^-- name: (\w+)\n", Path(path).read_text(), flags=re.M)
    return {name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2])}


QUERIES = load_queries(Path(__file__).parent / "dao" / "queries.sql")


class Dao:
    """A fixed number of connections, on each of which every query is prepared."""

    def __init__(self, size):
        self._free = queue.LifoQueue()
        self._execute = {}
        for name, sql in QUERIES.items():
            count = len(set(re.findall(r"\$\d+", sql)))
            args = "(" + ", ".join(["%s"] * count) + ")" if count else ""
            self._execute[name] = f"EXECUTE {name}{args}"
        for _ in range(size):
            self._free.put(self._connect())

    def _connect(self):
        connection = psycopg2.connect(
            host=os.environ["DB_HOST"],
            port=os.environ.get("DB_PORT", "5432"),
            dbname=os.environ["DB_NAME"],
            user=os.environ["DB_USER"],
        )
        connection.autocommit = True
        with connection.cursor() as cursor:
            for name, sql in QUERIES.items():
                cursor.execute(f"PREPARE {name} AS {sql}")
        return connection

    @contextmanager
    def _connection(self):
        connection = self._free.get()
        try:
            yield connection
        finally:
            self._free.put(connection if not connection.closed else self._connect())

    def rows(self, name, *args):
        with self._connection() as connection, connection.cursor() as cursor:
            cursor.execute(self._execute[name], args)
            return cursor.fetchall()


def as_item(row):
    return dict(zip(COLUMNS, row))


def reply(value, status=200):
    body = json.dumps(value, separators=(",", ":"))
    return Response(body, status, content_type="application/json; charset=utf-8")


def int_arg(name, default, least, most):
    try:
        value = int(request.args.get(name, default))
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise BadRequest(f"limit is a number from 1 to {MAX_LIMIT}, after one from 0")
    return value


def new_item():
    try:
        body = json.loads(request.get_data())
    except ValueError:
        raise BadRequest("the body is not JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("the body is not an object")
    name, description = body.get("name"), body.get("description", "")
    numbers = (body.get("price_cents"), body.get("stock", 0))
    if not isinstance(name, str) or not name or not isinstance(description, str):
        raise BadRequest("name and description are texts")
    if not all(type(n) is int and 0 <= n <= MAX_ID for n in numbers):
        raise BadRequest("price_cents and stock are whole numbers")
    return (name, description, *numbers)


dao = Dao(int(os.environ.get("POOL_SIZE", "8")))
app = Flask(__name__)


@app.get("/health")
def health():
    dao.rows("health")
    return reply({"status": "up"})


@app.get("/items/<int:item_id>")
def item_by_id(item_id):
    rows = dao.rows("item_by_id", item_id) if item_id <= MAX_ID else []
    if not rows:
        raise NotFound("no such item")
    return reply(as_item(rows[0]))


@app.get("/items")
def items_after():
    limit = int_arg("limit", 20, 1, MAX_LIMIT)
    rows = dao.rows("items_after", int_arg("after", 0, 0, MAX_ID), limit)
    return reply([as_item(row) for row in rows])


@app.post("/items")
def insert_item():
    return reply(as_item(dao.rows("insert_item", *new_item())[0]), 201)


@app.errorhandler(HTTPException)
def problem(error):
    return reply({"error": error.description}, error.code)
