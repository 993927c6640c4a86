import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { reportServing, type StartMessage } from '../../src/cli/background/process-messages.ts'

test('the outer process learns how long a stop may take, with its delay', () => {
  const before: unknown = Reflect.get(process, 'send')
  const sent: StartMessage[] = []
  process.send = (message: StartMessage) => sent.push(message) > 0
  try {
    reportServing(
      { stopTimeout: 8000, stopDelay: 30_000, stableAfter: 5000 } as App,
      { args: [], folder: '/', isDetached: false },
      { addresses: [], entrance: 'portable', page: undefined },
    )
  } finally {
    Reflect.set(process, 'send', before)
  }
  assert.partialDeepStrictEqual(sent, [{ type: 'serving', stopTimeout: 38_000, stableAfter: 5000 }])
})
