import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { WebSocket } from 'ws'
import { Connection } from '../../support/http/raw-connection.ts'
import { copyProgram, hostPrograms, type Program } from './support/hosted-app.ts'

const otherProgram = copyProgram('stopping')

function stopping(handler: string): Record<string, Program> {
  return {
    one: { program: 'stopping', env: { NAME: 'one', HANDLER: handler } },
    two: { program: otherProgram, env: { NAME: 'two' } },
  }
}

suite('a program that is stopped', { concurrency: 2 }, () => {
  test('answers requests in flight, and does not affect other programs', async () => {
    await using app = await hostPrograms(stopping('none'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    const { states } = await app.stop(5_000, 'one')
    assert.deepEqual(await answer, { slow: true })
    assert.deepEqual(states, ['stopped', 'serving'])
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.lines('one'), ['one began', 'one closed', 'one exit 0'])
  })

  test('closes connections that are idle and quiet', async () => {
    await using app = await hostPrograms(stopping('none'))
    using used = await Connection.open(app.portOf('one'))
    used.send('/')
    await used.answer()
    using unused = await Connection.open(app.portOf('one'))
    await app.json('one')
    await app.stop(60_000, 'one')
    assert.equal(await used.answer(), undefined)
    assert.equal(await unused.answer(), undefined)
  })

  for (const way of ['accept', 'connect'] as const)
    test(`answers one more request on an idle connection before its handlers run (${way})`, async () => {
      await using app = await hostPrograms(stopping('closes'))
      using kept = await Connection.open(app.portOf('one', way))
      kept.send('/')
      await kept.answer()
      const stopped = app.stop(60_000, 'one', 5_000)
      await app.caughtUp()
      kept.send('/slow')
      assert.equal((await kept.answer())?.status, 200)
      assert.equal(await kept.answer(), undefined)
      await stopped
      assert.deepEqual(app.lines('one'), ['one began', 'one closed', 'one close said nothing', 'one exit 0'])
    })

  test('accepts one more request after a response that had begun before the stop', async () => {
    await using app = await hostPrograms(stopping('closes'))
    using kept = await Connection.open(app.portOf('one'))
    kept.send('/parts')
    await app.line(/^one began$/)
    const stopped = app.stop(60_000, 'one', 200)
    assert.equal((await kept.answer())?.status, 200)
    kept.send('/')
    assert.equal((await kept.answer())?.status, 200)
    assert.equal(await kept.answer(), undefined)
    await stopped
  })

  test('fails requests that outlast the timeout, without a fault of the thread', async () => {
    await using app = await hostPrograms(stopping('none'))
    const answer = app.json('one', '/never')
    const cut = assert.rejects(answer)
    await app.line(/^one began$/)
    await app.stop(100)
    await cut
    assert.deepEqual(app.faults, [])
  })

  test('serves upgraded connections in its own scope, and destroys them after the timeout', async () => {
    await using app = await hostPrograms({ one: { program: 'websocket', env: { NAME: 'one' } }, two: 'koa' })
    const socket = new WebSocket(`ws://127.0.0.1:${app.portOf('one')}`)
    await once(socket, 'open')
    socket.send('x')
    const [data] = (await once(socket, 'message')) as [Buffer]
    assert.equal(data.toString(), 'one got x')
    const closed = once(socket, 'close')
    await app.stop(100)
    await closed
  })

  test('has its connections counted as closed', async () => {
    await using app = await hostPrograms(stopping('none'))
    await app.json('one')
    await app.json('two')
    assert.equal((await app.stop()).closed, 2)
  })
})

suite('when a program is stopped, its', { concurrency: 2 }, () => {
  test('SIGTERM handler runs, and may exit without ending other programs', async () => {
    await using app = await hostPrograms(stopping('exits'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one got SIGTERM 15', 'one exit 0', 'one closed'])
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.faults, [])
  })

  test('call of exit is the last that it prints, also if it is caught', async () => {
    await using app = await hostPrograms(stopping('catches'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one closed', 'one exit 0'])
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.faults, [])
  })

  test('exit handlers all run and print, also if one calls exit', async () => {
    await using app = await hostPrograms(stopping('nested'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one exit 0', 'one exit again 0', 'one closed'])
  })

  test('call of exit does not fail requests in flight', async () => {
    await using app = await hostPrograms(stopping('exits'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    await app.stop()
    assert.deepEqual(await answer, { slow: true })
  })

  test('handler may close its server itself', async () => {
    await using app = await hostPrograms(stopping('closes'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    await app.stop()
    assert.deepEqual(await answer, { slow: true })
    assert.deepEqual(app.lines('one'), ['one began', 'one closed', 'one close said nothing', 'one exit 0'])
  })

  test('SIGINT handler runs if there is none for SIGTERM', async () => {
    await using app = await hostPrograms(stopping('interrupt'))
    // The remaining time of a stop need not be a whole number of milliseconds.
    await app.stop(500.5)
    assert.equal(app.lines('one')[0], 'one got SIGINT')
  })

  for (const handler of ['async', 'hidden']) {
    test(`cleanup is awaited (${handler})`, async () => {
      await using app = await hostPrograms(stopping(handler))
      await app.stop()
      assert.deepEqual(app.lines('one'), ['one closed', 'one cleaned up', 'one exit 0'])
    })
  }

  test('error in a handler is logged with its stack, and ends only this program', async () => {
    await using app = await hostPrograms(stopping('breaks'))
    await app.stop(5_000, 'one')
    const [line] = app.lines('one', 'busbar')
    assert.match(line!, /service 'one'.*broke while stopping[^]*stopping\/index\.mjs/)
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.faults, [])
  })

  test('signal to itself ends the program, not the process', async () => {
    await using app = await hostPrograms(stopping('again'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one kills itself', 'one exit 143', 'one closed'])
    assert.deepEqual(await app.json('two'), {})
  })
})
