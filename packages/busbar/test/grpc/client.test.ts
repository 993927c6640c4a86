import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Server as GrpcServer, ServerCredentials, status } from '@grpc/grpc-js'
import { fn, service } from '../../src/contract/index.ts'
import { client, safe } from '../../src/contract/client-entry.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { freePort } from '../support/http/free-ports.ts'
import type { TestApp } from '../support/app/test-app.ts'
import { things, type Thing } from './programs/app/things/contract.ts'
import { definitionOf } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const thing: Thing = {
  id: 1,
  title: 'a',
  isNew: false,
  price: 0,
  count: 7,
  total: 2n ** 70n,
  made: new Date(1_700_000_000_123),
  raw: new Uint8Array([1, 2]),
  owner: null,
  parts: [{ name: 'p' }],
  sizes: [],
  labels: { k: 'v' },
  mixed: ['x'],
}

describe('client(contract, grpc://…)', () => {
  let app: TestApp
  let address: string

  before(async () => {
    app = await startThings()
    address = `grpc://${addressOf(app)}`
  })
  after(() => app[Symbol.asyncDispose]())

  it('calls like every other client', async () => {
    await using remote = client(things, address)
    assert.deepEqual(await remote.echo(thing), thing)
    assert.equal(await remote.breaks().catch(() => undefined), undefined)
    const { metadata } = await remote.context(undefined, { metadata: { 'X-Shop': 'one' } })
    assert.equal(metadata['x-shop'], 'one')
  })

  it('restores declared and other errors with their data', async () => {
    await using remote = client(things, address)
    const [missing] = await safe(remote.find({ id: 'none' }))
    assert.deepEqual([missing?.code, missing?.data], ['NOT_FOUND', { id: 'none' }])
    const [busy] = await safe(remote.find({ id: 'busy' }))
    assert.deepEqual([busy?.code, busy?.status], ['BUSY', 409])
    const [invalid] = await safe(remote.find({ id: '' }))
    assert.equal(invalid?.code, 'INPUT_INVALID')
    assert.deepEqual((invalid?.data as { issues?: readonly { path: unknown }[] } | undefined)?.issues?.[0]?.path, [
      'id',
    ])
    const [broken] = await safe(remote.breaks())
    assert.equal(broken?.code, 'INTERNAL')
  })

  it('refuses an input that its message cannot hold', async () => {
    await using remote = client(things, address)
    const [error] = await safe(remote.echo({ ...thing, id: 2 ** 40 }))
    assert.equal(error?.code, 'INPUT_INVALID')
  })

  it('ends at its deadline, and by its signal', async () => {
    await using remote = client(things, address)
    const before = await remote.cancels()
    const [late] = await safe(remote.slow({ ms: 60_000 }, { timeout: 100 }))
    assert.equal(late?.code, 'DEADLINE_EXCEEDED')
    const [aborted] = await safe(remote.slow({ ms: 60_000 }, { signal: AbortSignal.timeout(100) }))
    assert.equal(aborted?.code, 'CALL_ABORTED')
    while ((await remote.cancels()) < before + 2) await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('reads streams with backpressure, and cancels one that it leaves', async () => {
    await using remote = client(things, address)
    const before = await remote.cancels()
    let last = 0
    for await (const { n } of remote.numbers({ to: 1e9, size: 10_000 })) {
      last = n
      if (n === 300) break
    }
    assert.equal(last, 300)
    while ((await remote.cancels()) === before) await new Promise((resolve) => setTimeout(resolve, 20))
    const all: number[] = []
    for await (const { n } of remote.numbers({ to: 100 })) all.push(n)
    assert.equal(all.length, 100)
  })

  it('connects again after the service was restarted', async () => {
    const first = await startThings()
    const { port } = new URL(first.url)
    await using remote = client(things, `grpc://127.0.0.1:${port}`, { retries: 0 })
    await remote.find({ id: 'a' })
    await first[Symbol.asyncDispose]()
    const [gone] = await safe(remote.find({ id: 'a' }))
    assert.match(gone!.code, /SERVICE_UNAVAILABLE|SERVICE_HANGUP/)
    await using second = await startThings({}, (loaded) => ({
      ...loaded,
      gateway: { ...loaded.gateway, port: Number(port) },
    }))
    assert.ok(second)
    assert.deepEqual(await remote.find({ id: 'b' }), { id: 'b' })
  })

  it('says that nobody is there', async () => {
    await using remote = client(things, `grpc://127.0.0.1:${await freePort()}`)
    const [error] = await safe(remote.find({ id: 'a' }))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
  })

  it('says that something else is there', async () => {
    const http1 = (): Server => createServer((_request, response) => response.end('hello'))
    const hangsUp = (): Server => createSocketServer((socket) => socket.destroy())
    for (const make of [http1, hangsUp]) {
      const server = make().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      await using remote = client(things, `grpc://127.0.0.1:${port}`)
      const [error] = await safe(remote.find({ id: 'a' }))
      assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
      assert.match(error.message, new RegExp(`could not be reached at grpc://127.0.0.1:${port}`))
      server.close()
    }
  })

  it('goes on after metadata that cannot be sent', async () => {
    await using remote = client(things, address, { retries: 0 })
    // The connection, which is closed for new calls, stays open for this one.
    const numbers = remote.numbers({ to: 1_000_000 })
    await numbers.next()
    const [error] = await safe(remote.find({ id: 'a' }, { metadata: { 'x-large': 'x'.repeat(200_000) } }))
    assert.ok(error)
    await sleep(10)
    assert.deepEqual(await remote.find({ id: 'b' }), { id: 'b' })
    await numbers.return?.()
  })

  it('refuses an address that is none', () => {
    for (const wrong of ['grpc://', 'grpc://host/path', 'grpcs://user@host'])
      assert.throws(() => client(things, wrong), { code: 'CONTRACT_INVALID' }, wrong)
  })
})

describe('client(contract, grpc://…) of a server that is not Busbar', () => {
  const words = service('words', {
    upper: fn({ input: things.methods.find.input!, output: things.methods.find.output!, idempotent: true }),
  })
  const server = new GrpcServer()
  let address: string
  let attempts = 0
  let behave: (id: string) => { id: string } | { code: number; details: string }

  before(async () => {
    const { service: definition } = await definitionOf(printProto(toProtoFile(words)), 'words.WordsService')
    server.addService(definition, {
      Upper: ({ request }: { request: { id: string } }, done: (error: object | null, answer?: object) => void) => {
        attempts++
        const answer = behave(request.id)
        if ('code' in answer) done(answer)
        else done(null, answer)
      },
    })
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, found) =>
        error === null ? resolve(found) : reject(error),
      ),
    )
    address = `grpc://127.0.0.1:${port}`
  })
  after(() => server.forceShutdown())

  it('gets its answers', async () => {
    await using remote = client(words, address)
    behave = (id) => ({ id: id.toUpperCase() })
    assert.deepEqual(await remote.upper({ id: 'abc' }), { id: 'ABC' })
  })

  it('gets its statuses as codes', async () => {
    await using remote = client(words, address, { retries: 0 })
    const codes = [
      [status.UNAUTHENTICATED, 'UNAUTHENTICATED'],
      [status.PERMISSION_DENIED, 'FORBIDDEN'],
      [status.INVALID_ARGUMENT, 'INPUT_INVALID'],
      [status.UNIMPLEMENTED, 'METHOD_UNKNOWN'],
      [status.UNAVAILABLE, 'SERVICE_UNAVAILABLE'],
      [status.DATA_LOSS, 'INTERNAL'],
    ] as const
    for (const [code, expected] of codes) {
      behave = () => ({ code, details: 'grün' })
      const [error] = await safe(remote.upper({ id: 'a' }))
      assert.deepEqual([error?.code, error?.message], [expected, 'grün'])
    }
  })

  it('retries what may be retried', async () => {
    await using remote = client(words, address)
    attempts = 0
    behave = (id) => (attempts < 3 ? { code: status.UNAVAILABLE, details: 'not yet' } : { id })
    assert.deepEqual(await remote.upper({ id: 'a' }), { id: 'a' })
    assert.equal(attempts, 3)
  })
})
