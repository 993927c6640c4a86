import { test } from 'node:test'

test('leaves a timer running', () => {
  setInterval(() => {}, 1000)
})
