import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitBudget } from '../../src/protocol/wait-budget.ts'

test('without a loss there is no check', async () => {
  assert.equal(await new WaitBudget(60_000).untilCalm(() => assert.fail('looked')), 0)
})

test('a calm machine causes no wait', async () => {
  let glances = 0
  await afterLoss(60_000).untilCalm(() => Promise.resolve(++glances > 0))
  assert.equal(glances, 1)
})

test('a disturbed machine is checked again after a pause, until it is calm', async () => {
  let glances = 0
  const waited = await afterLoss(60_000).untilCalm(() => Promise.resolve(++glances > 1))
  assert.equal(glances, 2)
  assert.ok(waited >= 0.99)
})

test('all waits of a session together do not exceed its budget', async () => {
  const budget = afterLoss(1200)
  let glances = 0
  const never = () => Promise.resolve(++glances < 0)
  assert.ok((await budget.untilCalm(never)) >= 1.19)
  assert.ok(glances >= 2)
  const before = glances
  await budget.untilCalm(never)
  assert.equal(glances, before)
})

test('an aborted session stops waiting', async () => {
  const abort = new AbortController()
  const waiting = afterLoss(600_000).untilCalm(() => {
    setImmediate(() => abort.abort())
    return Promise.resolve(false)
  }, abort.signal)
  assert.ok((await waiting) < 60)
})

function afterLoss(leftMs: number): WaitBudget {
  const budget = new WaitBudget(leftMs)
  budget.afterLoss()
  return budget
}
