// `/compute/5?100` computes for 5 ms, by a typed call or by a request, and gives up after 100.
import { createServer } from 'node:http'
import { client } from 'busbar/client'
import { compute } from '../compute/contract.ts'

const { spin } = client(compute)

const ways = {
  compute: (ms, timeout) => spin(ms, { timeout }),
  pages: async (ms, timeout) =>
    await (await fetch(`http://pages.internal/${ms}`, { signal: AbortSignal.timeout(timeout) })).text(),
}

createServer(async (request, response) => {
  const { pathname, search } = new URL(request.url, 'http://web')
  const [, way, ms] = pathname.split('/')
  try {
    response.end(await ways[way](Number(ms), Number(search.slice(1))))
  } catch (error) {
    response.end(String(error.name === 'TimeoutError' ? error.name : error.code))
  }
}).listen(3000)
