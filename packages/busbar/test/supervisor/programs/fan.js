// Makes a number of simultaneous calls to another service by a given client, and returns the
// results.
import { createServer, get } from 'node:http'

const clients = {
  fetch: async (url) => {
    const answer = await fetch(url)
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() }
  },
  http: (url) =>
    new Promise((resolve, reject) => {
      get(url, { agent: false }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += chunk))
        answer.on('end', () => {
          const retryAfter = answer.headers['retry-after'] ?? null
          resolve({ status: answer.statusCode, retryAfter, body: JSON.parse(text) })
        })
      }).on('error', reject)
    }),
}

createServer(async (request, response) => {
  const { searchParams } = new URL(request.url, 'http://any')
  const call = clients[searchParams.get('client')]
  const url = `http://render.internal/?ms=${searchParams.get('ms')}`
  const outcomes = await Promise.all(
    Array.from({ length: Number(searchParams.get('count')) }, () =>
      call(url).catch(({ stack }) => ({ status: 0, stack })),
    ),
  )
  response.end(JSON.stringify(outcomes))
}).listen(3000)
