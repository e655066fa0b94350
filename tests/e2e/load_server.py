# SPDX-License-Identifier: MIT
"""Small HTTP servers in a thread that behave well or badly, and count what they were asked."""
import asyncio
import threading
import time


class Server:
    """mode: good, 500, close, reset, slow, silent, garbage, cut, stall."""

    def __init__(self, mode='good', delay=1.0, period=2.0):
        self.mode, self.delay, self.period = mode, delay, period
        self.requests, self.connections, self.paths, self.ids, self.bodies = 0, 0, {}, [], []
        self.heads = []
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()
        self.url = 'http://127.0.0.1:%d' % self.port

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, '127.0.0.1', 0, backlog=1024))
        self.port = self.server.sockets[0].getsockname()[1]
        self.began = time.monotonic()
        ready.set()
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def vanish(self):
        """No listener and no connection from now on."""
        def gone():
            self.server.close()
            for w in list(self.writers):
                w.transport.abort()
        self.loop.call_soon_threadsafe(gone)

    def close(self):
        self.vanish()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def note(self, head, body):
        self.requests += 1
        lines = head.decode('latin-1').split('\r\n')
        path = lines[0].split(' ')[1]
        self.paths[path] = self.paths.get(path, 0) + 1
        self.heads.append(head.decode('latin-1'))
        for line in lines[1:]:
            if line.lower().startswith('x-request-id:'):
                self.ids.append(line.split(':', 1)[1].strip())
        if body:
            self.bodies.append(body.decode())

    async def read(self, reader):
        head = await reader.readuntil(b'\r\n\r\n')
        length = 0
        for line in head.lower().split(b'\r\n'):
            if line.startswith(b'content-length:'):
                length = int(line.split(b':')[1])
        body = await reader.readexactly(length) if length else b''
        self.note(head, body)

    def stall_left(self):
        """Stalls during the last `delay` seconds of each period."""
        at = (time.monotonic() - self.began) % self.period
        return max(0.0, self.period - at) if at > self.period - self.delay else 0.0

    async def serve(self, reader, writer):
        self.connections += 1
        self.writers.add(writer)
        try:
            while True:
                await self.read(reader)
                if not await self.answer(writer):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, OSError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, writer):
        mode = self.mode
        if mode == 'reset':
            return False
        if mode == 'silent':
            await asyncio.sleep(3600)
        if mode == 'slow':
            await asyncio.sleep(self.delay)
        if mode == 'stall' and self.stall_left():
            await asyncio.sleep(self.stall_left())
        status = '500 Broken' if mode == '500' else '200 OK'
        close = 'Connection: close\r\n' if mode == 'close' else ''
        if mode == 'garbage':
            writer.write(bytes(range(256)) * 4)
        elif mode == 'cut':
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this')
        else:
            writer.write(('HTTP/1.1 %s\r\n%sContent-Length: 2\r\n\r\nok' % (status, close)).encode())
        await writer.drain()
        return mode not in ('close', 'garbage', 'cut')
