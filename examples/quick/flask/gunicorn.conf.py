"""One process whose threads match the connections: gunicorn only accepts and hands on."""
import os

bind = f"0.0.0.0:{os.environ.get('PORT', '8080')}"
workers = 1
worker_class = "gthread"
threads = int(os.environ.get("POOL_SIZE", "8"))
worker_tmp_dir = "/dev/shm"
keepalive = 60
timeout = 0
graceful_timeout = 2
loglevel = "warning"


def post_worker_init(worker):
    print(f"listening on {os.environ.get('PORT', '8080')}", flush=True)
