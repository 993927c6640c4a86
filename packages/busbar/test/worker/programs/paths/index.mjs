/**
 * Calls every Node function that takes a path with a relative one, and answers with the results,
 * which must be the same at every placement.
 */
import { createServer } from 'node:http'
import { cases } from './cases.mjs'
import { request } from './named.mjs'

const server = createServer(async (_, response) => {
  const results = {}
  for (const [name, run] of Object.entries({ ...cases, ...request })) results[name] = await outcome(run)
  response.end(JSON.stringify(results))
})

async function outcome(run) {
  try {
    return (await run()) ?? null
  } catch (error) {
    const { name, code, path, dest, syscall, message } = error
    return { error: { name, code, path, dest, syscall, message, stack: String(error.stack).split('\n')[0] } }
  }
}

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
