/**
 * A plain `node:http` service: `/` answers at once, `/cpu?ms=4` computes first. Listens on `PORT`.
 */
import http from 'node:http'

const body = JSON.stringify({ hello: 'world' })
const turnsPerMillisecond = 600_000
let state = 1

http
  .createServer((request, response) => {
    const url = request.url ?? '/'
    if (url.startsWith('/cpu')) compute(Number(url.slice('/cpu?ms='.length)))
    response.setHeader('content-type', 'application/json')
    response.end(body)
  })
  .listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1', reusePort: process.env['REUSE_PORT'] === '1' })

/**
 * A fixed amount of work, which takes about this long on a processor with 3 GHz. A loop that reads
 * the wall clock would do less on a busy machine, and the thread's CPU clock is only precise to a
 * kernel tick. The count is an integer: V8 compiles a loop that starts with a fraction to slower
 * code (3 % more turns took 17 % more time).
 */
function compute(milliseconds: number): void {
  for (let turn = (milliseconds * turnsPerMillisecond) | 0; turn > 0; turn--)
    state = Math.imul(state ^ turn, 0x5bd1e995)
}
