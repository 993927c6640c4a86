/** The script of the page. The test calls its functions by name. */
import { client, safe, type Client } from '../../src/contract/client-entry.ts'
import { probe } from './programs/probe/contract.ts'
import implementation from './programs/probe/index.ts'

/** The used part: these sources are checked with Node's types, which do not have it. */
declare const EventSource: new (url: string) => {
  addEventListener(type: 'message' | 'end', listener: (event: { readonly data: string }) => void): void
  close(): void
}

type Calls = Client<(typeof probe)['methods']>

const scenarios = {
  answer: async (calls: Calls) => await calls.add({ a: 1, b: 2 }),

  values: async (calls: Calls) => {
    const sent = { at: new Date(0), big: 2n ** 64n, bytes: Uint8Array.of(1, 255), map: new Map([['a', new Set([1])]]) }
    const { at, big, bytes, map } = (await calls.echo(sent)) as typeof sent
    return [at.toISOString(), String(big), [...bytes], [...map.get('a')!]]
  },

  declared: async (calls: Calls) => {
    const [error] = await safe(calls.product({ id: 7 }))
    return error?.code === 'NOT_FOUND' ? { status: error.status, id: error.data.id } : error?.message
  },

  invalid: async (calls: Calls) => {
    const [error] = await safe(calls.add({ a: 1, b: 'two' as never }))
    return error?.code === 'INPUT_INVALID' ? error.data.issues.map(({ path }) => path) : error?.message
  },

  pathFields: async (calls: Calls) => {
    const answers: (string | undefined)[] = []
    for (const text of ['..', '.', '', '\ud800', '%2e.', 'a/b']) {
      const [error, label] = await safe(calls.label({ text }))
      answers.push(error?.code ?? label)
    }
    return answers
  },

  stream: async (calls: Calls) => {
    const seen: number[] = []
    for await (const value of calls.count({ to: 5 })) seen.push(value)
    return seen
  },

  leaving: async (calls: Calls, name: string) => {
    const seen: number[] = []
    for await (const value of calls.endless({ name })) if (seen.push(value) === 3) break
    return [seen, await calls.left({ name })]
  },

  aborting: async (calls: Calls, name: string) => {
    const controller = new AbortController()
    const hanging = safe(calls.hang({ name }, { signal: controller.signal }))
    await calls.began({ name })
    controller.abort()
    const [error] = await hanging
    return [error?.code, await calls.left({ name })]
  },

  timeout: async (calls: Calls, name: string) => {
    const [error] = await safe(calls.hang({ name }, { timeout: 50 }))
    return error?.code
  },

  metadata: async (calls: Calls) => await calls.caller(undefined, { metadata: { 'x-language': 'eo' } }),

  failing: async (calls: Calls) => (await safe(calls.add({ a: 1, b: 2 })))[0]?.code,
}

export type Scenario = keyof typeof scenarios

const page = {
  /** With the service at `url`, or else with its implementation in this page. */
  run: async (scenario: Scenario, name: string, url?: string): Promise<unknown> => {
    await using calls = client(probe, url ?? implementation)
    return await scenarios[scenario](calls, name)
  },

  /** Server-sent events without a client. */
  events: (url: string): Promise<number[]> => {
    const { promise, resolve } = Promise.withResolvers<number[]>()
    const source = new EventSource(url)
    const seen: number[] = []
    source.addEventListener('message', ({ data }) => void seen.push(JSON.parse(data) as number))
    source.addEventListener('end', () => {
      source.close()
      resolve(seen)
    })
    return promise
  },
}

export type Page = typeof page

Object.assign(globalThis, { page })
