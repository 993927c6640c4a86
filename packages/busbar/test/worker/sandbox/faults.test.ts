import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { copyProgram, hostPrograms, type HostedApp, type Program } from './support/hosted-app.ts'

const otherFolder = copyProgram('faulty')

function two(handles: string): Record<string, Program> {
  return {
    one: { program: 'faulty', env: { NAME: 'one', HANDLES: handles } },
    two: { program: otherFolder, env: { NAME: 'two' } },
  }
}

/** Sends a request that ends the thread, so that it may stay unanswered. */
async function provoke(app: HostedApp, service: string, path: string): Promise<number> {
  await Promise.allSettled([app.get(service, path)])
  return await app.exit
}

suite('a serving program', { concurrency: 2 }, () => {
  test('that throws is reported by name, and ends the thread with 1', async () => {
    await using app = await hostPrograms(two(''))
    assert.equal(await provoke(app, 'two', '/throw'), 1)
    const [fault] = app.faults
    assert.equal(app.faults.length, 1)
    assert.deepEqual([fault?.service, fault?.reason, fault?.error.code], ['two', 'exception', 'PROGRAM_THREW'])
    assert.match(fault!.error.message, /service 'two' threw: Error: on purpose/)
    assert.ok(fault!.error.stack!.includes(join(otherFolder, 'index.mjs')))
  })

  test('that throws while another program calls it over a byte stream is reported, not its caller', async () => {
    await using app = await hostPrograms(two('exceptions'))
    assert.equal(await provoke(app, 'one', '/ask'), 1)
    assert.equal(app.faults[0]?.service, 'two')
  })

  test('that leaves a rejection unhandled is reported with that reason', async () => {
    await using app = await hostPrograms(two(''))
    assert.equal(await provoke(app, 'one', '/reject'), 1)
    assert.deepEqual([app.faults[0]?.service, app.faults[0]?.reason], ['one', 'rejection'])
  })

  test('that exits is reported with its stack, and ends the thread with its code', async () => {
    await using app = await hostPrograms(two(''))
    assert.equal(await provoke(app, 'one', '/exit'), 5)
    const [fault] = app.faults
    assert.deepEqual([fault?.service, fault?.reason, fault?.error.code], ['one', 'exit', 'PROGRAM_EXITED'])
    assert.match(fault!.error.stack!, /faulty\/index\.mjs/)
  })

  test('that exits without a code exits with process.exitCode', async () => {
    await using app = await hostPrograms(two(''))
    assert.equal(await provoke(app, 'one', '/exit-code'), 6)
  })

  test('has its exit handlers run once in its own scope when another program ends the thread', async () => {
    await using app = await hostPrograms(two(''))
    await provoke(app, 'one', '/exit')
    assert.deepEqual(app.lines('one'), ['exit handler of one: 5'])
    assert.deepEqual(app.lines('two'), ['exit handler of two: 5'])
  })
})

suite("a program's own handler", { concurrency: 2 }, () => {
  test('of uncaught exceptions handles its own, and the thread goes on', async () => {
    await using app = await hostPrograms(two('exceptions'))
    await app.get('one', '/throw')
    await app.line(/handled on purpose from uncaughtException/)
    await app.get('one', '/reject')
    await app.line(/handled on purpose from unhandledRejection/)
    assert.deepEqual(app.faults, [])
  })

  test('handles errors that it throws while it reads the response of another program', async () => {
    await using app = await hostPrograms(two('exceptions'))
    await app.get('one', '/ask-badly')
    await app.line(/handled on purpose from uncaughtException/)
    assert.deepEqual(app.faults, [])
  })

  test('does not handle the exceptions of another program', async () => {
    await using app = await hostPrograms(two('exceptions'))
    assert.equal(await provoke(app, 'two', '/throw'), 1)
    assert.equal(app.faults[0]?.service, 'two')
    assert.deepEqual(app.lines('one'), ['exit handler of one: 1'])
  })

  test('of rejections handles these only: exceptions are faults', async () => {
    await using app = await hostPrograms(two('rejections'))
    await app.get('one', '/reject')
    await app.line(/^handled on purpose$/)
    assert.equal(await provoke(app, 'one', '/throw'), 1)
  })

  test('that throws is the fault itself', async () => {
    await using app = await hostPrograms(two('badly'))
    assert.equal(await provoke(app, 'one', '/throw'), 1)
    assert.match(app.faults[0]!.error.message, /handler broke/)
  })

  test('that exits ends the thread with its code', async () => {
    await using app = await hostPrograms(two('exiting'))
    assert.equal(await provoke(app, 'one', '/throw'), 7)
    assert.deepEqual([app.faults[0]?.service, app.faults[0]?.reason], ['one', 'exit'])
  })

  test('is visible only to the program that registered it', async () => {
    await using app = await hostPrograms(two('exceptions'))
    assert.deepEqual(await app.json('one', '/listeners'), { listeners: 1 })
    assert.deepEqual(await app.json('two', '/listeners'), { listeners: 0 })
  })
})
