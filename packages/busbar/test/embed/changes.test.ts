/** What `scale`, `move` and `reload` refuse: JavaScript callers get no errors of types. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../src/embed/start-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

test('wrong arguments change nothing, and the error says what is allowed', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0 }, services: { one: './one.mjs', two: './one.mjs' } },
    'one.mjs': `
      import { createServer } from 'node:http'
      createServer((_, response) => response.end('served')).listen(3000)`,
  })
  await using app = await startApp(folder.path)
  const placements = (): unknown =>
    app.status().instances.map(({ service, instance, worker }) => [service, instance, worker])
  const before = placements()
  const wrong = { code: 'INPUT_INVALID', message: /is not a number of instances/ }
  for (const count of ['3', 'x', '', null, undefined, 0, -1, 1.5, {}])
    await assert.rejects(app.scale('one', count as never), wrong, JSON.stringify(count))
  const nowhere = { code: 'INPUT_INVALID', message: /run must be 'shared', 'thread' or 'process'/ }
  for (const to of [{ run: 'cluster' }, {}, 'thread', null, undefined])
    await assert.rejects(app.move('one', to as never), nowhere, JSON.stringify(to))
  for (const change of [app.scale(undefined as never, 2), app.move('onne', { run: 'thread' }), app.reload(5 as never)])
    await assert.rejects(change, { code: 'SERVICE_UNKNOWN' })
  assert.deepEqual(placements(), before)
  assert.equal(await (await app.fetch('one', '/')).text(), 'served')
})
