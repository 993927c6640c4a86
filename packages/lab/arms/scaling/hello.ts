/** One plain `node:http` service: `/` answers at once, `/cpu?ms=4` computes first. Exports nothing, listens on `PORT`. */
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
 * So much work that it takes about that long on a processor of 3 GHz, and the same work everywhere: a loop that looks at
 * a clock does less on a busy machine by the wall's, and the thread's own is only right to a tick of the kernel. Counted in
 * integers: a loop that begins with a number that had a fraction is compiled to other code, and 3 per cent more turns
 * took 17 per cent more time.
 */
function compute(milliseconds: number): void {
  for (let turn = (milliseconds * turnsPerMillisecond) | 0; turn > 0; turn--)
    state = Math.imul(state ^ turn, 0x5bd1e995)
}
