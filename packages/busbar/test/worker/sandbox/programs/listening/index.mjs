import { once } from 'node:events'
import { createServer } from 'node:http'
import net from 'node:net'

const report = {}
const order = []
const server = createServer((_, res) => res.end(JSON.stringify(report)))

server.on('listening', () => order.push('event'))
report.returnsItself = server.listen(0, () => order.push('callback')) === server
report.atOnce = server.listening
order.push('after')
await once(server, 'listening')
const { address, family, port } = server.address()
report.order = order
report.address = [address, family]
report.plausiblePort = port >= 1024 && port < 65_536

try {
  server.listen(1)
} catch (error) {
  report.twice = error.code
}

const rival = createServer()
rival.listen(port)
const [error] = await once(rival, 'error')
report.rival = [error.code, error.syscall, error.address, error.port === port, rival.listening, rival.address()]

const next = createServer().listen(port + 1, '127.0.0.1')
await once(next, 'listening')
report.next = next.address().address
report.connections = await new Promise((done) => next.getConnections((_, count) => done(count)))
await new Promise((done) => next.close(done))
report.closed = [next.listening, next.address()]
next.listen({ port: port + 1, host: 'localhost' })
await once(next, 'listening')
report.again = next.listening
next.ref().unref()
next.close()

const piped = createServer().listen({ path: '/tmp/busbar-never-made.sock', readableAll: true })
await once(piped, 'listening')
report.path = piped.address()
piped.close()

const raw = net.createServer((socket) => socket.end('raw')).listen(0, '127.0.0.1')
await once(raw, 'listening')
report.raw = await new Promise((done) => {
  net.connect(raw.address().port, '127.0.0.1').setEncoding('utf8').on('data', done)
})
raw.close()

report.refused = await new Promise((done) => net.connect(port, '127.0.0.1').on('error', ({ code }) => done(code)))
