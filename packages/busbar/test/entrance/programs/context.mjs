// What each event of a connection sees of the store in which the program has listened.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'

const storage = new AsyncLocalStorage()
const seen = []
const see = (event) => seen.push(`${event}: ${storage.getStore()}`)

/** Writes more than a client has room for. */
function respond({ url }, response) {
  response
    .on('drain', () => see('drain'))
    .on('finish', () => see('finish'))
    .on('close', () => see('closed'))
  if (url === '/long') {
    response.write('x'.repeat(1_000_000), () => see('write callback'))
    return response.end('x'.repeat(4_000_000) + 'the end', () => see('end callback'))
  }
  let pieces = 60
  const read = () => {
    see('source read')
    source.push(pieces-- > 0 ? 'x'.repeat(65_536) : pieces === -1 ? 'the end' : null)
  }
  const source = new Readable({ read })
  source.pipe(response)
}

const server = createServer((request, response) => {
  if (request.url === '/seen') return response.end(JSON.stringify(seen))
  see('request')
  if (request.url === '/long' || request.url === '/pipe') return storage.run('own', respond, request, response)
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
