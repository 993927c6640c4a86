import { offload } from 'busbar'
import express from 'express'
import fibonacci from './fibonacci.js'

const task = new URL('./fibonacci.js', import.meta.url)
/** About half a second. Two more take twice as long. */
const largest = 40

let requests = 0
const server = express()

server.use((request, _response, next) => {
  request.label = `${request.path}[${++requests}]`
  request.accepted = performance.now()
  next()
})

server.get('/hello', (_request, response) => response.json({ hello: 'world' }))

server.get('/prime/single', (request, response) => {
  answer(request, response, fibonacci(numberOf(request)))
})

// Express 5 handles a rejection.
// oxlint-disable-next-line oxc/no-async-endpoint-handlers
server.get('/prime/worker', async (request, response) => {
  answer(request, response, { res: await offload(task, numberOf(request), { timeout: 30_000 }) })
})

// Express recognises an error handler by its four parameters.
server.use((error, _request, response, _next) => {
  const status = error.status ?? 500
  response.status(status).type('application/problem+json')
  response.send(JSON.stringify({ type: 'about:blank', status, title: error.message, code: error.code }))
})

server.listen(process.env.PORT ?? 3047, '127.0.0.1')

function numberOf({ query: { n = '30' } }) {
  const number = /^\d{1,2}$/.test(n) ? Number(n) : NaN
  if (number <= largest) return number
  throw Object.assign(new Error(`n is a whole number from 0 to ${largest}`), { status: 400, code: 'INPUT_INVALID' })
}

function answer({ label, accepted }, response, msg) {
  response.json({ msg, durationAfterRequestAccept: `${label}: ${(performance.now() - accepted).toFixed(3)}ms` })
}
