/** A request that kills the only instance of its service is a call, at both entrances. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { builtAddon } from '../../entrance/served.ts'

const program = `
require('node:http').createServer(({ url }, response) => {
  if (url === '/exit') process.exit(7)
  response.end('ok')
}).listen(3000)`

/** A program that is the entry has a server of its own. */
const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '', service: 'web' }] }

for (const entrance of ['portable', 'native'] as const)
  for (const isKept of [true, false])
    test(
      `it fails once, and is in no other count: ${entrance} entrance, ${isKept ? 'kept' : 'new'} connection`,
      { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false },
      async () => {
        using files = new TestFolder({ 'web.cjs': program })
        const services = { web: { file: files.at('web.cjs'), run: 'process' } } as const
        // It must not be there again before the answer.
        const timing = { backoff: 1000, backoffMax: 1000 }
        await using app = await TestApp.start({ services, gateway: { ...gateway, entrance } }, { timing })
        const ask = async (path: string, method = 'GET'): Promise<number> => {
          const response = await fetch(new URL(path, app.url), { method })
          await response.text()
          return response.status
        }
        const outcomes = (): Record<string, number> => {
          const sums: Record<string, number> = {}
          for (const edge of app.running.status().edges)
            for (const { status, count } of edge.outcomes) sums[status] = (sums[status] ?? 0) + count
          return sums
        }
        const before = isKept ? 1 : 0
        if (isKept) assert.equal(await ask('/'), 200)
        const answer = await ask('/exit')
        assert.equal(answer, 502)
        const wanted = (): boolean => Object.values(outcomes()).reduce((sum, count) => sum + count, 0) === before + 1
        await pollUntil(wanted, outcomes)
        const { 200: succeeded = 0, ...failed } = outcomes()
        assert.equal(succeeded, before)
        const [status] = Object.keys(failed)
        assert.ok(status === 'none' || status === '502', status)
        // Its replacement counts on, and nobody is called while there is none.
        await app.untilReplaced(app.running.status().instances[0]!.worker)
        await pollUntil(wanted, outcomes)
        assert.equal(
          app.running.status().edges.reduce((sum, { inFlight }) => sum + inFlight, 0),
          0,
        )
      },
    )
