import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { jobs, type Peril } from '../jobs/contract.ts'

const { who, once, again, ticks } = client(jobs)

const answers: Record<string, (peril: Peril) => Promise<unknown>> = {
  who: () => who(),
  once: async (peril) => (await safe(once(peril)))[0]?.code,
  again: (peril) => again(peril),
  ticks: async (peril) => {
    const seen: unknown[] = []
    try {
      for await (const tick of ticks(peril)) seen.push(tick)
    } catch (error) {
      seen.push((error as { code: string }).code)
    }
    return seen
  },
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://web')
  const answer = answers[pathname.slice(1)]!({ way: searchParams.get('way')!, file: searchParams.get('file')! })
  answer.then(
    (value) => response.end(JSON.stringify(value)),
    (error: Error) => response.writeHead(500).end(String(error.stack)),
  )
}).listen(3000)
