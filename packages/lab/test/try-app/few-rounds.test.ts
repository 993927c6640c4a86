import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fewRoundsNotes } from '../../src/try-app/measure.ts'

const comparison = { ratio: 1.5, low: 0.3, high: 7, confidence: 0.99, verdict: 'unclear' } as const

test('an unclear result of two rounds without a forecast says what to do', () => {
  const open = { comparison, secondsNeeded: null }
  assert.match(fewRoundsNotes(2, [open]).join(), /^Two rounds .* Use a longer --budget\.$/)
  assert.deepEqual(fewRoundsNotes(2, [{ comparison, secondsNeeded: 400 }]), [])
  assert.deepEqual(fewRoundsNotes(2, [{ comparison: { ...comparison, verdict: 'faster' }, secondsNeeded: null }]), [])
  assert.deepEqual(fewRoundsNotes(4, [open]), [])
})

test('one round compares nothing, which is said', () => {
  assert.match(fewRoundsNotes(1, []).join(), /one round only, so nothing is compared/)
})
