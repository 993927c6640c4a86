/** The caller. `WAY` selects the client, `ORIGINS` (a JSON list) the services. */
import { byFetch, byHttp, byPool, byRequest, type Call } from './clients.ts'
import { serveEntry } from './serve-entry.ts'

const origins = JSON.parse(process.env['ORIGINS'] ?? '[]') as string[]
await serveEntry(await callsBy(process.env['WAY'] ?? 'request'))

async function callsBy(way: string): Promise<Call[]> {
  if (way === 'fetch') return byFetch(origins)
  if (way === 'request') return byRequest(origins)
  if (way === 'http') return byHttp(origins)
  if (way === 'pool') return byPool(origins, Number(process.env['CONNECTIONS'] ?? 0))
  throw new Error(`there is no way "${way}"`)
}
