// Blocks until half a second after the next start of the service that it needs, then calls it at
// once.
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'

const nap = new Int32Array(new SharedArrayBuffer(4))

createServer(async (_, response) => {
  console.log('hears nothing')
  while (readdirSync(process.env.NOTES).length < 2) Atomics.wait(nap, 0, 0, 20)
  Atomics.wait(nap, 0, 0, 500)
  const body = new Blob(['x'.repeat(100_000)]).stream()
  const answer = await fetch('http://notes.internal/', { method: 'POST', body, duplex: 'half' })
  response.writeHead(answer.status).end(await answer.text())
}).listen(3000)
