import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { buffer } from 'node:stream/consumers'
import { command } from '../../src/cli/command.ts'
import { createCertificate } from '../../src/protocol/workspace.ts'
import { withEngine } from '../support/fixture.ts'
import { written } from '../support/written.ts'

const proto = `
syntax = "proto3";
package shop.v1;
service Cart {
  rpc Add(Line) returns (Line);
  rpc Watch(Line) returns (stream Line);
}
message Line { string item_id = 1; int32 count = 2; }
`

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await command(args, { stdout, stderr })
  return { code, out: written(stdout), err: written(stderr) }
}

/** Returns what it was sent, in HTTP/2 and in gRPC. Paths with `missing` do not exist. */
async function answer(stream: ServerHttp2Stream, path: string): Promise<void> {
  const body = await buffer(stream)
  const isMissing = path.includes('missing')
  if (path !== '/shop.v1.Cart/Add') {
    stream.respond({ ':status': isMissing ? 404 : 200 })
    stream.end(body)
    return
  }
  const fails = body.includes('missing')
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': fails ? '5' : '0' }))
  stream.end(fails ? Buffer.alloc(0) : body)
}

function listen(server: Http2Server): Promise<number> {
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => {})
    void answer(stream, path).catch(() => {})
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

describe('busbar bench --url', () => {
  const sessions = new Set<{ destroy(): void }>()
  const servers: Http2Server[] = []
  let folder: string
  let file: string
  let clear: string
  let secure: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
    file = join(folder, 'cart.proto')
    writeFileSync(file, proto)
    const { cert, key } = await createCertificate(folder)
    servers.push(createServer(), createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }))
    for (const server of servers) server.on('session', (session) => void sessions.add(session))
    clear = `http://127.0.0.1:${await listen(servers[0]!)}`
    secure = `https://localhost:${await listen(servers[1]!)}`
  })
  after(async () => {
    for (const session of sessions) session.destroy()
    for (const server of servers) server.close()
    await rm(folder, { recursive: true })
  })

  const load = ['--seconds', '1', '--connections', '2', '--pipelining', '3']

  test('measures a server of HTTP/2, in clear and over TLS', withEngine, async () => {
    for (const [url, ...more] of [[`${clear}/a`], [`${secure}/a`, '--skip-verify']] as const) {
      const { code, out, err } = await run('--url', url, '--http2', '--body', 'hello', ...load, ...more)
      assert.equal(code, 0, err + out)
      assert.match(out, /status 200 +\d/)
    }
  })

  test('measures a call of gRPC, with count, rate, latencies, a histogram and statuses', withEngine, async () => {
    const call = ['--proto', file, '--call', 'shop.v1.Cart/Add', '--body', '{"itemId":"4","count":2}']
    for (const [url, ...more] of [[clear], [secure.replace('https', 'grpcs'), '--skip-verify']] as const) {
      const { code, out, err } = await run('--url', url, ...call, ...load, ...more)
      assert.equal(code, 0, err + out)
      for (const row of ['answers', 'per second', 'fastest', 'average', 'slowest', 'p10', 'p99.9'])
        assert.match(out, new RegExp(`^${row} +[\\d,.]+`, 'm'))
      assert.match(out, /^ *[\d.]+ ms +\d.* ■+$/m)
      assert.match(out, /status OK +\d/)
    }
  })

  test('expects the status of the first answer, and names it', withEngine, async () => {
    const call = ['--proto', file, '--call', 'Cart/Add', '--body', '{"item_id":"missing"}']
    const { code, out } = await run('--url', clear, ...call, ...load)
    assert.deepEqual([code, /status NOT_FOUND +\d/.test(out)], [0, true], out)
  })

  const wrong: readonly (readonly [args: string, sentence: RegExp])[] = [
    ['--call shop.v1.Cart/Add', /--call needs the messages: --proto file\.proto/],
    ['--proto FILE', /--proto needs a method: --call package\.Service\/Method/],
    ['--proto nowhere.proto --call a/B', /nowhere\.proto cannot be read as a \.proto file: .*ENOENT/],
    ['--proto FILE --call Add', /"Add" is not in .*cart\.proto: it has shop\.v1\.Cart\/Add, shop\.v1\.Cart\/Watch/],
    ['--proto FILE --call Cart/Remove', /shop\.v1\.Cart has no method "Remove"; it has Add, Watch/],
    ['--proto FILE --call Cart/Watch', /--call supports unary methods, and Cart\/Watch is a stream/],
    ['--proto FILE --call Cart/Add --method PUT', /--call replaces --method/],
    ['--proto FILE --call Cart/Add --body {', /--body of a call must be the message as JSON/],
    ['--proto FILE --call Cart/Add --body []', /Line needs an object with the fields of the message Line/],
    ['--proto FILE --call Cart/Add --body {"id":1}', /Line has no field "id"; its fields: item_id, count/],
    ['--proto FILE --call Cart/Add --body {"count":"x"}', /Line\.count needs an integer \(int32\), not "x"/],
    ['--proto FILE --call Cart/Add --body {"itemId":1}', /Line\.itemId needs a text/],
    ['--http2 --pipelining 0', /--pipelining needs an integer of at least 1/],
  ]
  for (const [args, sentence] of wrong)
    test(`${args} exits with 2 and a message`, withEngine, async () => {
      const { code, err } = await run('--url', clear, ...args.replace('FILE', file).split(' '))
      assert.equal(code, 2)
      assert.match(err, sentence)
    })

  test('a call needs a server that runs, and a URL without a path', withEngine, async () => {
    const call = ['--proto', file, '--call', 'Cart/Add']
    assert.match((await run(folder, ...call)).err, /--proto needs a running server: --url/)
    assert.match((await run('--url', `${clear}/a`, ...call)).err, /--call says what is called: leave \/a out of --url/)
  })
})
