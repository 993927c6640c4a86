/**
 * A thousand clients that are slow in one way, beside one that is not:
 * `node --conditions=busbar-source scripts/entrance/attack/slow-clients.ts [--connections 1000] [--seconds 15]`
 *
 * For each way: the memory of the server's process before, at its highest and after, the healthy
 * client's times, and how the slow connections ended.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { connections: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '15' } },
})
const [connections, seconds] = [Number(values.connections), Number(values.seconds)]

/** What a client sends at first, and then every second. `reads`: at most one piece in a second. */
interface Way {
  readonly first: string
  readonly next?: string
  readonly reads?: boolean
}

const ways: Readonly<Record<string, Way>> = {
  'says nothing': { first: '' },
  'slow head': { first: 'GET /seen HTTP/1.1\r\nHost: a\r\n', next: 'X-A: b\r\n' },
  'slow body': { first: 'POST /digest HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n', next: 'x' },
  'slow chunks': {
    first: 'POST /digest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    next: '1\r\nx\r\n',
  },
  'reads nothing of a large body': { first: 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n', reads: false },
  'reads nothing of many pieces': { first: 'GET /flow?bytes=50000000 HTTP/1.1\r\nHost: a\r\n\r\n', reads: false },
  'large heads, then idle': { first: `GET /seen HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(15_000)}\r\n\r\n` },
}

for (const [name, way] of Object.entries(ways)) await attack(name, way)

async function attack(name: string, way: Way): Promise<void> {
  const { child, port } = await serve()
  try {
    await timesOf(port, 50)
    const before = memoryOf(child)
    const clients = await Promise.all(Array.from({ length: connections }, () => open(port, way)))
    const end = Date.now() + seconds * 1000
    const times: number[] = []
    let most = 0
    while (Date.now() < end) {
      for (const { socket, isOpen } of clients) if (isOpen && way.next !== undefined) socket.write(way.next)
      times.push(...(await timesOf(port, 20)))
      most = Math.max(most, memoryOf(child))
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    const open_ = clients.filter(({ isOpen }) => isOpen).length
    const statuses = Map.groupBy(clients, ({ status }) => status)
    for (const { socket } of clients) socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    times.sort((one, other) => one - other)
    const at = (part: number): string => times[Math.floor((times.length - 1) * part)]!.toFixed(1)
    console.log(
      `${name}: ${before} MB PSS, then ${most} (${(((most - before) * 1024) / connections).toFixed(1)} KB each), ` +
        `after ${memoryOf(child)}; healthy: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
        `${open_} still open; ${[...statuses].map(([status, all]) => `${status}: ${all.length}`).join(', ')}`,
    )
  } finally {
    child.kill('SIGTERM')
  }
}

async function serve(): Promise<{ child: ChildProcess; port: number }> {
  const program = `${import.meta.dirname}/../../../packages/busbar/test/entrance/programs/behaviours.mjs`
  const args = ['--conditions=busbar-source', `${import.meta.dirname}/../serve.ts`, program]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [text] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, port: (JSON.parse(text) as { port: number }).port }
}

interface SlowClient {
  readonly socket: Socket
  isOpen: boolean
  /** Of what came: the status, if any. */
  status: string
}

async function open(port: number, way: Way): Promise<SlowClient> {
  const socket = connect({ port, host: '127.0.0.1' })
  const client: SlowClient = { socket, isOpen: true, status: 'no answer' }
  socket.on('error', () => {}).on('close', () => (client.isOpen = false))
  await once(socket, 'connect')
  if (way.reads === false) socket.pause()
  else socket.on('data', (bytes: Buffer) => (client.status = bytes.toString('latin1', 9, 12)))
  socket.write(way.first)
  return client
}

async function timesOf(port: number, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const begin = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/thread`)
    await response.text()
    times.push(performance.now() - begin)
  }
  return times
}

/** In MB. */
function memoryOf({ pid }: ChildProcess): number {
  return Math.round(Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024)
}
