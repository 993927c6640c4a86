/**
 * What a program counts of its calls, and the edges, agree exactly: for instances whose host counts
 * nothing for this app, and as a check of the program for one that does.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Service } from '../../../src/config/app.ts'
import type { ServiceStats } from '../../../src/observe/app-status.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { TwoApps } from '../../hosts/support/two-apps.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/../programs/tally`
const file = `${folder}/back.mjs`

const clients = ['fetch', 'undici', 'http', 'raw']

const command = {
  file,
  run: 'process',
  kind: 'command',
  path: folder,
  entry: { file: process.execPath, args: [file] },
} as const

for (const accelerators of [acceleratorNames, []])
  describe(`calls ${accelerators.length === 0 ? 'without' : 'with'} accelerators`, () => {
    for (const [where, run, back] of [
      ['a program', 'thread', { file, run: 'thread' }],
      ['a command', 'shared', command],
      ['a command from a thread', 'thread', command],
      ['a command from a process', 'process', command],
    ] as const)
      it(`of ${where} count exactly`, { timeout: 120_000 }, async () => {
        const services = {
          front: { file: `${folder}/front.mjs`, run },
          back: back as Partial<Service> & { file: string },
        }
        await using app = await TestApp.start({ services, accelerators })
        await compare(app)
      })

    for (const [where, far] of [
      ['a shared worker', { file, run: 'shared' }],
      ['a process', { file, run: 'process' }],
      ['a command', command],
    ] as const)
      it(`of another app's program in ${where} count exactly`, { timeout: 120_000 }, async () => {
        await using apps = await TwoApps.start({
          near: { services: { front: `${folder}/front.mjs` }, accelerators },
          far: { services: { back: far as Partial<Service> & { file: string } }, accelerators },
        })
        await compare(apps.near)
        // Their own app counts what it gets from clients of its own.
        assert.deepEqual(edgesTo(apps.far, 'back'), {})
      })
  })

for (const accelerators of [acceleratorNames, []])
  it(`callers that leave count, also while they wait for a slot, with accelerators [${accelerators.join()}]`, async () => {
    const services = {
      front: { file: `${folder}/front.mjs`, run: 'process' },
      back: { file, run: 'thread', concurrency: 1 },
    } as const
    await using app = await TestApp.start({ services, accelerators })
    await fetch(new URL('hold', app.url))
    const back = (): ServiceStats | undefined => app.running.status().services.find(({ service }) => service === 'back')
    await pollUntil(() => back()?.waiting === 1, back)
    await fetch(new URL('leave', app.url))
    await pollUntil(
      () => sorted(edgesTo(app, 'back')) === sorted({ 'GET none': 2 }),
      () => edgesTo(app, 'back'),
    )
  })

/** Makes the calls with each client, and compares what the edges have counted more. */
async function compare(app: TestApp): Promise<void> {
  let before: Record<string, number> = {}
  for (const client of clients) {
    const tally = (await (await fetch(new URL(client, app.url))).json()) as Record<string, number>
    const expected = { ...before }
    for (const [key, count] of Object.entries(tally)) expected[key] = (expected[key] ?? 0) + count
    const seen = (): Record<string, number> => edgesTo(app, 'back')
    await pollUntil(
      () =>
        sorted(seen()) === sorted(expected) &&
        app.running.status().edges.every(({ inFlight, caller }) => caller === '' || inFlight === 0),
      () => `${client}: ${sorted(seen())} instead of ${sorted(expected)}`,
    )
    before = expected
  }
  const { edges } = app.running.status()
  assert.deepEqual([...new Set(edges.filter(({ callee }) => callee === 'back').map(({ caller }) => caller))], ['front'])
}

function edgesTo(app: TestApp, callee: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const edge of app.running.status().edges)
    if (edge.callee === callee)
      for (const { status, count } of edge.outcomes) {
        const key = `${edge.method} ${status}`
        counts[key] = (counts[key] ?? 0) + count
      }
  return counts
}

function sorted(counts: Record<string, number>): string {
  return JSON.stringify(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)))
}
