/**
 * Mutated connections over TLS, half of them frames of HTTP/2, half of them requests of HTTP/1:
 * `node --conditions=busbar-source scripts/entrance/attack/fuzz-http2.ts [--count 20000] [--seed 1]`
 *
 * Beside them, a healthy client asks. Fails if a worker dies, a panic occurs, or something stays
 * open or in flight.
 */
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { parseArgs } from 'node:util'
import {
  endHeaders,
  endStream,
  frame,
  frameType as type,
  get,
  getBlock,
  literal,
  preface,
  settings,
  word,
} from '../../../packages/busbar/test/entrance/http2-frames.ts'
import { eventually, Served } from '../../../packages/busbar/test/entrance/served.ts'
import { corpus } from '../../../packages/busbar/test/raw/corpus/corpus.ts'
import { selfSigned } from '../../../packages/busbar/test/support/http/certificate.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})
const count = Number(values.count)
let state = BigInt(values.seed) * 0x9e3779b97f4a7c15n + 1n

const post = frame(type.headers, endHeaders, 3, [0x83, 0x87, 0x84, 0x41, 1, 0x61])
const http2Seeds: readonly Buffer[][] = [
  [preface, settings, get(1), get(3)],
  [preface, settings, post, frame(type.data, 0, 3, Buffer.alloc(500)), frame(type.data, endStream, 3, [])],
  [
    preface,
    settings,
    frame(type.headers, endStream, 1, getBlock.slice(0, 2)),
    frame(type.continuation, 4, 1, getBlock.slice(2)),
  ],
  [
    preface,
    frame(type.settings, 0, 0, [0, 4, ...word(1), 0, 1, ...word(0)]),
    get(1),
    frame(type.windowUpdate, 0, 1, word(9)),
  ],
  [preface, settings, get(1), frame(type.reset, 0, 1, word(8)), frame(type.ping, 0, 0, Buffer.alloc(8)), get(5)],
  [
    preface,
    settings,
    frame(type.headers, endHeaders | endStream, 1, [...getBlock, ...literal('x-a', 'b'.repeat(300), true)]),
    get(3, [...getBlock, 0x80 | 62]),
  ],
  [preface, settings, frame(type.priority, 0, 1, [0, 0, 0, 0, 5]), frame(type.goaway, 0, 0, Buffer.alloc(8)), get(1)],
]
const http1Seeds = Object.values(corpus).map((texts) => Buffer.from(texts.join(''), 'latin1'))

await using served = await Served.start()
const tls = await selfSigned()
served.native.setCertificates([{ ...tls, names: [] }], {})
const { port } = served.native.listen('127.0.0.1', 0, true)
const ends = new Map<string, number>()
const deaths: number[] = []
for (const worker of served.workers) worker.on('exit', (code) => deaths.push(code))

let next = 0
await Promise.all(Array.from({ length: 24 }, run))
console.log(JSON.stringify(Object.fromEntries(ends)))
console.log(`healthy: ${await ask()}`)
await eventually(() => served.native.open === 0)
const stats = served.native.stats()
console.log(JSON.stringify(stats))
if (deaths.length > 0 || stats['panics'] !== 0 || stats['in_flight'] !== 0) process.exitCode = 1

async function run(): Promise<void> {
  while (next < count) {
    const isHttp2 = next % 2 === 0
    if (next++ % 500 === 0) await ask()
    const end = await attack(isHttp2 ? mutatedFrames() : mutated(pick(http1Seeds)), isHttp2 ? 'h2' : 'http/1.1')
    const key = `${isHttp2 ? 'HTTP/2' : 'HTTP/1'}: ${end}`
    ends.set(key, (ends.get(key) ?? 0) + 1)
  }
}

/** How it ended, or that it was still open after a while. */
async function attack(bytes: Buffer, protocol: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: tls.cert, ALPNProtocols: [protocol] })
  return await new Promise((resolve) => {
    let seen = ''
    let timer = setTimeout(finish, 3000, 'no handshake')
    function finish(how: string): void {
      clearTimeout(timer)
      socket.destroy()
      resolve(how)
    }
    socket.on('error', () => finish(seen === '' ? 'an error' : `${seen}, then an error`))
    socket.on('close', () => finish(seen === '' ? 'the end' : `${seen}, then the end`))
    socket.on('secureConnect', () => {
      clearTimeout(timer)
      timer = setTimeout(() => finish(seen === '' ? 'open' : `${seen}, open`), 80)
      socket.write(bytes)
    })
    socket.on('data', () => {
      seen = 'an answer'
    })
  })
}

async function ask(): Promise<string> {
  const session = connectHttp2(`https://localhost:${port}`, { ca: tls.cert })
  const stream = session.request({ ':path': '/thread' }).setEncoding('utf8')
  let text = ''
  for await (const more of stream) text += String(more)
  session.destroy()
  if (text === '') throw new Error('the healthy client got no answer')
  return text
}

/** Whole frames are mixed as well as their bytes. */
function mutatedFrames(): Buffer {
  const frames = [...pick(http2Seeds)]
  for (let n = below(4); n > 0; n--) {
    const at = 1 + below(frames.length)
    if (below(2) === 0) frames.splice(at, 0, pick(pick(http2Seeds)))
    else frames.splice(at, 1)
  }
  const start = below(10) === 0 ? 0 : 1
  const tail = Buffer.concat(frames.slice(start))
  const body = below(5) === 0 ? tail : mutated(tail)
  return start === 0 ? body : Buffer.concat([preface, body])
}

function mutated(seed: Buffer): Buffer {
  let bytes = Buffer.from(seed.subarray(0, 6000))
  for (let n = below(6); n >= 0; n--) {
    const at = below(bytes.length + 1)
    const length = below(20)
    const some = Buffer.from(Array.from({ length: below(9) }, () => below(256)))
    if (below(3) === 0 && bytes.length > 0) bytes[Math.min(at, bytes.length - 1)] = below(256)
    else if (below(2) === 0) bytes = Buffer.concat([bytes.subarray(0, at), some, bytes.subarray(at + length)])
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)])
  }
  return bytes
}

function pick<T>(all: readonly T[]): T {
  return all[below(all.length)]!
}

/** xorshift64*, so that a seed repeats a run. */
function below(limit: number): number {
  state ^= (state << 13n) & 0xffffffffffffffffn
  state ^= state >> 7n
  state ^= (state << 17n) & 0xffffffffffffffffn
  return Number(state % BigInt(limit))
}
