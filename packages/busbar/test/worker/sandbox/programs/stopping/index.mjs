import { writeSync } from 'node:fs'
import { createServer } from 'node:http'

const name = process.env.NAME
const server = createServer((req, res) => {
  if (req.url === '/slow') {
    console.log(`${name} began`)
    setTimeout(() => res.end(JSON.stringify({ slow: true })), 300)
  } else if (req.url === '/parts') {
    console.log(`${name} began`)
    res.writeHead(200, { 'content-length': 2 }).write('{')
    setTimeout(() => res.end('}'), 1000)
  } else if (req.url === '/never') console.log(`${name} began`)
  else res.end('{}')
})
server.on('close', () => console.log(`${name} closed`))
process.on('exit', (code) => console.log(`${name} exit ${code}`))

const handlers = {
  none: () => {},
  exits: () =>
    process.on('SIGTERM', (signal, number) => {
      console.log(`${name} got ${signal} ${number}`)
      process.exit(0)
    }),
  closes: () =>
    process.on('SIGTERM', () =>
      server.close((error) => {
        console.log(`${name} close said ${error ?? 'nothing'}`)
        process.exit(0)
      }),
    ),
  catches: () =>
    process.on('SIGTERM', async () => {
      try {
        await new Promise((done) => server.close(done))
        process.exit(0)
      } catch (error) {
        console.error(`${name} caught ${error}`)
        process.exit(1)
      } finally {
        await undefined
        writeSync(1, `${name} is past its exit\n`)
      }
    }),
  nested: () => {
    process.on('exit', () => process.exit(3))
    process.on('exit', (code) => console.log(`${name} exit again ${code}`))
    process.on('SIGTERM', () => process.exit(0))
  },
  interrupt: () => process.once('SIGINT', () => console.log(`${name} got SIGINT`)),
  async: () =>
    process.on('SIGTERM', async () => {
      server.close()
      await new Promise((done) => setTimeout(done, 50))
      console.log(`${name} cleaned up`)
    }),
  hidden: () =>
    process.on('SIGTERM', () => {
      server.close()
      setTimeout(() => setTimeout(() => console.log(`${name} cleaned up`), 50), 50)
    }),
  breaks: () =>
    process.on('SIGTERM', () => {
      throw new Error('broke while stopping')
    }),
  again: () =>
    process.on('SIGTERM', function again() {
      process.off('SIGTERM', again)
      console.log(`${name} kills itself`)
      process.kill(process.pid, 'SIGTERM')
    }),
}
handlers[process.env.HANDLER ?? 'none']()
server.listen(3000)
