import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type App, type Service } from '../../src/config/app.ts'
import { loadApp } from '../../src/config/load.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import { pollUntil } from '../support/app/test-app.ts'

const folder = new URL('programs/limited', import.meta.url).pathname

interface Outcome {
  readonly code?: string
  readonly atOnce?: number
  readonly worker?: string
}

for (const run of ['thread', 'process'] as const)
  describe(`a typed service with three instances, each a ${run} that takes one call at a time`, () => {
    const lines: string[] = []
    let app: RunningApp

    before(async () => {
      const log = ({ line }: { line: string }): void => void lines.push(line)
      app = await startSupervisor(await appWith(run), { mode: 'start', log, timing: { stale: 60_000 } })
      // Workers learn about each other shortly after the start.
      const known = async (): Promise<number> =>
        new Set((await ask('/slowly?times=3&ms=5')).map(({ worker }) => worker)).size
      while ((await known()) < 3);
    })

    after(async () => await app.stop())

    async function ask(path: string): Promise<Outcome[]> {
      const answer = await fetch(`${app.addresses[0]!.url}${path}`, { headers: { connection: 'close' } })
      return (await answer.json()) as Outcome[]
    }

    it('never runs two calls at once, and uses every instance', async () => {
      const outcomes = await ask('/slowly?times=7&ms=20')
      assert.deepEqual(new Set(outcomes.map(({ atOnce }) => atOnce)), new Set([1]))
      assert.equal(new Set(outcomes.map(({ worker }) => worker)).size, 3)
    })

    it('refuses at once calls that exceed its instances and its queue', async () => {
      const outcomes = await ask('/slowly?times=9&ms=50')
      assert.deepEqual(
        outcomes.map(({ code }) => code).filter((code) => code !== undefined),
        ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
      )
    })

    it('ends a queued call at its deadline, and never runs it', async () => {
      // Each has a time of its own, by which its lines are told from those of earlier tests.
      const drawn = (ms: number): number => lines.filter((line) => line === `drawing ${ms}`).length
      const inside = ask('/slowly?times=3&ms=700')
      await pollUntil(() => drawn(700) === 3)
      const waiting = await ask('/slowly?times=2&ms=1&timeout=100')
      assert.deepEqual(new Set(waiting.map(({ code }) => code)), new Set(['DEADLINE_EXCEEDED']))
      assert.ok((await inside).every(({ code }) => code === undefined))
      assert.ok((await ask('/slowly?times=3&ms=2')).every(({ code }) => code === undefined))
      // Output and answers arrive on different channels.
      await pollUntil(() => drawn(2) === 3)
      assert.equal(drawn(1), 0)
    })

    it('routes calls with one key to one instance, and different keys to all', async () => {
      const homes = async (): Promise<(string | undefined)[]> => {
        const found: (string | undefined)[] = []
        for (let from = 0; from < 30; from += 3)
          found.push(...(await ask(`/count?times=3&from=${from}`)).map(({ worker }) => worker))
        return found
      }
      const first = await homes()
      assert.equal(new Set(first).size, 3)
      assert.deepEqual(await homes(), first)
    })
  })

async function appWith(run: Service['run']): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  return { ...app, services: app.services.map((one) => (one.name === 'draw' ? { ...one, run } : one)) }
}
