import { test } from 'node:test'

test('rejects when it has ended', () => {
  setImmediate(() => Promise.reject(new Error('nobody waits for this')))
})
