// `/compute/5?100` computes for 5 ms, by a typed call, a request or a connection of its own, and
// gives up after 100.
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { client } from 'busbar/client'
import { compute } from '../compute/contract.ts'

const { spin } = client(compute)

const ways = {
  compute: (ms, timeout) => spin(ms, { timeout }),
  pages: async (ms, timeout) =>
    await (await fetch(`http://pages.internal/${ms}`, { signal: AbortSignal.timeout(timeout) })).text(),
  connection: async (ms, timeout) => {
    const [answer] = await once(
      get(`http://pages.internal/${ms}`, { signal: AbortSignal.timeout(timeout) }),
      'response',
    )
    return await text(answer)
  },
}

createServer(async (request, response) => {
  const { pathname, search } = new URL(request.url, 'http://web')
  const [, way, ms] = pathname.split('/')
  try {
    response.end(await ways[way](Number(ms), Number(search.slice(1))))
  } catch (error) {
    response.end(String(nameOf(error)))
  }
}).listen(3000)

function nameOf({ name, code, cause }) {
  return [name, cause?.name].includes('TimeoutError') ? 'TimeoutError' : code
}
