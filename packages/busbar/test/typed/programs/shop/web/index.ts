import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { calc } from '../calc/contract.ts'
import { catalog } from '../catalog/contract.ts'
import { stock } from '../stock/contract.ts'

const products = client(catalog)
const stocks = client(stock)
const sums = client(calc, undefined, { service: 'sums' })
const store = new AsyncLocalStorage<string>()
Object.assign(globalThis, { webStore: store })

const answers: Record<string, () => Promise<unknown>> = {
  '/product': () => products.product({ id: 3 }),
  '/missing': async () => {
    const [error] = await safe(products.product({ id: 100 }))
    return error?.code === 'NOT_FOUND' ? { status: error.status, data: error.data } : error
  },
  '/invalid': async () => (await safe(products.product({ id: 'x' as never })))[0]?.code,
  '/context': () => store.run('of web', () => stocks.context()),
  '/inherited': () => products.inherited(undefined, { timeout: 5000 }),
  '/slow': async () => (await safe(products.slow({ name: 'web' }, { timeout: 50 })))[0]?.code,
  '/aborted': () => stocks.aborted(),
  '/around': async () => (await safe(stocks.around()))[0],
  '/ticks': async () => {
    const seen: number[] = []
    for await (const tick of stocks.ticks()) seen.push(tick)
    return seen
  },
  '/sum': async () => [await sums.add(1, 2), await sums.add(1, 2)],
  '/unknown': async () => (await safe(client({ ...stock, name: 'stok' }).aborted()))[0],
  '/program': async () => (await safe(client({ ...stock, name: 'web' }).aborted()))[0]?.code,
  '/by-name': async () => await (await fetch('http://catalog.internal/products/4')).json(),
}

createServer(async (req, res) => {
  const answer = answers[req.url!]
  if (!answer) return void res.writeHead(404).end()
  try {
    const value = (await answer()) as { code?: string; message?: string } | undefined
    const shown =
      value instanceof Error
        ? { code: value.code, message: value.message, data: (value as { data?: unknown }).data }
        : value
    res.setHeader('content-type', 'application/json').end(JSON.stringify(shown ?? null))
  } catch (error) {
    res.writeHead(500).end(String((error as Error).stack))
  }
}).listen(3000)
