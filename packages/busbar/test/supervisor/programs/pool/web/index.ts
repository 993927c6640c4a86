import { createServer } from 'node:http'
import { client } from 'busbar/client'
import { compute } from '../compute/contract.ts'

interface Call {
  readonly name: string
  readonly ms: number
  readonly options?: { readonly timeout?: number; readonly priority?: number }
}

const computing = client(compute)

/** Makes the calls of its body, all at once, and answers what became of each. */
createServer(async (request, response) => {
  const calls = (await new Response(request as never).json()) as Call[]
  const outcomes = await Promise.all(
    calls.map(async ({ name, ms, options }) => {
      try {
        return { name, ...(await computing.spin({ name, ms }, options)) }
      } catch (error) {
        return { name, code: (error as { code: string }).code }
      }
    }),
  )
  response.end(JSON.stringify(outcomes))
}).listen(3000)
