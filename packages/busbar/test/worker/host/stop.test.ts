import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { WebSocket } from 'ws'
import { Connection } from '../../support/connection.ts'
import { another, hosting, type Program } from './support/app.ts'

const stoppingToo = another('stopping')

function stopping(handler: string): Record<string, Program> {
  return {
    one: { program: 'stopping', env: { NAME: 'one', HANDLER: handler } },
    two: { program: stoppingToo, env: { NAME: 'two' } },
  }
}

suite('a program that is stopped', { concurrency: 2 }, () => {
  test('finishes what is in flight, and takes nobody along', async () => {
    await using app = await hosting(stopping('none'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    const { states } = await app.stop(5_000, 'one')
    assert.deepEqual(await answer, { slow: true })
    assert.deepEqual(states, ['stopped', 'serving'])
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.lines('one'), ['one began', 'one closed', 'one exit 0'])
  })

  test('closes connections that are idle and quiet', async () => {
    await using app = await hosting(stopping('none'))
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
    test(`answers the next request on a connection that was idle before its handlers run (${way})`, async () => {
      await using app = await hosting(stopping('closes'))
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

  test('takes one more request after an answer that had begun before', async () => {
    await using app = await hosting(stopping('closes'))
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

  test('is cut off when its time is over, and says so to nobody but its callers', async () => {
    await using app = await hosting(stopping('none'))
    const answer = app.json('one', '/never')
    const cut = assert.rejects(answer)
    await app.line(/^one began$/)
    await app.stop(100)
    await cut
    assert.deepEqual(app.faults, [])
  })

  test('ends its upgraded connections when its time is over, which ran as the program did', async () => {
    await using app = await hosting({ one: { program: 'websocket', env: { NAME: 'one' } }, two: 'koa' })
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
    await using app = await hosting(stopping('none'))
    await app.json('one')
    await app.json('two')
    assert.equal((await app.stop()).closed, 2)
  })
})

suite('when a program is stopped, its own', { concurrency: 2 }, () => {
  test('SIGTERM handler runs, and may exit without ending its neighbours', async () => {
    await using app = await hosting(stopping('exits'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one got SIGTERM 15', 'one exit 0', 'one closed'])
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.faults, [])
  })

  test('exit does not cut off what is in flight', async () => {
    await using app = await hosting(stopping('exits'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    await app.stop()
    assert.deepEqual(await answer, { slow: true })
  })

  test('close() finds its server open', async () => {
    await using app = await hosting(stopping('closes'))
    const answer = app.json('one', '/slow')
    await app.line(/^one began$/)
    await app.stop()
    assert.deepEqual(await answer, { slow: true })
    assert.deepEqual(app.lines('one'), ['one began', 'one closed', 'one close said nothing', 'one exit 0'])
  })

  test('SIGINT handler runs where there is none for SIGTERM', async () => {
    await using app = await hosting(stopping('interrupt'))
    // What is left of the time for a stop is no whole number of milliseconds.
    await app.stop(500.5)
    assert.equal(app.lines('one')[0], 'one got SIGINT')
  })

  for (const handler of ['async', 'hidden']) {
    test(`cleaning up is waited for (${handler})`, async () => {
      await using app = await hosting(stopping(handler))
      await app.stop()
      assert.deepEqual(app.lines('one'), ['one closed', 'one cleaned up', 'one exit 0'])
    })
  }

  test('handler that throws is logged with its stack, and ends this program only', async () => {
    await using app = await hosting(stopping('breaks'))
    await app.stop(5_000, 'one')
    const [line] = app.lines('one', 'busbar')
    assert.match(line!, /service 'one'.*broke while stopping[^]*stopping\/index\.mjs/)
    assert.deepEqual(await app.json('two'), {})
    assert.deepEqual(app.faults, [])
  })

  test('signal to itself is its end, and no signal of the process', async () => {
    await using app = await hosting(stopping('again'))
    await app.stop(5_000, 'one')
    assert.deepEqual(app.lines('one'), ['one kills itself', 'one exit 143', 'one closed'])
    assert.deepEqual(await app.json('two'), {})
  })
})
