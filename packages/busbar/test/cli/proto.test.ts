import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { folderWithBusbar } from '../support/app/test-folder.ts'

const ends = {
  'process.exit(0)': [1, 'called process.exit(0)'],
  'setImmediate(() => process.exit(0))': [1, 'called process.exit(0)'],
  'process.exit(7)': [7, 'called process.exit(7)'],
  'await new Promise(() => {})': [13, 'waits for something that never comes'],
} as const

for (const [statement, [code, why]] of Object.entries(ends))
  test(`a contract that runs ${statement} fails busbar proto, which says so and writes nothing`, async () => {
    using folder = folderWithBusbar({
      'busbar.config.json': { services: { items: './items' } },
      'items/index.js':
        "import { items } from './contract.js'\nexport default items.implement({ list: async () => {} })",
      'items/contract.js': `import { fn, service } from 'busbar/contract'
        export const items = service('items', { list: fn() })
        ${statement}`,
    })
    const run = await BusbarProcess.run(['proto', folder.path, '--into', folder.at('out')])
    assert.deepEqual([run.code, run.stdout, existsSync(folder.at('out'))], [code, '', false])
    assert.ok(run.stderr.includes(`busbar proto was not done: a module that it has loaded ${why}`), run.stderr)
  })
