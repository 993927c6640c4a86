import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, client, safe } from '../../src/contract/client-entry.ts'
import { frame } from '../../src/contract/grpc/framing.ts'
import { pollUntil, type TestApp } from '../support/app/test-app.ts'
import { things } from './programs/app/things/contract.ts'
import { addressOf, startThings } from './support/things-app.ts'

type Things = Client<(typeof things)['methods']>

/** To its service, a call that its client gives up never looks like one that is complete. */
for (const run of ['shared', 'process'] as const)
  describe(`calls that their clients give up (${run})`, () => {
    let app: TestApp
    let remote: Things

    before(async () => {
      app = await startThings({ run })
      remote = client(things, `grpc://${addressOf(app)}`)
    })
    after(async () => {
      await remote[Symbol.asyncDispose]()
      await app[Symbol.asyncDispose]()
    })

    const edgeOf = (method: string) => app.running.status().edges.find((edge) => edge.method === method)
    const underWay = (method: string, calls: number): Promise<void> =>
      pollUntil(
        () => edgeOf(method)?.inFlight === calls,
        () => edgeOf(method),
      )
    const countOf = (method: string, status: string): number =>
      edgeOf(method)?.outcomes.find((outcome) => outcome.status === status)?.count ?? 0

    /** `giveUp`: gives one call of `sum` up while its service reads. */
    async function isCancel(giveUp: () => Promise<unknown>): Promise<void> {
      const [complete, others] = [countOf('sum', '200'), countOf('sum', '499') + countOf('sum', '504')]
      await giveUp()
      await underWay('sum', 0)
      await pollUntil(
        () => countOf('sum', '499') + countOf('sum', '504') === others + 1,
        () => edgeOf('sum'),
      )
      assert.equal(countOf('sum', '200'), complete)
    }

    async function* some(then: () => void | Promise<void>): AsyncGenerator<{ n: number }> {
      yield { n: 1 }
      yield { n: 2 }
      await underWay('sum', 1)
      await then()
    }
    const never = (): Promise<void> => new Promise(() => {})

    it('an iterable of inputs throws', async () => {
      await isCancel(async () => {
        const inputs = some(() => {
          throw new Error('no more')
        })
        const [error] = await safe(remote.sum(inputs))
        assert.equal(error?.code, 'CALL_ABORTED')
      })
    })

    it('a signal aborts it', async () => {
      await isCancel(async () => {
        const abort = new AbortController()
        const inputs = some(() => {
          abort.abort()
          return never()
        })
        const [error] = await safe(remote.sum(inputs, { signal: abort.signal }))
        assert.equal(error?.code, 'CALL_ABORTED')
      })
    })

    it('its deadline has passed', async () => {
      await isCancel(async () => {
        const [error] = await safe(remote.sum(some(never), { timeout: 2000 }))
        assert.equal(error?.code, 'DEADLINE_EXCEEDED')
      })
    })

    it('its client is closed', async () => {
      await isCancel(async () => {
        const other = client(things, `grpc://${addressOf(app)}`)
        const [error] = await safe(other.sum(some(async () => await other[Symbol.asyncDispose]())))
        assert.match(error!.code, /SERVICE_HANGUP|CALL_ABORTED/)
      })
    })

    it('its reader leaves before it has sent its inputs', async () => {
      for await (const { n } of remote.doubled(some(() => {}))) {
        assert.equal(n, 2)
        break
      }
      await underWay('doubled', 0)
    })

    const input = frame(new Uint8Array([0x08, 1]))
    const open = (session: ClientHttp2Session, method: string, more: object = {}): ClientHttp2Stream => {
      const path = `/test.v1.ThingService/${method}`
      const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', ...more })
      return stream.on('error', () => {})
    }
    /** The first stream; by hand, since Node's client ends a stream before it resets it. */
    const reset = (socket: Socket, code: number): unknown =>
      socket.write(new Uint8Array([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, code]))
    const slowly = frame(new Uint8Array([0x08, 0x80, 0x94, 0x23]))

    for (const [method, message] of [
      ['slow', slowly],
      ['sum', input],
      ['doubled', input],
    ] as const)
      it(`its stream is reset at its deadline (${method}): it counts as one that its deadline has ended`, async () => {
        const [expired, cancelled] = [countOf(method, '504'), countOf(method, '499')]
        const socket = connectSocket(app.port, '127.0.0.1')
        const session = connect(app.url, { createConnection: () => socket }).on('error', () => {})
        const path = `${method[0]!.toUpperCase()}${method.slice(1)}`
        const stream = open(session, path, { 'grpc-timeout': '1000m' })
        if (method === 'slow') stream.end(message)
        else stream.write(message)
        await underWay(method, 1)
        await sleep(920)
        reset(socket, 8)
        await underWay(method, 0)
        await pollUntil(
          () => countOf(method, '504') === expired + 1,
          () => edgeOf(method),
        )
        assert.equal(countOf(method, '499'), cancelled)
        session.destroy()
      })

    for (const code of [0, 2, 8])
      it(`its stream is reset with the code ${code}`, async () => {
        await isCancel(async () => {
          const socket = connectSocket(app.port, '127.0.0.1')
          const session = connect(app.url, { createConnection: () => socket }).on('error', () => {})
          open(session, 'Sum').write(input)
          await underWay('sum', 1)
          reset(socket, code)
          await underWay('sum', 0)
          session.destroy()
        })
      })

    const endings: readonly [string, (socket: Socket) => unknown][] = [
      ['destroyed', (socket) => socket.destroy()],
      ['ended', (socket) => socket.end()],
      ['reset', (socket) => socket.resetAndDestroy()],
    ]
    for (const [how, end] of endings)
      it(`its connection is ${how}`, async () => {
        for (const calls of [1, 3]) {
          const cancelled = await remote.cancels()
          const socket = connectSocket(app.port, '127.0.0.1')
          const session = connect(app.url, { createConnection: () => socket }).on('error', () => {})
          for (let at = 0; at < calls; at++) open(session, 'Slow').end(slowly)
          await underWay('slow', calls)
          end(socket)
          await underWay('slow', 0)
          while ((await remote.cancels()) < cancelled + calls) await sleep(20)
          if (!socket.destroyed) socket.destroy()
        }
        await isCancel(async () => {
          const socket = connectSocket(app.port, '127.0.0.1')
          const session = connect(app.url, { createConnection: () => socket }).on('error', () => {})
          open(session, 'Sum').write(input)
          await underWay('sum', 1)
          end(socket)
          await once(session, 'close')
        })
      })
  })
