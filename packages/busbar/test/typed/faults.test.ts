import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { loadApp } from '../../src/config/load.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/** How a worker ends during calls. */
const ends = { thread: ['exit', 'throw'], process: ['exit', 'throw', 'SIGKILL'] } as const
/** How a worker hangs during calls. The supervisor terminates it after a while. */
const stuck = { thread: ['loop'], process: ['loop', 'SIGSTOP'] } as const

/** The supervisor's reason for each end. */
const reasons = {
  exit: /process\.exit\(3\)/,
  throw: /thrown by a job/,
  SIGKILL: /SIGKILL/,
  loop: /event loop was blocked/,
  SIGSTOP: /event loop was blocked/,
} as const

const lost = new Set(['WORKER_DIED', 'LINK_LOST'])

// Waiting for stuck workers takes long, so the two apps run in parallel.
describe('calls to a service', { concurrency: 2 }, () => {
  for (const run of ['thread', 'process'] as const)
    describe(`in a ${run} of its own that`, { concurrency: 1 }, () => {
      let app: RunningApp
      let url: string
      const lines: string[] = []

      before(async () => {
        const config = join(import.meta.dirname, 'programs', `faults-${run}`)
        const timing = { stale: 60_000, stuck: 3000, watch: 100, stable: 0 }
        const log = ({ line }: { line: string }): void => void lines.push(line)
        app = await startSupervisor(await loadApp(config, { env: {} }), { mode: 'start', log, timing })
        url = app.addresses[0]!.url
      })

      // Each test ends a worker, and waits until it is replaced.
      let deaths = 0
      beforeEach(async () => {
        await pollUntil(
          () => deathsOf(app) >= deaths && app.workers.every(({ state }) => state === 'serving'),
          () => ({ deaths, workers: app.workers, lines }),
        )
        deaths = deathsOf(app) + 1
      })
      after(async () => await app.stop())

      async function get(path: string): Promise<unknown> {
        // Nothing may hang. Detecting a stuck worker takes longest.
        const response = await fetch(`${url}/${path}`, { signal: AbortSignal.timeout(60_000) }).catch(
          (error: unknown) =>
            assert.fail(`${path}: ${String(error)}; ${inspect({ workers: app.workers, lines }, { depth: 5 })}`),
        )
        const text = await response.text()
        assert.equal(response.status, 200, text)
        return JSON.parse(text)
      }

      for (const way of [...ends[run], ...stuck[run]]) {
        it(`ends by ${way} fail if they are in flight, are executed once, and later ones succeed`, async () => {
          using folder = new TestFolder()
          const before = lines.length
          const failed = get(`once?way=${way}&file=${folder.at('marks')}`)
          assert.equal(typeof (await get('who')), 'string')
          assert.ok(lost.has((await failed) as string))
          assert.equal(readFileSync(folder.at('marks'), 'utf8'), 'x')
          assert.equal(typeof (await get('who')), 'string')
          await pollUntil(
            () => lines.slice(before).some((line) => line.startsWith('worker ') && reasons[way].test(line)),
            () => lines.slice(before),
          )
        })

        it(`ends by ${way} are retried on another instance if they are idempotent`, async () => {
          using folder = new TestFolder()
          assert.equal(await get(`again?way=${way}&file=${folder.at('marks')}`), 'done')
          assert.equal(readFileSync(folder.at('marks'), 'utf8'), 'x')
        })
      }

      for (const way of ends[run])
        it(`ends by ${way} in a stream fail after the values received so far`, async () => {
          using folder = new TestFolder()
          const [one, two, code] = (await get(`ticks?way=${way}&file=${folder.at('marks')}`)) as [
            number,
            number,
            string,
          ]
          assert.deepEqual([one, two], [1, 2])
          assert.ok(lost.has(code), code)
        })
    })
})

function deathsOf({ workers }: RunningApp): number {
  return workers.reduce((sum, worker) => sum + worker.deaths, 0)
}
