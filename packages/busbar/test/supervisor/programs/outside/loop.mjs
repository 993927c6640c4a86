// Calls itself, or the other of a pair, until a call fails, and returns the failure.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

const { NEXT = 'shop', PORT = 3000 } = process.env
const caller = fileURLToPath(new URL('loop-caller.mjs', import.meta.url))

const ways = {
  fetch: async (url) => {
    const response = await fetch(url)
    return { status: response.status, body: await response.text() }
  },
  http: (url) => get(url, {}),
  // Node sends these before a header can be added.
  list: (url) => get(url, { agent: false, headers: ['Host', new URL(url).host] }),
  thread: async () => (await once(new Worker(caller, { argv: ['thread'] }), 'message'))[0],
  process: async () => (await once(fork(caller, ['process']), 'message'))[0],
}

function get(url, options) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, options, async (response) => {
      resolve({ status: response.statusCode, body: await text(response) })
    })
    request.on('error', reject)
  })
}

http
  .createServer(async (request, response) => {
    const way = request.url.slice(1)
    const { status, body } = await ways[way](`http://${NEXT}.internal/${way}`).catch((error) => ({
      status: 502,
      body: error.stack,
    }))
    response
      .writeHead(status, { connection: 'close' })
      .end(status === 508 && body.startsWith('{') ? JSON.parse(body).code : body)
  })
  .listen(PORT)
