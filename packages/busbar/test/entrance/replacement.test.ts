/** Requests that come while the only worker is replaced, at either entrance. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { builtAddon } from './served.ts'

const any = `${import.meta.dirname}/../supervisor/programs/any.js`

for (const entrance of ['native', 'portable'] as const) {
  const skip = entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false
  test(
    `requests wait at the ${entrance} entrance while a replacement is delayed for a short time`,
    { skip },
    async () => {
      const routes = [{ host: undefined, prefix: '/any', service: 'any' }]
      const setup = { services: { any }, gateway: { entrance, entry: undefined, routes } }
      await using app = await TestApp.start(setup, { timing: { backoff: 1000 } })
      const headers = { connection: 'close' }
      for (const deaths of [1, 2]) {
        // The portable gateway ends with its worker.
        await fetch(`${app.url}/any/exit`, { method: 'POST', headers }).catch(() => undefined)
        await app.until(() => app.running.workers[0]!.deaths === deaths)
        if (deaths === 1) await app.untilReplaced(0, 1)
      }
      assert.equal(app.running.workers[0]!.state, 'waiting')
      const statuses = [1, 2, 3].map(async () => (await fetch(`${app.url}/any/`, { headers })).status)
      assert.ok((await Promise.all(statuses)).every((status) => status === 200))
    },
  )
}
