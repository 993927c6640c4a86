import assert from 'node:assert/strict'
import type { RawCase } from '../corpus/request.ts'
import { placements, serviceIn, typedPlacements, type Placement } from '../placements.ts'
import { exchangeRaw } from '../raw-client.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { anyAnswer } from './scripted-responses.ts'
import { anyRequest, anyTypedRequest } from './mutated-requests.ts'

export type FuzzKind = 'requests' | 'answers' | 'typed'

export interface FuzzOptions {
  readonly kind: FuzzKind
  readonly count: number
  /**
   * Each case derives its own seed from this one and its number, so parts of a run can be repeated.
   */
  readonly seed: number
  readonly from?: number
  readonly onBatch?: (done: number, statuses: ReadonlyMap<string, number>) => void
}

const kinds = {
  requests: { program: 'echo.mjs', make: anyRequest, at: placements },
  answers: { program: 'scripted.mjs', make: anyAnswer, at: placements },
  typed: { program: 'things/index.ts', make: anyTypedRequest, at: typedPlacements },
} satisfies Record<FuzzKind, Kind>

interface Kind {
  readonly program: string
  readonly make: (chance: SeededRandom) => RawCase
  readonly at: readonly Placement[]
}

/** Cases between two health checks of the app. */
const batch = 500
const concurrency = 32

/**
 * Sends cases to an app with a service in each placement. Asserts that every connection ends, no
 * worker dies, and the app still answers. Resolves to the number of responses by status.
 */
export async function fuzz({
  kind,
  count,
  seed,
  from = 0,
  onBatch,
}: FuzzOptions): Promise<ReadonlyMap<string, number>> {
  const { make, at } = kinds[kind]
  await using app = await startAll(kind)
  const statuses = new Map<string, number>()
  for (let begin = from; begin < from + count; begin += batch) {
    const end = Math.min(begin + batch, from + count)
    let next = begin
    const work = async (): Promise<void> => {
      while (next < end) {
        const number = next++
        const { bytes, ended } = await exchangeRaw(
          app.port,
          make(new SeededRandom(Math.imul(seed, 0x9e3779b1) + number)),
        )
        assert.ok(ended, `case ${number} of ${kind}, seed ${seed}: the connection does not end`)
        const status = /^HTTP\/1\.[01] (\d{3})/.exec(bytes)?.[1] ?? (bytes === '' ? 'nothing' : 'no HTTP')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    await assertHealthy(app, at, `cases ${begin} to ${end - 1} of ${kind}, seed ${seed}`)
    onBatch?.(end - from, statuses)
  }
  return statuses
}

async function startAll(kind: FuzzKind): Promise<TestApp> {
  const { program, at } = kinds[kind]
  const file = `${import.meta.dirname}/../programs/${program}`
  const options = kind === 'typed' ? ({ kind } as const) : {}
  const services = Object.fromEntries(at.map((where) => [where, { ...serviceIn(where, where, file), ...options }]))
  const routes = at.map((placement) => ({ host: undefined, prefix: `/${placement}`, service: placement }))
  return await TestApp.start({
    services,
    gateway: { entry: 'thread', routes },
    limits: {
      headerTimeout: 10_000,
      requestTimeout: 300_000,
      // A service that does not answer must not look like a connection that hangs.
      responseTimeout: 2000,
      keepAliveTimeout: 60_000,
      maxHeaderSize: 65_536,
      maxBodySize: 1024 * 1024,
      maxInputSize: 1024 * 1024,
      maxInFlight: 10_000,
      webSocketDrain: 3000,
      maxHops: 16,
    },
  })
}

async function assertHealthy(app: TestApp, at: readonly Placement[], after: string): Promise<void> {
  const died = app.running.workers.filter(({ deaths }) => deaths > 0)
  const lines = app.log.filter(({ level }) => level === 'error' || level === 'warn').map(({ line }) => line)
  assert.equal(died.length, 0, `a worker died in ${after}:\n${lines.slice(0, 20).join('\n')}`)
  for (const placement of at)
    assert.ok(
      await answers(`${app.url}/${placement}/things/1`),
      `the service in "${placement}" no longer answers after ${after}`,
    )
}

/**
 * A command that wrote a response past its own server leaves the real one, and its connection,
 * open. The next request on that connection is answered 504 and closes it.
 */
async function answers(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < concurrency; attempt++) {
    const response = await fetch(url)
    await response.text()
    if (response.status === 200) return true
  }
  return false
}
