import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import type { RunningApp } from '../../src/supervisor/running.ts'
import { startApp } from '../../src/supervisor/supervisor.ts'
import { pollUntil } from '../support/app.ts'
import { TestFolder } from '../support/folder.ts'

/** How a worker can end, or stop to answer, while it has calls; and what their callers are told. */
const ways = {
  thread: ['exit', 'throw', 'loop'],
  process: ['exit', 'throw', 'loop', 'SIGKILL', 'SIGSTOP'],
} as const

const lost = new Set(['WORKER_DIED', 'LINK_LOST'])

for (const run of ['thread', 'process'] as const)
  describe(`calls to a service in a ${run} of its own that`, () => {
    const lines: string[] = []
    let app: RunningApp
    let url: string

    before(async () => {
      const place = join(import.meta.dirname, 'programs', `faults-${run}`)
      const log = ({ line }: { line: string }): void => void lines.push(line)
      const timing = { stale: 60_000, stuck: 1500, watch: 100, restartWindow: 1 }
      app = await startApp(await loadApp(place, { env: {} }), { mode: 'start', log, timing })
      url = app.addresses[0]!.url
    })

    // Each test ends one worker, and takes the next when that one is noticed and replaced.
    let ended = 0
    beforeEach(async () => {
      await pollUntil(() => isWhole(app, ended))
      ended++
    })
    after(async () => await app.stop())

    async function get(path: string): Promise<unknown> {
      const response = await fetch(`${url}/${path}`)
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return JSON.parse(text)
    }

    const begun = (way: string): number => lines.filter((line) => line === `begins ${way}`).length

    for (const way of ways[run]) {
      it(`ends by ${way} in mid-call fail, are made once, and others go on`, async () => {
        const before = begun(way)
        const failed = get(`once?way=${way}`)
        assert.equal(typeof (await get('who')), 'string')
        assert.ok(lost.has((await failed) as string))
        assert.equal(begun(way), before + 1)
        assert.equal(typeof (await get('who')), 'string')
      })

      it(`ends by ${way} in mid-stream fail behind the values that came`, async () => {
        const [one, two, code] = (await get(`ticks?way=${way}`)) as [number, number, string]
        assert.deepEqual([one, two], [1, 2])
        assert.ok(lost.has(code), code)
      })

      it(`ends by ${way} are answered by another instance when they are idempotent`, async () => {
        using folder = new TestFolder()
        const before = begun(way)
        assert.equal(await get(`again?way=${way}&file=${folder.at('mark')}`), 'done')
        assert.equal(begun(way), before + 1)
      })
    }
  })

function isWhole({ workers }: RunningApp, ended: number): boolean {
  const deaths = workers.reduce((sum, worker) => sum + worker.deaths, 0)
  return deaths === ended && workers.every(({ state }) => state === 'serving')
}
