import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { closeAtExpiry } from '../../src/mesh/hosts/export/exported-links.ts'

const day = 86_400_000

/** How often a link was closed whose certificate expires after so many days. */
function linkFor(days: number): { closed: number } {
  const seen = { closed: 0 }
  const gone = Promise.withResolvers<void>()
  const link = {
    closed: gone.promise,
    close() {
      seen.closed++
      gone.resolve()
    },
  }
  const certificate = { validTo: new Date(Date.now() + days * day).toUTCString() }
  closeAtExpiry(link, certificate, 'shop')
  return seen
}

test('a link ends when the certificate of its caller expires, however long that takes', () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  try {
    const links = [1, 30, 400].map(linkFor)
    const closedAfter = (days: number): number[] => {
      for (let minutes = 0; minutes < days * 1440; minutes++) mock.timers.tick(60_000)
      return links.map(({ closed }) => closed)
    }
    assert.deepEqual(closedAfter(0.9), [0, 0, 0])
    assert.deepEqual(closedAfter(0.2), [1, 0, 0])
    assert.deepEqual(closedAfter(28), [1, 0, 0])
    assert.deepEqual(closedAfter(2), [1, 1, 0])
    assert.deepEqual(closedAfter(370), [1, 1, 1])
  } finally {
    mock.timers.reset()
  }
})

test('a link ends when the clock is set beyond the date at which the certificate of its caller expires', () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  try {
    const link = linkFor(30)
    mock.timers.setTime(31 * day)
    assert.equal(link.closed, 0)
    mock.timers.tick(60_000)
    assert.equal(link.closed, 1)
  } finally {
    mock.timers.reset()
  }
})
