import { deepStrictEqual } from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOn } from '../../../../support/mesh/accelerators.ts'
import { way } from '../../../../support/mesh/byte-mesh.ts'
import type { Answer, Undici, UndiciDispatcher } from '../copies.ts'
import { comparableHeaders, describe, failure, neutral, type Side } from '../mesh-and-tcp.ts'
import type { Bench } from './bench.ts'

interface Observed {
  readonly undici: Undici
  readonly side: Side
  readonly agent: UndiciDispatcher
  /** A call to this path, through the agent. */
  readonly call: (path: string, options?: object) => Promise<Answer>
}

type Observe = (observed: Observed) => Promise<unknown>

/** Agents with options of their own: limits, queues, events, ends and timeouts are undici's. */
export function testAgents(bench: Bench): void {
  const same = (name: string, options: object, observe: Observe): void => {
    test(name, async () => {
      const { sides, early, late } = bench
      const [expected, actual] = [
        await observeAgent(early, sides.tcp, options, observe),
        await observeAgent(late, sides.mesh, options, observe),
      ]
      deepStrictEqual(actual, expected)
    })
  }
  suite('an agent of its own', () => {
    testLimits(same)
    testEnds(same)
    testAnswers(same)
    const skip = !(way.toHost && isOn('exchange') && isOn('stream'))
    test('writes no text to another app for a whole request', { skip }, async () => {
      const sockets: Socket[] = []
      const onConnected = (message: unknown): unknown => sockets.push((message as { socket: Socket }).socket)
      subscribe('undici:client:connected', onConnected)
      const written = await observeAgent(bench.late, bench.sides.mesh, { connections: 1 }, async ({ call }) => {
        const bytes: number[] = []
        for (const options of [{}, { method: 'POST', body: 'four' }, { method: 'PUT', body: Buffer.from([255]) }]) {
          await (await call('/echo', options)).body.dump()
          bytes.push(sockets[0]!.bytesWritten, sockets[0]!.bytesRead)
        }
        return bytes
      })
      unsubscribe('undici:client:connected', onConnected)
      deepStrictEqual([sockets.length, written], [1, [0, 0, 0, 0, 0, 0]])
    })
  })
}

type Same = (name: string, options: object, observe: Observe) => void

function testLimits(same: Same): void {
  same('has no more calls under way than connections', { connections: 2 }, async ({ side, call }) => {
    const before = side.seen.length
    const calls = [0, 1, 2, 3, 4].map(async () => (await call('/chunks')).body.text())
    while (side.seen.length < before + 2) await sleep(1)
    const first = side.seen.length - before
    return [first, await Promise.all(calls)]
  })
  same('keeps the order of those that wait', { connections: 1 }, async ({ side, call }) => {
    const before = side.seen.length
    await Promise.all([0, 1, 2, 3].map(async (n) => (await call(`/json?${n}`)).body.dump()))
    return side.seen.slice(before).map(({ url }) => url)
  })
  same('forgets a call that is aborted while it waits', { connections: 1 }, async ({ side, call }) => {
    const before = side.seen.length
    const [first, second] = [new AbortController(), new AbortController()]
    const outcomes = [first, second].map(({ signal }) => failure(() => call('/never', { signal })))
    while (side.seen.length === before) await sleep(1)
    second.abort()
    first.abort()
    const failed = await Promise.all(outcomes)
    const { statusCode, body } = await call('/json')
    await body.dump()
    return [failed, statusCode, side.seen.slice(before).map(({ url }) => url)]
  })
  same('says when it is full, and when it is not', { connections: 1 }, async ({ side, agent }) => {
    let drains = 0
    agent.on('drain', () => drains++)
    const codes: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const handler = {
      onConnect: () => {},
      onHeaders: (code: number) => codes.push(code) > 0,
      onData: () => true,
      onComplete: () => codes.length === 3 && resolve(),
      onError: resolve,
      onRequestStart: () => {},
      onResponseStart: (_: unknown, code: number) => void codes.push(code),
      onResponseData: () => {},
      onResponseEnd: () => codes.length === 3 && resolve(),
      onResponseError: resolve,
    }
    const accepted = [1, 2, 3].map(() => agent.dispatch({ origin: side.at, path: '/json', method: 'GET' }, handler))
    await promise
    while (drains === 0) await sleep(1)
    return [accepted, codes, drains]
  })
  for (const pipelining of [0, 3])
    same(`pipelines ${pipelining} calls`, { connections: 1, pipelining }, async ({ side, call }) => {
      const before = side.seen.length
      const answers = await Promise.all(
        [0, 1, 2, 3, 4, 5].map(async (n) => {
          const options = n % 3 === 2 ? { method: 'POST', body: 'four' } : {}
          return (await call(`/echo?${n}`, options)).body.json()
        }),
      )
      return [answers, side.seen.slice(before).map(({ url }) => url)]
    })
}

function testEnds(same: Same): void {
  same('emits its events', { connections: 1 }, async ({ agent, call }) => {
    const events: string[] = []
    for (const event of ['connect', 'disconnect', 'connectionError', 'drain']) agent.on(event, () => events.push(event))
    await (await call('/json')).body.dump()
    await (await call('/json', { method: 'POST', body: 'x' })).body.dump()
    await agent.close()
    return events
  })
  same('closes an idle connection', { keepAliveTimeout: 20, keepAliveMaxTimeout: 20 }, async ({ agent, call }) => {
    const closed = once(agent, 'disconnect')
    await (await call('/json')).body.dump()
    return describe((await closed)[2])
  })
  same('waits for its calls when it closes', { connections: 1 }, async ({ agent, call }) => {
    const answers = [call('/chunks'), call('/json')].map(async (answer) => (await answer).body.text())
    const closed = agent.close()
    const late = await failure(() => call('/json'))
    await closed
    return [late, await Promise.all(answers), agent.closed, agent.destroyed]
  })
  same('fails its calls when it is destroyed', { connections: 1 }, async ({ agent, side, call }) => {
    const before = side.seen.length
    const calls = [failure(() => call('/never')), failure(() => call('/never'))]
    while (side.seen.length === before) await sleep(1)
    await agent.destroy(new RangeError('enough'))
    return [await Promise.all(calls), await failure(() => call('/json')), await side.seen[before]!.over]
  })
  same('fails them when it is destroyed amid a body', { connections: 1 }, async ({ agent, call }) => {
    const { body } = await call('/head-then-never')
    const text = failure(() => body.text())
    await agent.destroy()
    return text
  })
  same('has statistics', { connections: 2 }, async ({ agent, side, call }) => {
    await (await call('/json')).body.dump()
    const under = call('/never', { headersTimeout: 50 }).catch(() => {})
    const stats = neutral(side, JSON.stringify(agent.stats ?? null))
    await under
    return stats
  })
}

function testAnswers(same: Same): void {
  const failing = (name: string, options: object, path: string, given?: object): void =>
    same(name, options, async ({ call }) =>
      failure(async () => {
        const { body } = await call(path, given)
        // A paused response fails when it is read. Version 6 throws an error that nobody handles.
        body.on('error', () => {})
        await sleep(5)
        await body.text()
      }),
    )
  failing('has a limit for the head', { headersTimeout: 50 }, '/never')
  failing('has a limit for the body', { bodyTimeout: 50 }, '/head-then-never')
  failing('has a limit for the size of an answer', { maxResponseSize: 100 }, '/large')
  failing('has a limit for the size of a head', { maxHeaderSize: 60 }, '/headers')
  failing('sees a cut response', {}, '/cut-late')
  failing('sees a cut response that it reads later', {}, '/cut-late', { highWaterMark: 1 })
  failing('sees a cut response on a connection that closes', {}, '/cut-late', { headers: { connection: 'close' } })
  const closing = { connection: 'close', 'content-length': '9' }
  const told = (headers: object): string => {
    const how = { status: 200, headers, chunks: [{ size: 4, wait: true, text: false }], early: false }
    return `/as-told?how=${encodeURIComponent(JSON.stringify(how))}`
  }
  failing('sees an answer that is shorter than it said, on a connection that closes', {}, told(closing))
  same('uses a connection once', { connections: 1, maxRequestsPerClient: 1 }, async ({ agent, call }) => {
    let opened = 0
    agent.on('connect', () => opened++)
    const heads: unknown[] = []
    for (let n = 0; n < 3; n++) heads.push(await (await call('/echo')).body.json())
    return [opened, heads]
  })
  same('reads an answer that ends with its connection', {}, async ({ call }) => {
    const { headers, body } = await call(told({ connection: 'close', 'transfer-encoding': 'identity' }))
    return [comparableHeaders(Object.entries(headers)), await body.text()]
  })
  same('reads slowly', { connections: 1 }, async ({ call }) => {
    const { body } = await call('/large?size=900000', { highWaterMark: 1000 })
    let size = 0
    for await (const chunk of body) {
      size += (chunk as Buffer).length
      await sleep(1)
    }
    return [size, await (await call('/json')).body.json()]
  })
}

async function observeAgent(undici: Undici, side: Side, options: object, observe: Observe): Promise<unknown> {
  const agent = new undici.Agent(options)
  try {
    const call = (path: string, given: object = {}): Promise<Answer> =>
      undici.request(side.at + path, { ...given, dispatcher: agent })
    return await observe({ undici, side, agent, call })
  } finally {
    await agent.destroy()
  }
}
