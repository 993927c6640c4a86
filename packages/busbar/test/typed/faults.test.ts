import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { loadApp } from '../../src/config/load.ts'
import type { RunningApp } from '../../src/supervisor/running.ts'
import { startApp } from '../../src/supervisor/supervisor.ts'
import { pollUntil } from '../support/app.ts'
import { TestFolder } from '../support/folder.ts'

/** How a worker can end, or stop to answer, while it has calls. */
const ends = { thread: ['exit', 'throw'], process: ['exit', 'throw', 'SIGKILL'] } as const
/** These are only ended when they have been stuck for so long that a healthy one cannot be meant. */
const stuck = { thread: ['loop'], process: ['loop', 'SIGSTOP'] } as const

/** What the supervisor says of a worker that ended so. */
const told = {
  exit: /process\.exit\(3\)/,
  throw: /thrown by a job/,
  SIGKILL: /SIGKILL/,
  loop: /event loop had not turned/,
  SIGSTOP: /event loop had not turned/,
} as const

const lost = new Set(['WORKER_DIED', 'LINK_LOST'])

// What takes long is waiting for those that are stuck: the two apps wait together.
describe('calls to a service', { concurrency: 2 }, () => {
  for (const run of ['thread', 'process'] as const)
    describe(`in a ${run} of its own that`, { concurrency: 1 }, () => {
      let app: RunningApp
      let url: string
      const said: string[] = []

      before(async () => {
        const place = join(import.meta.dirname, 'programs', `faults-${run}`)
        const timing = { stale: 60_000, stuck: 3000, watch: 100, stable: 0 }
        const log = ({ line }: { line: string }): void => void said.push(line)
        app = await startApp(await loadApp(place, { env: {} }), { mode: 'start', log, timing })
        url = app.addresses[0]!.url
      })

      // Each test ends a worker, and takes the next when that one is noticed and replaced.
      let deaths = 0
      beforeEach(async () => {
        await pollUntil(
          () => deathsOf(app) >= deaths && app.workers.every(({ state }) => state === 'serving'),
          () => ({ deaths, workers: app.workers, said }),
        )
        deaths = deathsOf(app) + 1
      })
      after(async () => await app.stop())

      async function get(path: string): Promise<unknown> {
        // Nothing may hang: the longest that a fault takes is for what is stuck to be missed.
        const response = await fetch(`${url}/${path}`, { signal: AbortSignal.timeout(60_000) }).catch(
          (error: unknown) =>
            assert.fail(`${path}: ${String(error)}; ${inspect({ workers: app.workers, said }, { depth: 5 })}`),
        )
        const text = await response.text()
        assert.equal(response.status, 200, text)
        return JSON.parse(text)
      }

      for (const way of [...ends[run], ...stuck[run]]) {
        it(`ends by ${way} in mid-call fail, are made once, and others go on`, async () => {
          using folder = new TestFolder()
          const before = said.length
          const failed = get(`once?way=${way}&file=${folder.at('marks')}`)
          assert.equal(typeof (await get('who')), 'string')
          assert.ok(lost.has((await failed) as string))
          assert.equal(readFileSync(folder.at('marks'), 'utf8'), 'x')
          assert.equal(typeof (await get('who')), 'string')
          await pollUntil(
            () => said.slice(before).some((line) => line.startsWith('worker ') && told[way].test(line)),
            () => said.slice(before),
          )
        })

        it(`ends by ${way} are answered by another instance when they are idempotent`, async () => {
          using folder = new TestFolder()
          assert.equal(await get(`again?way=${way}&file=${folder.at('marks')}`), 'done')
          assert.equal(readFileSync(folder.at('marks'), 'utf8'), 'x')
        })
      }

      for (const way of ends[run])
        it(`ends by ${way} in mid-stream fail behind the values that came`, async () => {
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
