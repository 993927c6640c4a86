import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { client, safe } from 'busbar/client'
import { stock } from '../stock/contract.ts'

const stocks = client(stock)
const cart = 'http://cart.internal'

async function fetched(path: string, init?: RequestInit): Promise<void> {
  await (await fetch(cart + path, init)).arrayBuffer()
}

const actions: Record<string, () => Promise<unknown>> = {
  '/http': async () => {
    await Promise.all([fetched('/'), fetched('/'), fetched('/missing'), fetched('/fault'), fetched('/large')])
    await fetched('/', { method: 'POST', body: 'an item' })
    await fetched('/hang-up', { method: 'POST', body: 'an item' }).catch(() => {})
    const [answer] = await once(get(cart, { agent: false }), 'response')
    await text(answer)
  },
  '/typed': async () => {
    for (let id = 0; id < 5; id++) await safe(stocks.count({ id }))
    await safe(stocks.count({ id: 'one' as never }))
    await safe(stocks.broken())
    await safe(stocks.slow(undefined, { timeout: 20 }))
    for await (const _ of stocks.ticks());
    for await (const _ of stocks.ticks()) break
  },
  '/fault': () => Promise.reject(new Error('wanted')),
}

createServer(async (req, res) => {
  const action = actions[req.url!]
  try {
    await action?.()
    res.writeHead(action === undefined ? 404 : 200).end()
  } catch {
    res.writeHead(500).end()
  }
}).listen(3000)
