import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { another, hosting, type HostedApp, type Program } from './support/app.ts'

const faultyToo = another('faulty')

function two(handles: string): Record<string, Program> {
  return {
    one: { program: 'faulty', env: { NAME: 'one', HANDLES: handles } },
    two: { program: faultyToo, env: { NAME: 'two' } },
  }
}

/** Asks for something that ends the thread, so that the answer may not come any more. */
async function provoke(app: HostedApp, service: string, path: string): Promise<number> {
  await Promise.allSettled([app.get(service, path)])
  return await app.exit
}

suite('a serving program', { concurrency: 2 }, () => {
  test('that throws is reported by name, and ends the thread with 1', async () => {
    await using app = await hosting(two(''))
    assert.equal(await provoke(app, 'two', '/throw'), 1)
    const [fault] = app.faults
    assert.equal(app.faults.length, 1)
    assert.deepEqual([fault?.service, fault?.reason, fault?.error.code], ['two', 'exception', 'PROGRAM_THREW'])
    assert.match(fault!.error.message, /service 'two' threw: Error: on purpose/)
    assert.ok(fault!.error.stack!.includes(join(faultyToo, 'index.mjs')))
  })

  test('that throws while a neighbour calls it over a byte stream is the one to be reported', async () => {
    await using app = await hosting(two('exceptions'))
    assert.equal(await provoke(app, 'one', '/ask'), 1)
    assert.equal(app.faults[0]?.service, 'two')
  })

  test('that leaves a rejection unhandled is reported so', async () => {
    await using app = await hosting(two(''))
    assert.equal(await provoke(app, 'one', '/reject'), 1)
    assert.deepEqual([app.faults[0]?.service, app.faults[0]?.reason], ['one', 'rejection'])
  })

  test('that exits is reported with its stack, and ends the thread with its code', async () => {
    await using app = await hosting(two(''))
    assert.equal(await provoke(app, 'one', '/exit'), 5)
    const [fault] = app.faults
    assert.deepEqual([fault?.service, fault?.reason, fault?.error.code], ['one', 'exit', 'PROGRAM_EXITED'])
    assert.match(fault!.error.stack!, /faulty\/index\.mjs/)
  })

  test('that exits without a code exits with process.exitCode', async () => {
    await using app = await hosting(two(''))
    assert.equal(await provoke(app, 'one', '/exit-code'), 6)
  })

  test('has its exit handlers run when another one ends the thread, each once and as itself', async () => {
    await using app = await hosting(two(''))
    await provoke(app, 'one', '/exit')
    assert.deepEqual(app.lines('one'), ['exit handler of one: 5'])
    assert.deepEqual(app.lines('two'), ['exit handler of two: 5'])
  })
})

suite("a program's own handler", { concurrency: 2 }, () => {
  test('of uncaught exceptions rules over its own, and the thread lives on', async () => {
    await using app = await hosting(two('exceptions'))
    await app.get('one', '/throw')
    await app.line(/handled on purpose from uncaughtException/)
    await app.get('one', '/reject')
    await app.line(/handled on purpose from unhandledRejection/)
    assert.deepEqual(app.faults, [])
  })

  test('rules over what it throws while it reads the answer of a neighbour', async () => {
    await using app = await hosting(two('exceptions'))
    await app.get('one', '/ask-badly')
    await app.line(/handled on purpose from uncaughtException/)
    assert.deepEqual(app.faults, [])
  })

  test("does not rule over its neighbour's", async () => {
    await using app = await hosting(two('exceptions'))
    assert.equal(await provoke(app, 'two', '/throw'), 1)
    assert.equal(app.faults[0]?.service, 'two')
    assert.deepEqual(app.lines('one'), ['exit handler of one: 1'])
  })

  test('of rejections takes them, and leaves exceptions to be faults', async () => {
    await using app = await hosting(two('rejections'))
    await app.get('one', '/reject')
    await app.line(/^handled on purpose$/)
    assert.equal(await provoke(app, 'one', '/throw'), 1)
  })

  test('that throws is the fault itself', async () => {
    await using app = await hosting(two('badly'))
    assert.equal(await provoke(app, 'one', '/throw'), 1)
    assert.match(app.faults[0]!.error.message, /handler broke/)
  })

  test('that exits ends the thread with its code', async () => {
    await using app = await hosting(two('exiting'))
    assert.equal(await provoke(app, 'one', '/throw'), 7)
    assert.deepEqual([app.faults[0]?.service, app.faults[0]?.reason], ['one', 'exit'])
  })

  test('is seen by the program that registered it, and by no other', async () => {
    await using app = await hosting(two('exceptions'))
    assert.deepEqual(await app.json('one', '/listeners'), { listeners: 1 })
    assert.deepEqual(await app.json('two', '/listeners'), { listeners: 0 })
  })
})
