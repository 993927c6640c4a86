import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'

const shop = join(import.meta.dirname, 'programs', 'shop')
/** A V8 option of hardened installations. */
const flag = '--disallow-code-generation-from-strings'
const env = { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${flag}` }

describe(`typed services under ${flag}`, () => {
  for (const run of ['shared', 'thread', 'process'])
    it(`start and answer when they run as ${run}`, async () => {
      await using busbar = new BusbarProcess(['start', shop, '--run', run], { env })
      const url = await busbar.url()
      const json = async (path: string): Promise<unknown> => await (await fetch(url + path)).json()
      assert.deepEqual(await json('/api/products/3'), { id: 3, stock: 30 })
      assert.equal((await fetch(`${url}/api/products/x`)).status, 422)
      assert.deepEqual(await json('/ticks'), [1, 2, 3])
      assert.deepEqual(await json('/sum'), [3, 3])
    })
})
