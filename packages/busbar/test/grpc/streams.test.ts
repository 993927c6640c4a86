import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { client, safe, type Client } from '../../src/contract/client-entry.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import type { TestApp } from '../support/app/test-app.ts'
import { things } from './programs/app/things/contract.ts'
import implementation from './programs/app/things/index.ts'
import { type Stub, stubOf } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

type Things = Client<(typeof things)['methods']>

/** The same calls have the same outcome, wherever the service is. */
function behave(open: () => Things): void {
  it('a method reads many values and answers once', async () => {
    const things = open()
    assert.deepEqual(await things.sum([{ n: 1 }, { n: 2 }, { n: 3 }]), { total: 6, count: 3 })
    assert.deepEqual(await things.sum([]), { total: 0, count: 0 })
    assert.deepEqual(await things.sum(count(5000)), { total: 5000, count: 5000 })
  })

  it('a method that stops reading tells its caller', async () => {
    let left = false
    async function* endless(): AsyncGenerator<{ n: number }> {
      try {
        for (;;) yield { n: 7 }
      } finally {
        left = true
      }
    }
    assert.equal(await open().first(endless()), 7)
    while (!left) await sleep(10)
  })

  it('both sides stream at once', async () => {
    const things = open()
    const answers: number[] = []
    let ask: (() => void) | undefined
    async function* questions(): AsyncGenerator<{ n: number }> {
      for (let n = 1; n <= 5; n++) {
        yield { n }
        // The next question depends on the answer to this one.
        await new Promise<void>((resolve) => (answers.length >= n ? resolve() : (ask = resolve)))
      }
    }
    for await (const { n } of things.doubled(questions())) {
      answers.push(n)
      ask?.()
    }
    assert.deepEqual(answers, [2, 4, 6, 8, 10])
  })

  it('each value is validated', async () => {
    const [error] = await safe(open().sum([{ n: 1 }, { n: 1001 }]))
    assert.equal(error?.code, 'INPUT_INVALID')
    const [none] = await safe(open().sum(5 as never))
    assert.equal(none?.code, 'INPUT_INVALID')
  })

  it('a caller whose values fail cancels the call', async () => {
    async function* broken(): AsyncGenerator<{ n: number }> {
      yield { n: 1 }
      throw new Error('no more')
    }
    const [error] = await safe(open().sum(broken()))
    assert.equal(error?.code, 'CALL_ABORTED')
  })

  it('a deadline ends a call whose caller sends nothing', async () => {
    async function* silent(): AsyncGenerator<{ n: number }> {
      await sleep(3000, undefined, { ref: false })
      yield { n: 1 }
    }
    const [error] = await safe(open().sum(silent(), { timeout: 100 }))
    assert.equal(error?.code, 'DEADLINE_EXCEEDED')
  })
}

async function* count(to: number): AsyncGenerator<{ n: number }> {
  for (let at = 0; at < to; at++) yield { n: 1 }
}

describe('streams of callers, in one thread', () => {
  const local = client(things, implementation)
  after(() => local[Symbol.asyncDispose]())
  behave(() => local)
})

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`streams of callers, over gRPC (${run})`, () => {
    let app: TestApp
    let remote: Things
    let stub: Stub

    before(async () => {
      app = await startThings({ run })
      remote = client(things, `grpc://${addressOf(app)}`)
      stub = await stubOf(printProto(toProtoFile(things)), 'test.v1.ThingService', addressOf(app))
    })
    after(async () => {
      stub.close()
      await remote[Symbol.asyncDispose]()
      await app[Symbol.asyncDispose]()
    })
    behave(() => remote)

    it('grpc-js sends a stream, and answers one', async () => {
      const sum = await new Promise((resolve, reject) => {
        const call = stub['Sum']((error: Error | null, answer: unknown) => (error ? reject(error) : resolve(answer)))
        for (let n = 1; n <= 100; n++) call.write({ n })
        call.end()
      })
      assert.deepEqual(sum, { total: 5050, count: 100 })
      const call = stub['Doubled']()
      call.write({ n: 1 })
      const first = await new Promise((resolve) => call.once('data', resolve))
      assert.deepEqual(first, { n: 2 })
      call.end()
      await new Promise((resolve) => call.resume().once('end', resolve))
    })

    it('HTTP refuses what it does not carry', async () => {
      const [error] = await safe(client(things, app.url).sum([{ n: 1 }]))
      assert.equal(error?.code, 'OPERATION_UNSUPPORTED')
      const answer = await fetch(`${app.url}/things/sum`, {
        method: 'POST',
        body: '[]',
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(((await answer.json()) as { code: string }).code, 'OPERATION_UNSUPPORTED')
    })
  })
