import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RepeatedLines } from '../../src/shared/output/repeated-lines.ts'

test('what a line quotes makes no other kind, as a random subject that NATS refuses', () => {
  const logged: string[] = []
  const lines = new RepeatedLines((_, line) => logged.push(line))
  const add = (consumer: string, inbox: string): void =>
    lines.add('warn', `${consumer} cannot be consumed: Permissions Violation for Subscription to "busbar.m.${inbox}.*"`)
  add('work', 'a1')
  add('work', 'b2')
  add('other', 'c3')
  assert.deepEqual(
    logged.map((line) => line.split(' ')[0]),
    ['work', 'other'],
  )
  lines.close()
  assert.equal(logged.length, 3)
  assert.match(logged[2]!, /^work .*"busbar\.m\.b2\.\*" \(1 such lines/)
})
