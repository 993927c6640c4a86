import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { TlsFiles } from '../../src/shared/app/app.ts'
import { loadApp } from '../../src/config/load.ts'
import { client, safe } from '../../src/contract/client-entry.ts'
import { behindEntrance, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { selfSigned } from '../support/http/certificate.ts'
import { testing } from './programs/interop/testing/contract.ts'
import { GoProgram } from './support/go-program.ts'
import { addressOf } from './support/things-app.ts'

/**
 * Cases of gRPC's doc/interop-test-descriptions.md. Those of credentials are for Google's cloud;
 * `custom_metadata` and `status_code_and_message` need metadata of an answer and any status, which
 * a contract does not have.
 */
const cases = [
  'empty_unary',
  'large_unary',
  'compressed_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'unimplemented_method',
  'unimplemented_service',
]

const skip = await GoProgram.missing()

describe('grpc-go', { skip }, () => {
  let go: GoProgram

  before(async () => {
    go = await GoProgram.build()
  })
  after(() => go[Symbol.asyncDispose]())

  it('passes the interoperability cases in clear', async () => {
    await using app = await startInterop()
    assert.deepEqual(await go.run(['client', addressOf(app), ...cases]), cases)
  })

  it('passes the interoperability cases over TLS', async () => {
    const { cert, key } = await selfSigned()
    using folder = new TestFolder({ 'cert.pem': cert, 'key.pem': key })
    const files = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    await using app = await startInterop(files)
    assert.deepEqual(await go.run(['client', addressOf(app), ...cases], { GRPC_CA: files.cert }), cases)
  })

  it('answers the client of a contract, as a server', async () => {
    const { child, port } = await go.serve()
    try {
      await using remote = client(testing, `grpc://127.0.0.1:${port}`)
      const empty = { type: 0, body: new Uint8Array(10) }
      const parts = { responseType: 0, responseParameters: [1, 100_000].map((size) => ({ size, intervalUs: 0 })) }
      await remote.emptyCall()
      const { payload } = await remote.unaryCall({ responseType: 0, responseSize: 314_159, payload: empty })
      assert.equal(payload.body.length, 314_159)
      assert.deepEqual(await sizesOf(remote.streamingOutputCall(parts)), [1, 100_000])
      const sum = await remote.streamingInputCall(several({ payload: empty }, { payload: empty }))
      assert.equal(sum.aggregatedPayloadSize, 20)
      assert.deepEqual(await sizesOf(remote.fullDuplexCall(several(parts, parts))), [1, 100_000, 1, 100_000])
      const slow = { responseType: 0, responseParameters: [{ size: 1, intervalUs: 60_000_000 }] }
      const [late] = await safe(sizesOf(remote.streamingOutputCall(slow, { timeout: 100 })))
      assert.equal(late?.code, 'DEADLINE_EXCEEDED')
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  })
})

async function startInterop(tls?: TlsFiles): Promise<TestApp> {
  const app = await loadApp(join(import.meta.dirname, 'programs', 'interop'), { env: {} })
  return await TestApp.startLoaded(behindEntrance({ ...app, gateway: { ...app.gateway, port: 0, tls } }))
}

async function sizesOf(answers: AsyncIterable<{ payload: { body: Uint8Array } }>): Promise<number[]> {
  const sizes: number[] = []
  for await (const { payload } of answers) sizes.push(payload.body.length)
  return sizes
}

async function* several<T>(...values: T[]): AsyncGenerator<T, void, undefined> {
  yield* values
}
