import { notEqual } from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { unless } from '../../support/mesh/accelerators.ts'
import { send } from '../../support/mesh/test-call.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

test('a response states the real date, whatever clock the program has', { skip: unless('exchange') }, async () => {
  await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
  // The date is made once a second.
  await sleep(1000)
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 })
  try {
    const { headers } = await send(endpoint)
    notEqual(headers['date'], 'Thu, 01 Jan 1970 00:00:00 GMT')
  } finally {
    mock.timers.reset()
  }
})
