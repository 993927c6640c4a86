import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageText, type Page } from '../../../src/cli/commands/try/page.ts'

const call = (address: string, atLocalhost: boolean) => ({
  from: 'web',
  to: 'api',
  where: 'web.js:1',
  instead: 'http://api.internal',
  address,
  atLocalhost,
})

function page(calls: Page['trial']['calls']): string {
  const empty = { notes: [], leftOut: [], text: '', why: '', file: undefined }
  const tried = { arms: [], notes: [], generator: null, measured: 0, foundPorts: {} }
  const trial = { calls, hazards: [], rewritten: false }
  return pageText(
    { ...empty, name: 'shop', same: true, trial, tried },
    { stream: process.stdout, isTerminal: false, colors: false, lost: new AbortController().signal },
  )
}

test('the page names the calls that --rewrite-localhost does not change', () => {
  const local = call('http://localhost:3001', true)
  const other = call('http://192.0.2.1:3001', false)
  assert.match(page([local]), /With --rewrite-localhost, .* go through the mesh, and nothing is edited\./)
  assert.match(page([local, other]), /and nothing is edited but calls to http:\/\/192\.0\.2\.1:3001\./)
})
