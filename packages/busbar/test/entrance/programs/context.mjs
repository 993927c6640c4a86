// What each event of a connection sees of the store in which the program has listened.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'

const storage = new AsyncLocalStorage()
const seen = []
const see = (event) => seen.push(`${event}: ${storage.getStore()}`)

const server = createServer((request, response) => {
  if (request.url === '/seen') return response.end(JSON.stringify(seen))
  see('request')
  // Not for the requests behind it.
  storage.enterWith(`of ${request.url}`)
  if (request.url === '/timeout') return void request.socket.setTimeout(1)
  request.resume().on('end', () => {
    response.write('x'.repeat(1_000_000), () => see('written'))
    response.end()
  })
})
server.on('connection', (socket) => {
  see('connection')
  socket.on('data', () => see('data'))
  socket.on('close', () => see('close'))
})
server.on('timeout', (socket) => {
  see('timeout')
  socket.destroy()
})
storage.run('of the program', () => server.listen(process.env.PORT ?? 3000))
