import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { RecentLog } from '../../src/observe/recent-log.ts'
import { toEntry } from '../../src/observe/log-entry.ts'
import type { AppSetup } from '../support/app/test-app.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { LiveReader } from '../support/http/live-reader.ts'

const any = `${import.meta.dirname}/programs/any.js`
const token = 'a token for this run'
const page = { port: 0, token }
const authorization = `Bearer ${token}`

function start(setup: Partial<AppSetup> = {}, options: Parameters<typeof TestApp.start>[1] = {}): Promise<TestApp> {
  return TestApp.start({ services: { any }, ...setup }, { page, ...options })
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const sent = request(url, { method, headers: { connection: 'close', ...headers } }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode!, headers: response.headers, body: await text(response) }
}

describe('the port of the dashboard', () => {
  test('serves the page and its files to everybody, with a policy that allows nothing else', async () => {
    await using app = await start()
    const url = app.running.pageUrl!
    const { status, headers, body } = await ask(`${url}/`)
    assert.equal(status, 200, 'npm run build builds the page')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.doesNotMatch(body, /<style|<script(?![^>]*src=)|https?:\/\/(?!www\.w3\.org)/)
    const files = [...body.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file!)
    assert.ok(files.length >= 2)
    for (const file of files) assert.equal((await ask(`${url}/${file}`)).status, 200, file)
    for (const path of ['/assets/', '/assets/..%2f..%2fpackage.json', '/assets/none.js'])
      assert.equal((await ask(`${url}${path}`)).status, 404, path)
  })

  test('answers calls of the API with the token only, also the stream', async () => {
    await using app = await start()
    const url = app.running.pageUrl!
    for (const path of ['/status', '/live', '/logs', '/reports'])
      for (const wrong of [undefined, { authorization: 'Bearer wrong' }])
        assert.equal((await ask(url + path, wrong)).status, 401)
    assert.equal((await ask(`${url}/status?token=${encodeURIComponent(token)}`)).status, 401)
    assert.equal((await ask(`${url}/status`, { authorization })).status, 200)
    assert.equal((await ask(`${url}/reload`, { authorization })).status, 405)
    assert.equal((await ask(`${url}/services/any/evaluate`, { authorization }, 'POST')).status, 403)
  })

  test('refuses pages of other sites, and names that could be pointed to this machine', async () => {
    await using app = await start()
    const url = app.running.pageUrl!
    const { host, port } = new URL(url)
    const statusWith = async (headers: Record<string, string>, path = '/status'): Promise<number> =>
      (await ask(url + path, { authorization, ...headers })).status
    for (const origin of ['http://evil.example', `http://localhost.evil.example:${port}`, 'null', `http://127.0.0.1:1`])
      assert.equal(await statusWith({ origin }), 403, origin)
    for (const name of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`])
      for (const path of ['/', '/status']) assert.equal(await statusWith({ host: name }, path), 403, name)
    assert.equal(await statusWith({ origin: `http://${host}` }), 200)
    for (const name of [`localhost:${port}`, `[::1]:${port}`, 'host.docker.internal'])
      assert.equal(await statusWith({ host: name }), 200, name)
    assert.equal((await ask(`${url}/healthz`, { host: 'evil.example' })).status, 200, 'a probe')
  })

  test('is not there unless it is asked for, and the socket serves no page', async () => {
    using folder = new TestFolder()
    await using app = await TestApp.start({ services: { any } }, { adminFolder: folder.path })
    assert.equal(app.running.pageUrl, undefined)
    const socketPath = app.running.adminUrls[0]!.replace('unix:', '')
    const [response] = (await once(request({ socketPath, path: '/' }).end(), 'response')) as [IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, 404)
  })

  test('takes another port if its own is in use after a restart', async () => {
    await using first = await start()
    const { port } = new URL(first.running.pageUrl!)
    await using second = await start({}, { page: { port: Number(port), token } })
    assert.notEqual(new URL(second.running.pageUrl!).port, port)
  })
})

describe('GET /live', () => {
  test('sends the status at each interval, and the latencies of the calls in between', async () => {
    await using app = await start()
    await using live = await LiveReader.open(`${app.running.pageUrl}/live?interval=250`, authorization)
    const first = await live.status()
    assert.equal(first.status.app.pid, process.pid)
    assert.deepEqual(first.latencies, [])
    for (let call = 0; call < 7; call++) await (await fetch(app.url)).text()
    let counted = 0
    while (counted < 7) {
      const { status, latencies } = await live.status()
      for (const { edge, buckets } of latencies) {
        assert.equal(status.edges[edge]!.callee, 'any')
        for (const { count } of buckets) counted += count
      }
    }
    assert.equal(counted, 7)
  })

  test('sends the log that was kept, then further lines of the level', async () => {
    const recentLog = new RecentLog()
    const add = (level: 'info' | 'warn', line: string): void =>
      recentLog.add(toEntry({ time: Date.now(), level, service: undefined, stream: 'busbar', line }, undefined))
    add('warn', 'kept')
    add('info', 'too low')
    await using app = await start({}, { recentLog })
    await using live = await LiveReader.open(`${app.running.pageUrl}/live?logs=true&level=warn`, authorization)
    assert.deepEqual(await live.lines(1), ['kept'])
    add('warn', 'further')
    assert.deepEqual(await live.lines(1), ['further'])
  })

  test('goes on with the log after a position, and begins anew after one of an earlier run', async () => {
    const recentLog = new RecentLog()
    const add = (time: number, line: string): void =>
      recentLog.add(toEntry({ time, level: 'info', service: 'any', stream: 'stdout', line }, 0))
    await using app = await start({}, { recentLog })
    const url = `${app.running.pageUrl}/live?logs=true`
    const textsOf = (lines: readonly string[]): string[] =>
      lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    add(1, 'same')
    // Its program's clock is of the future.
    add(2, JSON.stringify({ level: 'info', time: 4e12, msg: 'same' }))
    await using first = await LiveReader.open(url, authorization)
    const seen = await first.log()
    assert.deepEqual(
      [textsOf(seen.lines), seen.times],
      [
        ['same', 'same'],
        [1, 2],
      ],
    )
    add(2, 'same')
    await using second = await LiveReader.open(`${url}&after=${seen.position}`, authorization)
    const later = await second.log()
    assert.deepEqual([textsOf(later.lines), later.times, later.dropped], [['same'], [2], 0])
    await using other = await LiveReader.open(`${url}&after=0a-2`, authorization)
    const all = await other.log()
    assert.deepEqual([all.lines.length, all.dropped, all.position], [3, 0, later.position])
    assert.equal((await ask(`${url}&after=first`, { authorization })).status, 422)
  })

  test('ends with the app, and shows how that has ended', async () => {
    const recentLog = new RecentLog()
    const app = await start({ maxRestarts: 0 }, { recentLog })
    const url = `${app.running.pageUrl}/live?interval=60000&logs=true`
    await using live = await LiveReader.open(url, authorization)
    const first = await live.status()
    assert.equal(first.status.workers[0]!.state, 'serving')
    const dying = fetch(`${app.url}/throw`).catch(() => {})
    const last = await live.status()
    const [worker] = last.status.workers
    assert.deepEqual([worker!.state, worker!.lastExit!.why], ['givenUp', 'exception'])
    assert.match(worker!.lastExit!.stack.join('\n'), /at .*any\.js/)
    await live.ended()
    await dying
    await app.running.ended
  })

  test('shares its limit with those that follow the log', async () => {
    await using app = await start({}, { recentLog: new RecentLog() })
    const url = (path: string): string => `${app.running.pageUrl}${path}`
    const open = async (path: string): Promise<IncomingMessage> =>
      ((await once(request(url(path), { headers: { authorization } }).end(), 'response')) as [IncomingMessage])[0]
    const paths = Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? '/live' : '/logs?follow=true'))
    const responses = await Promise.all(paths.map(open))
    try {
      assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
      for (const path of ['/live', '/logs?follow=true'])
        assert.equal((await ask(url(path), { authorization })).status, 503, path)
      for (const path of ['/logs', '/status']) assert.equal((await ask(url(path), { authorization })).status, 200, path)
    } finally {
      for (const response of responses) response.destroy()
    }
  })

  test('refuses more clients than it serves, and serves one again when another one has left', async () => {
    await using app = await start()
    const url = `${app.running.pageUrl}/live`
    const readers = await Promise.all(Array.from({ length: 16 }, () => LiveReader.open(url, authorization)))
    try {
      const refused = await ask(url, { authorization })
      assert.equal(refused.status, 503)
      assert.equal((JSON.parse(refused.body) as { code: string }).code, 'RESOURCE_EXHAUSTED')
      await readers.pop()![Symbol.asyncDispose]()
      // The server sees the end of the connection a little later.
      let served = 503
      for (let attempt = 0; attempt < 1000 && served !== 200; attempt++) {
        const [response] = (await once(request(url, { headers: { authorization } }).end(), 'response')) as [
          IncomingMessage,
        ]
        served = response.statusCode!
        response.destroy()
      }
      assert.equal(served, 200)
    } finally {
      for (const reader of readers) await reader[Symbol.asyncDispose]()
    }
  })
})

describe('GET /reports', () => {
  const result = { version: 1, scenario: 'fanout', question: 'How?', arms: [{ name: 'a', title: 'A' }] }

  test('lists results of the lab in the folder of the app, the latest first, and shows one', async () => {
    using folder = new TestFolder({
      'old.json': { ...result, startedAt: '2026-01-01T00:00:00Z' },
      'results/new.json': { ...result, scenario: 'rpc', startedAt: '2026-02-01T00:00:00Z' },
      'package.json': { name: 'shop' },
      'results/broken.json': '{',
      'elsewhere/hidden.json': { ...result, startedAt: '2026-03-01T00:00:00Z' },
    })
    await using app = await start({ root: folder.path })
    const { body } = await ask(`${app.running.pageUrl}/reports`, { authorization })
    const { reports } = JSON.parse(body) as { reports: { file: string; scenario: string; arms: number }[] }
    assert.deepEqual(
      reports.map(({ file, scenario, arms }) => [file, scenario, arms]),
      [
        ['results/new.json', 'rpc', 1],
        ['old.json', 'fanout', 1],
      ],
    )
    const one = await ask(`${app.running.pageUrl}/reports/results%2Fnew.json`, { authorization })
    assert.equal((JSON.parse(one.body) as { scenario: string }).scenario, 'rpc')
    for (const file of ['package.json', 'elsewhere%2Fhidden.json', '..%2F..%2Fetc%2Fpasswd', 'none.json'])
      assert.equal((await ask(`${app.running.pageUrl}/reports/${file}`, { authorization })).status, 404, file)
  })
})
