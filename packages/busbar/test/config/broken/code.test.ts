import assert from 'node:assert/strict'
import { it } from 'node:test'
import { failure } from '../../support/app/config-failures.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

it('a config that throws shows only frames of the user in its stack', async () => {
  using folder = new TestFolder({
    'busbar.config.mjs': 'import { go } from "./go.mjs"\nexport default go',
    'go.mjs': 'export const go = () => JSON.parse("{")',
  })
  const { message } = await failure(folder.path, {})
  const frames = message.split('\n').filter((line) => /^\s+at /.test(line))
  assert.equal(frames.length, 1, message)
  assert.match(frames[0]!, /go\.mjs:1/)
})
