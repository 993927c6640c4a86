import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { maxInTransit } from '../../../src/mesh/links/limits/limits.ts'
import { ask, Callee, echo, CallRecorder, head } from '../../support/mesh/links.ts'
import { shop, over, Worker, spec, calling, folder, turns, threadLink } from '../../support/mesh/peer-workers.ts'

describe('peers', () => {
  it('in two threads are linked by ports, in both directions', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    const ends = threadLink()
    one.peers.join(spec(2, ends.one, [shop]))
    other.peers.join(spec(1, ends.other))
    assert.equal(await ask(one.shop!, 7), 7)
    assert.equal(other.shop, undefined)
    other.peers.serves(1, shop)
    assert.equal(await ask(other.shop!, 8), 8)
  })

  it('may call each other before one has dialled, from both sides, in either order', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    for (const dialsFirst of [true, false]) {
      await using dialling = new Worker(2)
      await using dialled = new Worker(1, echo, path)
      await dialled.peers.listen()
      const dial = (): void => dialling.peers.join(spec(1, { kind: 'unix', path }, [shop]))
      const expect = (): void => dialled.peers.join(spec(2, { kind: 'accept' }, [shop]))
      if (dialsFirst) {
        dial()
        assert.equal(await Promise.race([ask(dialling.shop!, 'before'), turns()]), 'not yet')
        expect()
      } else {
        expect()
        dial()
      }
      assert.deepEqual(await Promise.all([ask(dialling.shop!, 1), ask(dialled.shop!, 2)]), [1, 2])
    }
  })

  it('get all calls that were made before they were linked', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    await using dialling = new Worker(2)
    await using dialled = new Worker(1, echo, path)
    dialled.peers.join(spec(2, { kind: 'accept' }, [shop]))
    const texts = Array.from({ length: 12 }, (_, at) => String(at).repeat(500_000))
    const answers = Promise.all(texts.map((text) => ask(dialled.shop!, text)))
    await dialled.peers.listen()
    dialling.peers.join(spec(1, { kind: 'unix', path }))
    assert.deepEqual(await answers, texts)
  })

  it('that drain get no new calls, finish theirs and may make calls', async () => {
    const callee = new Callee()
    await using one = new Worker(1)
    await using other = new Worker(2, callee.answer)
    const ends = threadLink()
    one.peers.join(spec(2, ends.one, [shop]))
    other.peers.join(spec(1, ends.other, [shop]))
    const recorder = new CallRecorder()
    one.shop!.open(head, 1, true, recorder)
    const { channel } = await callee.call()
    one.peers.leave(2, { code: 'SERVICE_UNAVAILABLE', message: 'it drains' })
    assert.equal(one.router.find('shop'), undefined)
    assert.equal(await ask(other.shop!, 2), 2)
    channel.reply('done', true)
    assert.equal(await recorder.over, undefined)
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'it has ended' })
    await other.peers.close(over)
  })

  it('that stop have given their last answers, though their end is reported before these arrive', async () => {
    const callee = new Callee()
    await using one = new Worker(1)
    await using other = new Worker(2, callee.answer)
    const ends = threadLink()
    one.peers.join(spec(2, ends.one, [shop]))
    other.peers.join(spec(1, ends.other))
    const recorder = new CallRecorder()
    one.shop!.open(head, 1, true, recorder)
    const { channel } = await callee.call()
    const stopped = { code: 'SERVICE_UNAVAILABLE', message: 'it was stopped' } as const
    one.peers.leave(2, stopped)
    channel.reply('done', true)
    const closed = other.peers.close(stopped)
    one.peers.leave(2, stopped)
    await closed
    assert.equal(await recorder.over, undefined)
  })

  it('that leave are drained once they have read every call that was opened before', async () => {
    const callee = new Callee()
    await using one = new Worker(1)
    await using other = new Worker(2, callee.answer)
    const ends = threadLink()
    one.peers.join(spec(2, ends.one, [shop]))
    for (let at = 0; at < 3; at++) one.shop!.open(head, 'x'.repeat(maxInTransit / 2), true, new CallRecorder())
    one.peers.leave(2, { code: 'SERVICE_UNAVAILABLE', message: 'it is being replaced' })
    await delay(50)
    assert.deepEqual(one.left, [])
    other.peers.join(spec(1, ends.other))
    while (one.left.length === 0) await delay(1)
    assert.equal(callee.calls.length, 3)
    assert.deepEqual(one.left, [2])
  })

  it('that leave are drained at once without a link, and when their link ends', async () => {
    const callee = new Callee()
    await using pair = calling(callee)
    const { one, cut } = pair
    one.peers.leave(3, { code: 'SERVICE_UNAVAILABLE', message: 'nobody knows it' })
    assert.deepEqual(one.left, [3])
    const { closed } = one.shop!
    cut()
    one.peers.leave(2, { code: 'SERVICE_UNAVAILABLE', message: 'it is being replaced' })
    await closed
    assert.deepEqual(one.left, [3, 2])
  })

  it('that cannot be dialled fail the calls that waited', async () => {
    await using one = new Worker(1)
    one.peers.join(spec(2, { kind: 'unix', path: join(tmpdir(), 'busbar-nobody-here') }, [shop]))
    const asked = assert.rejects(ask(one.shop!, 1), { code: 'LINK_LOST' })
    const { code, message } = await one.shop!.closed
    assert.equal(code, 'LINK_LOST')
    assert.match(message, /cannot be dialled: no worker accepts links at/)
    await one.peers.close(over)
    await asked
  })

  it('of another app are refused, at both ends', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    await using ours = new Worker(1, echo, path)
    await ours.peers.listen()
    await using stranger = new Worker(2, echo, undefined, 'another secret')
    stranger.peers.join(spec(1, { kind: 'unix', path }, [shop]))
    const asked = assert.rejects(ask(stranger.shop!, 1), { code: 'LINK_LOST' })
    const { code, message } = await stranger.shop!.closed
    assert.equal(code, 'LINK_LOST')
    assert.match(message, /belongs to another app/)
    await stranger.peers.close(over)
    await asked
  })

  it('that are commands have an address and no link', async () => {
    await using one = new Worker(1)
    const pages = { name: 'pages', typed: false, index: 0 }
    one.peers.join({
      worker: 3,
      label: '9',
      services: [pages],
      row: undefined,
      link: 1,
      setup: { kind: 'tcp', host: '127.0.0.1', port: 4000 },
    })
    assert.partialDeepStrictEqual(one.router.find('pages'), {
      at: 'tcp',
      service: 'pages',
      index: 0,
      state: 'serving',
      typed: false,
      host: '127.0.0.1',
      port: 4000,
    })
    one.peers.leave(3, { code: 'WORKER_DIED', message: 'it has ended' })
    assert.equal(one.router.find('pages'), undefined)
  })
})
