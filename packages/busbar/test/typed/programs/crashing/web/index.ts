import { createServer } from 'node:http'
import { client, safe } from 'busbar/client'
import { jobs, type Crash } from '../jobs/contract.ts'

const { who, once, again, ticks } = client(jobs)

const answers: Record<string, (crash: Crash) => Promise<unknown>> = {
  who: () => who(),
  once: async (crash) => (await safe(once(crash)))[0]?.code,
  again: (crash) => again(crash),
  ticks: async (crash) => {
    const seen: unknown[] = []
    try {
      for await (const tick of ticks(crash)) seen.push(tick)
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
