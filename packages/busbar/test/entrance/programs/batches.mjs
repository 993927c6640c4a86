// How many requests were begun before the ticks and promises of the first of them ran.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

let open = 0
let most = 0

createServer(({ url }, response) => {
  if (url === '/most') return response.end(String(most))
  if (url === '/block') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    return response.end('unblocked')
  }
  if (process.env.BEGUN) appendFileSync(process.env.BEGUN, `${url}\n`)
  if (url === '/throw') throw new Error('deliberate')
  most = Math.max(most, ++open)
  void Promise.resolve().then(() =>
    process.nextTick(() => {
      open--
      response.end('answered')
    }),
  )
}).listen(process.env.PORT)
