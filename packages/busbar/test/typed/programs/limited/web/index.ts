import { createServer } from 'node:http'
import { client } from 'busbar/client'
import { draw } from '../draw/contract.ts'

const drawing = client(draw)

/** By path: the action, which runs `times` times in parallel. */
const actions: Record<string, (query: URLSearchParams, index: number) => PromiseLike<unknown>> = {
  '/slowly': (query) =>
    drawing.slowly({ ms: Number(query.get('ms')) }, { timeout: Number(query.get('timeout') ?? 10_000) }),
  '/count': (query, index) => drawing.count({ user: `user ${Number(query.get('from')) + index}` }),
}

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://web')
  const times = Array.from({ length: Number(searchParams.get('times')) }, (_, index) => index)
  const outcomes = await Promise.all(
    times.map(async (index) => {
      try {
        return await actions[pathname]!(searchParams, index)
      } catch (error) {
        return { code: (error as { code: string }).code }
      }
    }),
  )
  response.end(JSON.stringify(outcomes))
}).listen(3000)
