"""Answers to a survey, kept in Postgres: POST /survey?work=SECONDS with a token of the client's as the body.

Each answer is one transaction: insert, some work that takes SECONDS, commit. The argument says what becomes of it
when its client has gone away meanwhile:

commit    nobody looks: it is committed, and the reply goes nowhere
rollback  the connection is looked at before the commit; has it been closed, everything is rolled back
"""
import os
import queue
import select
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import psycopg2

LOOKS = sys.argv[1:] == ["rollback"]
PORT = int(os.environ.get("PORT", "8080"))
POOL_SIZE = int(os.environ.get("POOL_SIZE", "32"))
MAX_WORK = 60.0
MAX_TOKEN = 100


def connect():
    return psycopg2.connect(
        host=os.environ["DB_HOST"],
        port=os.environ.get("DB_PORT", "5432"),
        dbname=os.environ["DB_NAME"],
        user=os.environ["DB_USER"],
    )


pool = queue.LifoQueue()


def has_gone(connection):
    """The client has closed: there is something to read, and it is the end."""
    readable, _, _ = select.select([connection], [], [], 0)
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionError:
        return True


class Survey(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def reply(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(200 if self.path == "/health" else 404, "")

    def do_POST(self):
        url = urlsplit(self.path)
        token = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        try:
            work = float(parse_qs(url.query).get("work", ["0"])[0])
        except ValueError:
            work = -1.0
        if url.path != "/survey" or not 0 <= work <= MAX_WORK or not 0 < len(token) <= MAX_TOKEN:
            self.reply(400, "POST /survey?work=SECONDS with a token\n")
            return
        database = pool.get()
        try:
            kept = self.write(database, token, work)
        finally:
            database.rollback()  # of what was not committed
            pool.put(database)
        if kept:
            self.reply(201, "kept\n")
        else:
            self.close_connection = True

    def write(self, database, token, work):
        with database.cursor() as cursor:
            cursor.execute("INSERT INTO survey(token, work_s) VALUES (%s, %s)", (token, work))
            cursor.execute("SELECT pg_sleep(%s)", (work,))
        if LOOKS and has_gone(self.connection):
            return False
        database.commit()
        return True

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # it has gone while it was answered

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    if sys.argv[1:] not in (["commit"], ["rollback"]):
        sys.exit("usage: survey.py commit|rollback")
    for _ in range(POOL_SIZE):
        pool.put(connect())
    server = Server(("0.0.0.0", PORT), Survey)
    print(f"listening on {PORT}", flush=True)
    server.serve_forever()


main()
