/** What two measurements say about a move. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppWindow } from '../../../src/observe/advice/app-window.ts'
import { betterBecause, failingBecause, measuredOf, worseBecause } from '../../../src/observe/advice/judgement.ts'
import { bucketCount } from '../../../src/shared/metrics/latency-buckets.ts'

interface Calls {
  readonly calls: number
  readonly failures?: number
  readonly route?: string
  readonly mean?: number
}

function windowOf(...counted: readonly Calls[]): AppWindow {
  const key = { caller: '', callee: 'web', protocol: 'http', method: 'GET', transport: 'local' } as const
  const buckets = new Float64Array(bucketCount)
  const edges = counted.map((one) => ({ ...key, failures: 0, route: '/', mean: 1, ...one, timed: one.calls, buckets }))
  return { seconds: 1, edges, workers: [], cpu: null, machine: 0 }
}

/** Of parts with as many calls each, by their means in milliseconds. */
function measured(...means: readonly number[]) {
  const mean = means.reduce((sum, one) => sum + one, 0) / means.length
  return measuredOf([windowOf({ calls: 500, mean }), ...means.map((one) => windowOf({ calls: 100, mean: one }))])
}

test('a difference is clear if no part of one measurement is like one of the other', () => {
  const busy = measured(10, 16, 30, 60, 131)
  const quick = measured(3.2, 3.3, 3.4, 3.5, 3.6)
  assert.equal(worseBecause(busy, quick), undefined)
  assert.match(betterBecause(busy, quick), /^calls take 3\.4 ms on average after 49\.4 ms; /)
  assert.match(worseBecause(quick, busy) ?? '', /^calls take 49\.4 ms on average after 3\.4 ms$/)
})

test('one that is not clear has the ranges of both', () => {
  const [before, after] = [measured(2, 3, 30, 60, 152), measured(3.2, 3.3, 3.4, 40, 41)]
  assert.equal(worseBecause(before, after), undefined)
  assert.match(
    betterBecause(before, after),
    /^no clear difference: .*; parts of the time had means of 3\.3 ms to 40 ms after 3 ms to 60 ms$/,
  )
  assert.match(betterBecause(measured(10, 10, 10, 10, 10), measured(9.8, 9.8, 9.8, 9.8, 9.8)), /^no clear difference/)
})

test('one failed call of a route that was called once is no reason to move back', () => {
  const before = windowOf({ calls: 600 }, { calls: 100, route: '/rare' })
  const after = windowOf({ calls: 683, route: '/new' }, { calls: 1, failures: 1, route: '/rare' })
  assert.equal(failingBecause(before, after), undefined)
})

test('the share of failed calls says of which calls it is', () => {
  const after = windowOf({ calls: 683, route: '/new' }, { calls: 200, failures: 20 })
  assert.equal(
    failingBecause(windowOf({ calls: 600 }), after),
    'more calls fail: 20 of 200 (10.0 %) after 0.0 %, of the routes that were called in both measurements',
  )
})
