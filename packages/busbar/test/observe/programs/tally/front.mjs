/** Calls the service `back` with one of several clients, and says how often it got which status. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request as open } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent as UndiciAgent, request as send } from 'undici'

const origin = 'http://back.internal'
const agent = new Agent({ keepAlive: true })
const dispatcher = new UndiciAgent()
/** For the files by which `back` says that it has a request. */
const folder = mkdtempSync(join(tmpdir(), 'tally-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Each makes a call, says what the status is, and reads the response. */
const clients = {
  async fetch({ begun, path, ...request }) {
    const response = await fetch(origin + path, { ...request, duplex: 'half' })
    begun(response.status)
    await response.text()
  },
  async undici({ begun, path, ...request }) {
    const response = await send(origin + path, { ...request, dispatcher })
    begun(response.statusCode)
    await response.body.text()
  },
  async http({ begun, path, body, ...request }) {
    const response = await new Promise((resolve, reject) => {
      const call = open(origin + path, { ...request, agent }, resolve).on('error', reject)
      if (body instanceof Readable) body.pipe(call)
      else call.end(body)
    })
    begun(response.statusCode)
    await text(response)
  },
}

/** The status of the response, or `none` if it is not complete. The caller may leave meanwhile. */
async function statusOf(client, [method, path, body, leaves]) {
  const leaving = new AbortController()
  const file = join(folder, randomUUID())
  let status = 'none'
  const begun = (its) => {
    status = its
    if (leaves === 'after the head') leaving.abort()
  }
  const request = { method, path, body: body?.(), headers: { 'x-file': file }, signal: leaving.signal, begun }
  if (leaves === 'before the head') void arrived(file).then(() => leaving.abort())
  try {
    await clients[client](request)
    return status
  } catch {
    return leaves === undefined ? 'none' : status
  }
}

/** Resolves when a request with the name of this file has arrived. */
async function arrived(file) {
  while (!existsSync(file)) await sleep(5)
}

const calls = [
  ...Array.from({ length: 5 }, () => ['GET', '/fine']),
  ['HEAD', '/fine'],
  ['POST', '/echo', () => 'a body'],
  ['POST', '/echo', () => Readable.from([Buffer.alloc(100_000, 1), Buffer.from('the rest')])],
  ['PUT', '/none', () => 'x'.repeat(200_000)],
  ['GET', '/none'],
  ['GET', '/same'],
  ['GET', '/fail'],
  ['GET', '/missing'],
  ['GET', '/hints'],
  ['GET', '/stream'],
  ['GET', '/open'],
  ['GET', '/cut'],
  ['GET', '/close'],
  ['POST', '/close', () => 'a body'],
  ['GET', '/hang', undefined, 'before the head'],
  ['GET', '/begun', undefined, 'after the head'],
  ['GET', '/fine'],
]

/** Three requests in one write. */
async function pipelined() {
  const ask = (path, more) => `GET ${path} HTTP/1.1\r\nhost: back.internal\r\n${more}\r\n`
  const socket = connect(80, 'back.internal')
  socket.write(ask('/fine', '') + ask('/stream', '') + ask('/fail', 'connection: close\r\n'))
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
}

/** The status that an upgrade gets. */
function upgraded(path) {
  return new Promise((resolve) => {
    open(origin + path, { headers: { connection: 'upgrade', upgrade: 'echo' } })
      .on('upgrade', (_, socket) => socket.on('error', () => {}).destroy(void resolve(101)))
      .on('response', (response) => response.resume().on('close', () => resolve(response.statusCode)))
      .on('error', () => resolve('none'))
      .end()
  })
}

/** Calls that wait for a response. */
const held = []

function hold() {
  const headers = { 'x-file': join(folder, randomUUID()) }
  held.push(open(`${origin}/hang`, { agent: false, headers }).on('error', () => {}))
  held.at(-1).end()
}

createServer(async (request, response) => {
  const client = request.url.slice(1)
  if (client === 'hold') return response.end(void [hold(), hold()])
  if (client === 'leave') return response.end(void held.forEach((call) => call.destroy()))
  const tally = {}
  const add = (method, status) => (tally[`${method} ${status}`] = (tally[`${method} ${status}`] ?? 0) + 1)
  if (client === 'raw') {
    for (const status of await pipelined()) add('GET', status)
    for (const path of ['/fine', '/refuse', '/close']) add('GET', await upgraded(path))
  } else
    await Promise.all(
      [0, 1].map(async () => {
        for (const call of calls) add(call[0], await statusOf(client, call))
      }),
    )
  response.end(JSON.stringify(tally))
}).listen(3000)
