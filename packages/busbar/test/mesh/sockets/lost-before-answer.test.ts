import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { describe, it } from 'node:test'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import type { CallHead, CallHandler } from '../../../src/mesh/links/link.ts'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { runInScope } from '../../../src/mesh/scope.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import { unless } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { nobody } from '../../support/mesh/linked-endpoint.ts'

/** What the other end does with a request. None of them ever answers. */
const ends = {
  'is lost': { code: 'LINK_LOST', message: 'the worker is gone' },
  'is closed because its worker has stopped': { code: 'SERVICE_UNAVAILABLE', message: 'the worker has stopped' },
} as const

for (const [where, host] of [
  ['another worker', undefined],
  ['another app', 'tcp:the other app'],
] as const)
  describe(`a request to ${where}`, { skip: unless('stream', 'exchange') }, () => {
    for (const [how, reason] of Object.entries(ends))
      for (const streamed of [true, false])
        it(`${streamed ? 'with a streamed body' : 'that is sent at once'} may have run when its link ${how}`, async () => {
          await using callee = new Callee(() => ({}), host)
          const { code } = await post(callee, streamed, () => callee.link.close(reason))
          assert.equal(code, 'ECONNRESET')
          assert.deepEqual(callee.counts, host === undefined ? [] : [0])
        })

    it('was refused when the other end says that it has not begun', async () => {
      const refuse: CallHandler = (_head, _value, _ended, channel) => {
        channel.fail({ code: 'SERVICE_UNAVAILABLE', message: 'it is stopping' }, true)
        return {}
      }
      await using callee = new Callee(refuse, host)
      assert.equal((await post(callee, true)).code, 'ECONNREFUSED')
      assert.deepEqual(callee.counts, host === undefined ? [] : ['withdrawn'])
    })
  })

/** The service `catalog` at the other end of a link. */
class Callee implements AsyncDisposable {
  /** The statuses of counted requests. */
  readonly counts: (number | 'withdrawn')[] = []
  readonly link
  readonly begun = Promise.withResolvers<CallHead>()
  readonly #mesh = new ByteMesh({}, { names: ['catalog'], toHost: true })

  constructor(answer: CallHandler, host: string | undefined) {
    const [near, far] = loopbackTransports()
    this.link = createLink(far, {
      peer: 1,
      answer: (head, value, ended, channel) => {
        this.begun.resolve(head)
        return answer(head, value, ended, channel)
      },
    })
    const link = createLink(near, { peer: 2, answer: nobody })
    const common = { at: 'link', service: 'catalog', worker: 2, index: 0, row: undefined } as const
    const endpoint: RemoteEndpoint = { ...common, link, path: undefined, typed: false, state: 'serving' }
    this.#mesh.router.addRemote(host === undefined ? endpoint : Object.assign(endpoint, { host }))
    const edge = {
      begin: (): undefined => undefined,
      end: (status: number) => void this.counts.push(status),
      retried() {},
      withdraw: () => void this.counts.push('withdrawn'),
    }
    Object.assign(this.#mesh, { meter: { http: () => edge } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mesh[Symbol.asyncDispose]()
  }
}

/** Resolves to the error of the request. */
async function post(callee: Callee, streamed: boolean, begun?: () => void): Promise<NodeJS.ErrnoException> {
  const client = runInScope({ service: 'web', hops: 0 }, () => {
    const sent = request('http://catalog.internal/', { method: 'POST', agent: new Agent() })
    if (streamed) sent.write('one')
    return sent.end('two')
  })
  const failed = once(client, 'error')
  await callee.begun.promise
  begun?.()
  const [error] = (await failed) as [NodeJS.ErrnoException]
  return error
}
