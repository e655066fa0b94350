// SPDX-License-Identifier: MIT
// The load of matrices/part19.yaml for k6: reads and writes of single rows.
// Of BENCHCTL_DURATION (10m30s in the article) the ramp takes 8.5 parts of 10.5, the arrivals the rest;
// VUS and RATE (200 and 500) say how far they go.
import http from 'k6/http';

const env = __ENV;
const url = env.BASE_URL || 'http://127.0.0.1:8080';
const plain = {timeout: '10s'};
const json = {timeout: '10s', headers: {'Content-Type': 'application/json'}};

http.setResponseCallback(http.expectedStatuses(200, 201));

// A duration as benchctl writes it, 10m30s or 500ms, in milliseconds.
function milliseconds(text) {
    const unit = {h: 3600000, m: 60000, s: 1000, ms: 1};
    return text.match(/\d+[a-z]+/g).reduce((sum, part) => sum + parseInt(part, 10) * unit[part.replace(/\d+/, '')], 0);
}

const whole = milliseconds(env.BENCHCTL_DURATION || '10m30s');
const ramp = Math.round(whole * 510 / 630);

const measured = {
    ramp: {
        executor: 'ramping-vus',
        startVUs: 10,
        stages: [{duration: `${ramp}ms`, target: Number(env.VUS || 200)}],
    },
    sustained: {
        executor: 'constant-arrival-rate',
        startTime: `${ramp}ms`,
        rate: Number(env.RATE || 500),
        timeUnit: '1s',
        duration: `${whole - ramp}ms`,
        preAllocatedVUs: 500,
        maxVUs: 5000,
    },
};

const warmup = {warmup: {executor: 'constant-vus', vus: 10, duration: `${whole}ms`}};

export const options = {scenarios: env.BENCHCTL_WARMUP === 'true' ? warmup : measured};

function upTo(n) {
    return 1 + Math.floor(Math.random() * n);
}

function survey() {
    return JSON.stringify({name: 'survey', score: upTo(101) - 1});
}

// Of eleven requests six, two, two and one. A name keeps ids apart from the figures.
const readOne = () => http.get(`${url}/surveys/${upTo(1000)}`, Object.assign({tags: {name: 'read one'}}, plain));
const readList = () => http.get(`${url}/surveys?limit=20`, plain);
const insert = () => http.post(`${url}/surveys`, survey(), json);
const update = () => http.put(`${url}/surveys/${upTo(1000)}`, survey(), Object.assign({tags: {name: 'update'}}, json));
const requests = [readOne, readOne, readOne, readOne, readOne, readOne, readList, readList, insert, insert, update];

export default function () {
    requests[upTo(requests.length) - 1]();
}
