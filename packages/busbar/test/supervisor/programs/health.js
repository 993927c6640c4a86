// A server whose health can be changed: each instance is asked by its own keep-alive connection.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const id = randomInt(2 ** 32)
let status = 200
let checks = 0

/** While the file of this variable does not exist, the instance is not healthy yet. */
const { READY_FILE } = process.env

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://any')
  if (pathname === '/health') {
    checks++
    if (status === 0) return
    const isReady = READY_FILE === undefined || existsSync(READY_FILE)
    if (!isReady && existsSync(dirname(READY_FILE))) writeFileSync(`${READY_FILE}.asked`, '')
    response.statusCode = isReady ? status : 503
  }
  if (pathname === '/set') status = Number(searchParams.get('status'))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id, checks, pid: process.pid }))
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1')
