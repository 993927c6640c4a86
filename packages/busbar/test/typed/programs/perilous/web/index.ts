import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { jobs } from '../jobs/contract.ts'

const { who, once, again, ticks } = client(jobs)

const answers: Record<string, (way: string, file: string) => Promise<unknown>> = {
  who: () => who(),
  once: async (way) => (await safe(once(way)))[0]?.code,
  again: (way, file) => again({ way, file }),
  ticks: async (way) => {
    const seen: unknown[] = []
    try {
      for await (const tick of ticks(way)) seen.push(tick)
    } catch (error) {
      seen.push((error as { code: string }).code)
    }
    return seen
  },
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://web')
  const answer = answers[pathname.slice(1)]!(searchParams.get('way')!, searchParams.get('file')!)
  answer.then(
    (value) => response.end(JSON.stringify(value)),
    (error: Error) => response.writeHead(500).end(String(error.stack)),
  )
}).listen(3000)
