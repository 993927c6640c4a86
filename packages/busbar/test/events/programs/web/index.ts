/** A program publishes: `/emit/placed/1` and the like. */
import { createServer } from 'node:http'
import { publisher, safe } from 'busbar/client'
import { orders } from '../orders/contract.ts'

const events = publisher(orders)

const answers: Record<string, (id: number) => Promise<unknown>> = {
  'emit/placed': (id) => events.placed.emit(placed(id)),
  'broadcast/placed': (id) => events.placed.broadcast(placed(id)),
  'emit/billed': (id) => events.billed.emit({ id }),
  'emit/heavy': (id) => events.billed.emit({ id, more: 'x'.repeat(300_000) } as { id: number }),
  'emit/unheard': (id) => events.unheard.emit({ id }),
  'emit/failing': (id) => events.failing.emit({ id }),
  invalid: async () => (await safe(events.placed.emit({ ...placed(1), id: 'x' as never }) as never))[0]?.code,
  large: async () =>
    (await safe(events.placed.emit({ ...placed(1), data: new Uint8Array(2 ** 20) }) as never))[0]?.code,
  opens: () => events.opened.broadcast({}),
}

function placed(id: number) {
  return { id, at: new Date(id), amount: String(id / 2), data: new Uint8Array([id, 255]) }
}

createServer(async (request, response) => {
  const [, name, id] = /^\/(.*?)(?:\/(\d+))?$/.exec(request.url!)!
  const answer = (await answers[name!]?.(Number(id))) ?? null
  response.setHeader('connection', 'close').end(JSON.stringify(answer))
}).listen(0)
