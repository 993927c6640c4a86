import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { timeLeft } from '../../../src/supervisor/workers/succession.ts'

describe('the time of a stop', () => {
  it('includes the time that callers need to leave', async () => {
    const left = await timeLeft(sleep(50), 60_000)
    assert.ok(left < 60_000 && left > 30_000)
  })

  it('leaves a quarter for the program, however long its callers stay', async () => {
    assert.equal(await timeLeft(sleep(50), 8), 2)
  })
})
