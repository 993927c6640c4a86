import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { BegunCalls } from '../../../src/shared/calls/begun-calls.ts'
import { lostCallTimeout } from '../../../src/mesh/links/limits/limits.ts'
import { ask, Callee, echo, hang, CallRecorder, head } from '../../support/mesh/links.ts'
import { shop, over, Worker, spec, calling, folder, turns, threadLink } from '../../support/mesh/peer-workers.ts'

describe('peers', () => {
  it('that end unexpectedly fail the calls in flight, and get no more', async () => {
    const callee = new Callee()
    await using pair = calling(callee)
    const { one } = pair
    const recorder = new CallRecorder()
    one.shop!.open(head, 1, true, recorder)
    await callee.call()
    const { closed } = one.shop!
    pair.cut()
    assert.deepEqual(await closed, {
      code: 'LINK_LOST',
      message: 'worker 2 has closed the connection unexpectedly, or is cut off',
    })
    assert.equal(one.router.find('shop'), undefined)
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'worker 2 was killed' })
    const error = await recorder.over
    assert.equal(error?.code, 'WORKER_DIED')
    assert.equal(error.message, 'shop.list, which worker 2 was answering: worker 2 was killed')
  })

  it('whose death is known before their link ends fail the calls in flight as soon as it ends', async () => {
    const callee = new Callee()
    await using pair = calling(callee)
    const { one } = pair
    const [answered, recorder] = [new CallRecorder(), new CallRecorder()]
    const link = one.shop!
    link.open(head, 1, true, answered)
    link.open(head, 2, true, recorder)
    const { channel } = await callee.call()
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'worker 2 was killed' })
    channel.reply('done', true)
    assert.equal(await answered.over, undefined, 'what it had said before is recorder')
    pair.cut()
    const error = await recorder.over
    assert.equal(error?.message, 'shop.list, which worker 2 was answering: worker 2 was killed')
  })

  it('that die leave the calls untouched that they had not begun', async () => {
    await using one = new Worker(1)
    const { one: here, other: there } = threadLink()
    one.peers.join(spec(2, here, [shop]))
    const recorders = [1, 2, 3].map((value) => {
      const recorder = new CallRecorder()
      one.shop!.open(head, value, true, recorder)
      return recorder
    })
    new BegunCalls(there.begun).begin(2)
    there.port.close()
    const died = { code: 'WORKER_DIED', message: 'worker 2 was killed' } as const
    one.peers.leave(2, died)
    const errors = await Promise.all(recorders.map(({ over: ends }) => ends))
    assert.deepEqual(
      errors.map((error) => error?.message),
      [
        'shop.list, which worker 2 was answering: worker 2 was killed',
        'shop.list, which worker 2 was answering: worker 2 was killed',
        'worker 2 was killed',
      ],
    )
    assert.deepEqual(
      recorders.map(({ notStarted }) => notStarted),
      [false, false, true],
    )
  })

  it('both report that their link was lost, and can be linked again', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    const first = threadLink()
    one.peers.join({ ...spec(2, first.one, [shop]), link: 7 })
    other.peers.join({ ...spec(1, first.other), link: 7 })
    const before = one.shop!
    assert.equal(await ask(before, 1), 1)
    first.one.port.close()
    await before.closed
    while (other.lost.length === 0) await turns()
    assert.deepEqual([one.lost, other.lost], [[7], [7]])
    const second = threadLink()
    one.peers.join({ ...spec(2, second.one, [shop]), link: 8 })
    other.peers.join({ ...spec(1, second.other), link: 8 })
    assert.equal(await ask(one.shop!, 2), 2)
  })

  it('whose link was lost fail its calls when they are linked again, and say that the peer is alive', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2, hang)
    const first = threadLink()
    one.peers.join(spec(2, first.one, [shop]))
    other.peers.join(spec(1, first.other))
    const recorder = new CallRecorder()
    const before = one.shop!
    before.open(head, 1, true, recorder)
    first.one.port.close()
    await before.closed
    assert.equal(await Promise.race([recorder.over, turns()]), 'not yet')
    const second = threadLink()
    one.peers.join(spec(2, second.one, [shop]))
    other.peers.join(spec(1, second.other))
    const error = await recorder.over
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(
      error.message,
      /: worker 2 has closed the connection unexpectedly, or is cut off; it is alive and has a new link$/,
    )
  })

  it('whose link was lost fail its calls in any case, even if nothing is known of the peer', async (t) => {
    await using one = new Worker(1)
    const ends = threadLink()
    one.peers.join(spec(2, ends.one, [shop]))
    const recorder = new CallRecorder()
    const { closed } = one.shop!
    one.shop!.open(head, 1, true, recorder)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    ends.other.port.close()
    await closed
    t.mock.timers.tick(lostCallTimeout)
    const error = await recorder.over
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /cut off; it is unknown whether the worker has died$/)
  })

  it('can be linked again before one has seen the old link break, and do not report the old one', async () => {
    await using pair = await dialPair()
    const { dialled, dialling, path } = pair
    for (const link of [1, 2]) {
      dialling.peers.join({ ...spec(1, { kind: 'unix', path }, [shop]), link })
      const asked = ask(dialling.shop!, link)
      if (link === 2) assert.equal(await Promise.race([asked, turns()]), 'not yet')
      dialled.peers.join({ ...spec(2, { kind: 'accept' }), link })
      assert.equal(await asked, link)
    }
    assert.deepEqual(dialling.lost, [])
  })

  it('that dial late, for a link that was given up and for the next one, have the next one', async () => {
    await using pair = await dialPair()
    const { dialled, dialling, path } = pair
    for (const link of [1, 2]) dialled.peers.join({ ...spec(2, { kind: 'accept' }, [shop]), link })
    for (const link of [1, 2]) dialling.peers.join({ ...spec(1, { kind: 'unix', path }, [shop]), link })
    assert.deepEqual(await Promise.all([ask(dialling.shop!, 1), ask(dialled.shop!, 2)]), [1, 2])
    await turns()
    assert.deepEqual([dialling.lost, dialled.lost], [[], []])
    dialled.peers.join({ ...spec(2, { kind: 'accept' }, [shop]), link: 3 })
    dialling.peers.join({ ...spec(1, { kind: 'unix', path }, [shop]), link: 3 })
    assert.equal(await ask(dialling.shop!, 3), 3)
  })

  it('do not report a lost link when they stop, or know that the peer has died', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    await using third = new Worker(3)
    for (const [worker, to] of [
      [one, 2],
      [one, 3],
    ] as const) {
      const ends = threadLink()
      worker.peers.join(spec(to, ends.one, [shop]))
      const far = to === 2 ? other : third
      far.peers.join(spec(1, ends.other, [shop]))
      assert.equal(await ask(far.shop!, to), to)
    }
    const [left, ended] = [other.shop!.closed, third.shop!.closed]
    other.peers.leave(1, { code: 'WORKER_DIED', message: 'it has ended' })
    other.peers.leave(1, { code: 'WORKER_DIED', message: 'it has ended' })
    await one.peers.close(over)
    await Promise.all([left, ended])
    await turns()
    assert.deepEqual([other.lost, third.lost], [[], []])
  })
})

/** Two workers, of which one may dial the other at `path`. */
async function dialPair() {
  await using opened = new AsyncDisposableStack()
  const path = join(opened.use(await folder()).path, 'link')
  const dialled = opened.use(new Worker(1, echo, path))
  await dialled.peers.listen()
  const dialling = opened.use(new Worker(2))
  const workers = opened.move()
  return { dialled, dialling, path, [Symbol.asyncDispose]: () => workers.disposeAsync() }
}
