import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { bundle } from '../support/bundle.ts'
import { root } from '../support/documents.ts'

const contract = join(import.meta.dirname, '../../src/contract')
const entries = { 'busbar/client': 'client-entry.ts', 'busbar/contract': 'index.ts' }

describe('what a page loads', () => {
  it('is checked for modules of Node', async () => {
    const { builtins } = await bundle(join(import.meta.dirname, '../../src/gateway/typed/adapters/index.ts'))
    assert.ok(builtins.some((found) => found.startsWith('node:events in ')))
  })

  for (const [name, file] of Object.entries(entries)) {
    it(`${name} uses no module of Node`, async () => {
      const { builtins } = await bundle(join(contract, file))
      assert.deepEqual(builtins, [])
    })

    it(`${name} is not larger than stated in the guide`, async (t) => {
      const { bytes, gzipped } = await bundle(join(contract, file))
      t.diagnostic(`${name}: ${bytes} bytes minified, ${gzipped} with gzip`)
      assert.ok(gzipped <= 1000 * (await limitInGuide(name)), `${name} has become larger: ${gzipped} bytes with gzip`)
    })
  }
})

/** In kB, as stated in the guide. */
async function limitInGuide(name: string): Promise<number> {
  const guide = await readFile(join(root, 'docs/guides/call/typed-services.md'), 'utf8')
  const found = new RegExp(`\`${name}\` (?:has )?at most (?<limit>\\d+(?:\\.\\d+)?) kB`).exec(guide)
  assert.ok(found, `the guide does not say how large ${name} is`)
  return Number(found.groups!['limit'])
}
