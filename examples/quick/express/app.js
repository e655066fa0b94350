'use strict';
// Items over HTTP: Express with node-postgres, on Node's event loop.
const fs = require('fs');
const path = require('path');
const express = require('express');
const { Pool } = require('pg');

let server;

function stop() {
    if (server) server.close();
    process.exit(0);
}

// First of all: process 1 of a container ignores a signal that it has no handler for.
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

const PORT = Number(process.env.PORT || 8080);
const MAX_LIMIT = 1000;
const MAX_ID = 2 ** 31 - 1;

/** name -> SQL of the file's '-- name: NAME' blocks. */
function loadQueries(file) {
    const parts = fs.readFileSync(file, 'utf8').split(/^-- name: (\w+)\n/m);
    const queries = {};
    for (let i = 1; i < parts.length; i += 2) {
        queries[parts[i]] = parts[i + 1].trim().replace(/;$/, '');
    }
    return queries;
}

const queries = loadQueries(path.join(__dirname, 'dao', 'queries.sql'));
const poolSize = Number(process.env.POOL_SIZE || 8);
const pool = new Pool({
    host: process.env.DB_HOST,
    port: Number(process.env.DB_PORT || 5432),
    database: process.env.DB_NAME,
    user: process.env.DB_USER,
    max: poolSize,
    idleTimeoutMillis: 0,
});
pool.on('error', (error) => console.error(`idle connection lost: ${error.message}`));

// A query with a name is prepared on first use and kept per connection.
async function rows(name, ...values) {
    return (await pool.query({ name, text: queries[name], values })).rows;
}

function wholeNumber(value, least, most) {
    return Number.isInteger(value) && value >= least && value <= most;
}

function asNumber(text, fallback) {
    return text === undefined ? fallback : /^\d+$/.test(text) ? Number(text) : NaN;
}

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.json());

const route = (handler) => (req, res, next) => handler(req, res).catch(next);

app.get('/health', route(async (req, res) => {
    await rows('health');
    res.json({ status: 'up' });
}));

app.get('/items/:id(\\d+)', route(async (req, res) => {
    const id = Number(req.params.id);
    const found = id <= MAX_ID ? await rows('item_by_id', id) : [];
    if (found.length === 0) return res.status(404).json({ error: 'no such item' });
    return res.json(found[0]);
}));

app.get('/items', route(async (req, res) => {
    const after = asNumber(req.query.after, 0);
    const limit = asNumber(req.query.limit, 20);
    if (!wholeNumber(after, 0, MAX_ID) || !wholeNumber(limit, 1, MAX_LIMIT)) {
        return res.status(400).json({ error: `limit is a number from 1 to ${MAX_LIMIT}, after one from 0` });
    }
    return res.json(await rows('items_after', after, limit));
}));

app.post('/items', route(async (req, res) => {
    if (Array.isArray(req.body)) return res.status(400).json({ error: 'the body is not an object' });
    const { name, description = '', price_cents: price, stock = 0 } = req.body;
    if (typeof name !== 'string' || name === '' || typeof description !== 'string') {
        return res.status(400).json({ error: 'name and description are texts' });
    }
    if (!wholeNumber(price, 0, MAX_ID) || !wholeNumber(stock, 0, MAX_ID)) {
        return res.status(400).json({ error: 'price_cents and stock are whole numbers' });
    }
    return res.status(201).json((await rows('insert_item', name, description, price, stock))[0]);
}));

app.use((error, req, res, next) => {
    if (!error.status) console.error(error.message);
    const text = error.type === 'entity.parse.failed' ? 'the body is not JSON' : error.message;
    res.status(error.status || 500).json({ error: text });
});

/** Opens every connection of the pool before the first request, as the other applications do. */
async function start() {
    const clients = await Promise.all(Array.from({ length: poolSize }, () => pool.connect()));
    clients.forEach((client) => client.release());
    server = app.listen(PORT, '0.0.0.0', () => console.log(`listening on ${PORT}`));
    server.keepAliveTimeout = 60000;
}

start().catch((error) => {
    console.error(`cannot start: ${error.message}`);
    process.exit(1);
});
