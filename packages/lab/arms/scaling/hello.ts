/** One plain `node:http` service: `/` answers at once, `/cpu?ms=4` computes first. Exports nothing, listens on `PORT`. */
import http from 'node:http'

const body = JSON.stringify({ hello: 'world' })

http
  .createServer((request, response) => {
    const url = request.url ?? '/'
    if (url.startsWith('/cpu')) compute(Number(url.slice('/cpu?ms='.length)))
    response.setHeader('content-type', 'application/json')
    response.end(body)
  })
  .listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1', reusePort: process.env['REUSE_PORT'] === '1' })

/** By the thread's own clock: on a busy machine the clock on the wall would count what others computed. */
function compute(milliseconds: number): void {
  const end = used() + milliseconds * 1000
  while (used() < end) for (let turn = 0; turn < 1000; turn++) Math.sqrt(end)
}

/** Microseconds. */
function used(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
