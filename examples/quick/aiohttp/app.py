"""Items over HTTP: aiohttp with one of three stacks below it.

STACK=async     asyncpg, on the event loop
STACK=blocking  psycopg2, in as many threads as there are connections
STACK=cached    as async, and every item that was read is kept in memory, rendered, for ever:
                items never change, so this is correct and quick, but it has no bound
"""
import asyncio
import json
import os
import queue
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from aiohttp import web

COLUMNS = ("id", "name", "description", "price_cents", "stock")
MAX_LIMIT = 1000
MAX_ID = 2**31 - 1
PORT = int(os.environ.get("PORT", "8080"))
POOL_SIZE = int(os.environ.get("POOL_SIZE", "8"))
DATABASE = {
    "host": os.environ["DB_HOST"],
    "port": os.environ.get("DB_PORT", "5432"),
    "database": os.environ["DB_NAME"],
    "user": os.environ["DB_USER"],
}


def load_queries(path):
    """name -> SQL of the file's '-- name: NAME' blocks."""
    parts = re.split(r"^-- name: (\w+)\n", Path(path).read_text(), flags=re.M)
    return {name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2])}


QUERIES = load_queries(Path(__file__).parent / "dao" / "queries.sql")


class AsyncDao:
    """asyncpg prepares each query on first use and keeps it per connection."""

    async def open(self):
        import asyncpg

        self._pool = await asyncpg.create_pool(**DATABASE, min_size=POOL_SIZE, max_size=POOL_SIZE)

    async def rows(self, name, *args):
        async with self._pool.acquire() as connection:
            return await connection.fetch(QUERIES[name], *args)

    async def close(self):
        self._pool.terminate()


class BlockingDao:
    """A fixed number of connections, on each of which every query is prepared."""

    async def open(self):
        self._threads = ThreadPoolExecutor(POOL_SIZE)
        self._free = queue.LifoQueue()
        self._execute = {}
        for name, sql in QUERIES.items():
            count = len(set(re.findall(r"\$\d+", sql)))
            args = "(" + ", ".join(["%s"] * count) + ")" if count else ""
            self._execute[name] = f"EXECUTE {name}{args}"
        for _ in range(POOL_SIZE):
            self._free.put(self._connect())

    def _connect(self):
        import psycopg2

        connection = psycopg2.connect(**DATABASE)
        connection.autocommit = True
        with connection.cursor() as cursor:
            for name, sql in QUERIES.items():
                cursor.execute(f"PREPARE {name} AS {sql}")
        return connection

    def _rows(self, name, args):
        connection = self._free.get()
        try:
            with connection.cursor() as cursor:
                cursor.execute(self._execute[name], args)
                return cursor.fetchall()
        finally:
            self._free.put(connection if not connection.closed else self._connect())

    async def rows(self, name, *args):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._rows, name, args)

    async def close(self):
        self._threads.shutdown(wait=False, cancel_futures=True)


class RenderedItems:
    """Bodies by item id, in slabs whose memory is touched when taken, not at the first use."""

    SLAB = 32 * 2**20

    def __init__(self):
        self._slabs = []
        self._places = {}
        self._used = self.SLAB

    def get(self, item_id):
        place = self._places.get(item_id)
        if place is None:
            return None
        slab, start, end = place
        return bytes(slab[start:end])

    def put(self, item_id, body):
        if len(body) > self.SLAB:
            return
        if self._used + len(body) > self.SLAB:
            self._slabs.append(memoryview(bytearray(b"\0") * self.SLAB))
            self._used = 0
        start, self._used = self._used, self._used + len(body)
        slab = self._slabs[-1]
        slab[start : self._used] = body
        self._places[item_id] = (slab, start, self._used)


STACKS = {"async": AsyncDao, "blocking": BlockingDao, "cached": AsyncDao}
STACK = os.environ.get("STACK", "async")
dao = STACKS[STACK]()
rendered = RenderedItems() if STACK == "cached" else None
dumps = partial(json.dumps, separators=(",", ":"))
routes = web.RouteTableDef()


def reply(value, status=200):
    return web.json_response(value, status=status, dumps=dumps)


def problem(status, text):
    return reply({"error": text}, status)


def as_item(row):
    return dict(zip(COLUMNS, row))


def whole_number(value, least, most):
    return type(value) is int and least <= value <= most


def int_arg(request, name, default, least, most):
    """The number, or None where it is not one of those allowed."""
    try:
        value = int(request.query.get(name, default))
    except ValueError:
        return None
    return value if least <= value <= most else None


@routes.get("/health")
async def health(request):
    await dao.rows("health")
    return reply({"status": "up"})


@routes.get(r"/items/{id:\d+}")
async def item_by_id(request):
    item_id = int(request.match_info["id"])
    body = rendered.get(item_id) if rendered is not None else None
    if body is None:
        rows = await dao.rows("item_by_id", item_id) if item_id <= MAX_ID else []
        if not rows:
            return problem(404, "no such item")
        body = dumps(as_item(rows[0])).encode()
        if rendered is not None:
            rendered.put(item_id, body)
    return web.Response(body=body, content_type="application/json", charset="utf-8")


@routes.get("/items")
async def items_after(request):
    after = int_arg(request, "after", 0, 0, MAX_ID)
    limit = int_arg(request, "limit", 20, 1, MAX_LIMIT)
    if after is None or limit is None:
        return problem(400, f"limit is a number from 1 to {MAX_LIMIT}, after one from 0")
    return reply([as_item(row) for row in await dao.rows("items_after", after, limit)])


@routes.post("/items")
async def insert_item(request):
    try:
        body = await request.json()
    except ValueError:
        return problem(400, "the body is not JSON")
    if not isinstance(body, dict):
        return problem(400, "the body is not an object")
    name, description = body.get("name"), body.get("description", "")
    price_cents, stock = body.get("price_cents"), body.get("stock", 0)
    if not isinstance(name, str) or not name or not isinstance(description, str):
        return problem(400, "name and description are texts")
    if not whole_number(price_cents, 0, MAX_ID) or not whole_number(stock, 0, MAX_ID):
        return problem(400, "price_cents and stock are whole numbers")
    rows = await dao.rows("insert_item", name, description, price_cents, stock)
    return reply(as_item(rows[0]), 201)


async def run_dao(app):
    await dao.open()
    yield
    await dao.close()


def main():
    app = web.Application()
    app.cleanup_ctx.append(run_dao)
    app.add_routes(routes)

    def announce(*_):
        print(f"listening on {PORT}", flush=True)

    web.run_app(app, host="0.0.0.0", port=PORT, print=announce, access_log=None, shutdown_timeout=1)


main()
