import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangingApp } from './changing-app.ts'

/** Does nothing on SIGTERM, so the process ends at once. */
const late = `
import { createServer } from 'node:http'
createServer((request, response) => {
  console.log('asked by ' + request.method)
  setTimeout(() => response.end('late'), 500)
}).listen(process.env.PORT)`

const command = { command: `${process.execPath} late.mjs`, path: '.' }

test('a command answers what was sent to it before it is replaced', async () => {
  const gateway = { port: 0, routes: { '/late': 'late', '/': 'web' } }
  const services = { web: { run: 'thread' }, late: command }
  await using app = await ChangingApp.start(services, { gateway }, {}, { 'late.mjs': late })
  const post = fetch(`${app.app.url}/late`, { method: 'POST', headers: { connection: 'close' } })
  const call = app.get('/call/late')
  await Promise.all([app.app.untilLogged('asked by POST'), app.app.untilLogged('asked by GET')])
  await app.app.running.reload('late')
  const answers = await Promise.all([post, call])
  assert.deepEqual(await Promise.all(answers.map((answer) => answer.text())), ['late', 'late'])
})

/** Three events, with pauses that are longer than those of a keep-alive connection that rests. */
const events = `
import { createServer } from 'node:http'
createServer(async (request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < 3; at++) {
    response.write('data: ' + at + '\\n\\n')
    console.log('sent ' + at)
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
  response.end('data: end\\n\\n')
}).listen(process.env.PORT)`

test('a command that is replaced ends the responses that the gateway forwards, also after pauses', async () => {
  const gateway = { port: 0, routes: { '/late': 'late' } }
  await using app = await ChangingApp.start({ late: command }, { gateway }, {}, { 'late.mjs': events })
  const answer = fetch(`${app.app.url}/late`).then((response) => response.text())
  await app.app.untilLogged('sent 0')
  await app.app.running.reload('late')
  assert.equal(await answer, 'data: 0\n\ndata: 1\n\ndata: 2\n\ndata: end\n\n')
})

const pid = `
import { createServer } from 'node:http'
createServer((request, response) => response.end(String(process.pid))).listen(process.env.PORT)`

/**
 * Asks the command again and again on one connection, until it has seen two of its processes for a
 * while.
 */
const asking = `
import { Agent, createServer, request } from 'node:http'
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const ask = () =>
  new Promise((resolve, reject) => {
    const received = async (response) => resolve(Buffer.concat(await response.toArray()).toString())
    request('http://late.internal/', { agent, method: 'POST' }, received).on('error', reject).end('x')
  })
createServer(async (request, response) => {
  const pids = new Set()
  try {
    for (let left = 100; left > 0; ) {
      if (pids.size === 0) console.log('asks')
      pids.add(await ask())
      if (pids.size === 2) left--
    }
    response.end('answered by ' + pids.size)
  } catch (error) {
    response.end(String(error))
  }
}).listen(3000)`

test('a command that is replaced loses no request of a client that never lets its connection rest', async () => {
  const services = { web: { path: './asking.mjs', run: 'thread' }, late: command }
  const files = { 'late.mjs': pid, 'asking.mjs': asking }
  await using app = await ChangingApp.start(services, { stopTimeout: 2000 }, {}, files)
  const answer = app.get('/')
  await app.app.untilLogged('asks')
  await app.app.running.reload('late')
  assert.equal(await (await answer).text(), 'answered by 2')
})
