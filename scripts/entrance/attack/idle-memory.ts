/**
 * What idle connections of HTTP/1.1 add to the memory of an app's process:
 * `node --conditions=busbar-source scripts/entrance/attack/idle-memory.ts [--connections 10000]`
 *
 * Once for connections that have sent nothing, and once for those that have had an answer. Needs
 * twice as many descriptors. Prints the growth of the proportional memory, at once and after a
 * garbage collection.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { connections: { type: 'string', default: '10000' } } })
const connections = Number(values.connections)

for (const asks of [false, true]) await measure(asks)

async function measure(asks: boolean): Promise<void> {
  const program = `${import.meta.dirname}/../../../packages/busbar/test/entrance/programs/behaviours.mjs`
  const args = ['--conditions=busbar-source', `${import.meta.dirname}/../serve.ts`, program]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const [text] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { port } = JSON.parse(text) as { port: number }
    const pss = (): number =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024
    for (let n = 0; n < 2000; n++) await (await fetch(`http://127.0.0.1:${port}/thread`)).text()
    const before = pss()
    const sockets: Socket[] = []
    while (sockets.length < connections)
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => open(port, asks)))))
    const then = pss()
    await new Promise((resolve) => setTimeout(resolve, 6000))
    const open_ = sockets.filter(({ destroyed }) => !destroyed).length
    console.log(
      `${connections} connections, ${asks ? 'an answer each' : 'nothing sent'}: ${before.toFixed(0)} MB, ` +
        `+${(then - before).toFixed(0)} MB, after 6 s +${(pss() - before).toFixed(0)} MB (${open_} open)`,
    )
    for (const socket of sockets) socket.destroy()
  } finally {
    child.kill('SIGTERM')
  }
}

async function open(port: number, asks: boolean): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  await once(socket, 'connect')
  if (!asks) return socket
  socket.write('GET /thread HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  return socket
}
