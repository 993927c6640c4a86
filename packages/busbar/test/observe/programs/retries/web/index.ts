import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { prices } from '../prices/contract.ts'

const typed = client(prices)

/** `/fetch/<what>` calls the service `back`, `/typed/<what>` the service `prices`. */
createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url!, 'http://web')
  const [, how, what] = pathname.split('/')
  const id = searchParams.get('id')!
  if (how === 'exit') process.exit(1)
  res.statusCode = how === 'fetch' ? await fetched(what!, id, req.method!) : await called(what!, id)
  res.end()
}).listen(3000)

async function fetched(what: string, id: string, method: string): Promise<number> {
  try {
    const response = await fetch(`http://back.internal/${what}?id=${id}`, { method })
    await response.text()
    return response.status
  } catch {
    return 502
  }
}

async function called(what: string, id: string): Promise<number> {
  const [error] = await safe(typed[what as 'held' | 'quick' | 'exit']({ id }))
  return error === undefined ? 200 : 502
}
