import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { keeper } from '../keeper/contract.ts'

const keepers = client(keeper)
let begun = 0

const answers: Record<string, () => Promise<unknown>> = {
  /** The instances that answered for each of ten keys. */
  '/keys': async () => {
    const names = Array.from({ length: 10 }, (_, at) => `key ${at}`)
    return await Promise.all(
      names.map(async (name) => [...new Set(await Promise.all([1, 2, 3, 4].map(() => keepers.where({ name }))))]),
    )
  },
  '/who': () => keepers.who(),
  '/begun': async () => begun,
  '/waits': async () => {
    begun++
    return (await safe(keepers.waits()))[0]?.code
  },
  '/ticks': async () => {
    try {
      for await (const tick of keepers.ticks()) if (tick === 2) begun++
      return 'ended'
    } catch (error) {
      return (error as { code: string }).code
    }
  },
}

createServer(async (req, res) => {
  try {
    res.end(JSON.stringify((await answers[req.url!]?.()) ?? null))
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    res.writeHead(500).end(JSON.stringify({ code, message }))
  }
}).listen(3000)
