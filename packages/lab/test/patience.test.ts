import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Patience } from '../src/protocol/patience.ts'

test('as long as nothing was lost nobody looks', async () => {
  assert.equal(await new Patience(60_000).untilCalm(() => assert.fail('looked')), 0)
})

test('a machine that is calm is not waited for', async () => {
  let glances = 0
  await afterLoss(60_000).untilCalm(() => Promise.resolve(++glances > 0))
  assert.equal(glances, 1)
})

test('a machine that is not calm is looked at again after a pause, until it is', async () => {
  let glances = 0
  const waited = await afterLoss(60_000).untilCalm(() => Promise.resolve(++glances > 1))
  assert.equal(glances, 2)
  assert.ok(waited >= 0.99)
})

test('all waits of a session together take no longer than its patience', async () => {
  const patience = afterLoss(1200)
  let glances = 0
  const never = () => Promise.resolve(++glances < 0)
  assert.ok((await patience.untilCalm(never)) >= 1.19)
  assert.ok(glances >= 2)
  const before = glances
  await patience.untilCalm(never)
  assert.equal(glances, before)
})

test('an aborted session waits no longer', async () => {
  const abort = new AbortController()
  const waiting = afterLoss(600_000).untilCalm(() => {
    setImmediate(() => abort.abort())
    return Promise.resolve(false)
  }, abort.signal)
  assert.ok((await waiting) < 60)
})

function afterLoss(leftMs: number): Patience {
  const patience = new Patience(leftMs)
  patience.afterLoss()
  return patience
}
