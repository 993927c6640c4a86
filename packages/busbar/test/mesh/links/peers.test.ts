import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { fateTime, maxUnderWay } from '../../../src/mesh/links/limits.ts'
import type { Answerer } from '../../../src/mesh/links/link.ts'
import { Peers } from '../../../src/mesh/peers.ts'
import { Router } from '../../../src/mesh/router.ts'
import type { PeerWay } from '../../../src/shared/control.ts'
import { ask, Callee, echo, hang, Heard, head } from '../../support/links.ts'

const shop = { name: 'shop', typed: true, index: 0 } as const
const over = { code: 'SERVICE_UNAVAILABLE', message: 'the test is over' } as const

class Worker {
  readonly router = new Router(['shop', 'pages'])
  readonly peers: Peers
  /** The links that it lost, by number. */
  readonly lost: number[] = []
  /** Those that it has parted from. */
  readonly left: number[] = []

  constructor(worker: number, answer: Answerer = echo, listenAt?: string, secret = 's') {
    this.peers = new Peers({
      worker,
      secret,
      router: this.router,
      answer,
      listenAt,
      unlinked: ({ link }) => this.lost.push(link),
      left: (peer) => this.left.push(peer),
    })
  }

  /** How the mesh reaches the shop from here. */
  get shop() {
    const endpoint = this.router.find('shop')
    return endpoint?.at === 'link' ? endpoint.link : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peers.close(over)
  }
}

function spec(worker: number, way: PeerWay, services: readonly (typeof shop)[] = []) {
  return { worker, label: `${worker}`, services, row: undefined, link: worker, way }
}

/** A worker whose link leads to the callee in another thread, which ends without a word when it is cut. */
function calling(callee: Callee) {
  const workers = new AsyncDisposableStack()
  const one = workers.use(new Worker(1))
  const other = workers.use(new Worker(2, callee.answer))
  const { port1, port2 } = new MessageChannel()
  one.peers.join(spec(2, { by: 'thread', port: port1 }, [shop]))
  other.peers.join(spec(1, { by: 'thread', port: port2 }))
  return { one, cut: () => port2.close(), [Symbol.asyncDispose]: () => workers.disposeAsync() }
}

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'busbar-peers-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

describe('peers', () => {
  it('of two threads are linked by the port that each gets, both ways', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    const { port1, port2 } = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: port1 }, [shop]))
    other.peers.join(spec(1, { by: 'thread', port: port2 }))
    assert.equal(await ask(one.shop!, 7), 7)
    assert.equal(other.shop, undefined)
    other.peers.serves(1, shop)
    assert.equal(await ask(other.shop!, 8), 8)
  })

  it('of which one dials may call before the link is there, from both sides, in either order', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    for (const dialsFirst of [true, false]) {
      await using dialling = new Worker(2)
      await using dialled = new Worker(1, echo, path)
      await dialled.peers.listen()
      const dial = (): void => dialling.peers.join(spec(1, { by: 'unix', path }, [shop]))
      const expect = (): void => dialled.peers.join(spec(2, { by: 'accept' }, [shop]))
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

  it('that are called much before the link is there get all of it', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    await using dialling = new Worker(2)
    await using dialled = new Worker(1, echo, path)
    dialled.peers.join(spec(2, { by: 'accept' }, [shop]))
    const texts = Array.from({ length: 12 }, (_, at) => String(at).repeat(500_000))
    const answers = Promise.all(texts.map((text) => ask(dialled.shop!, text)))
    await dialled.peers.listen()
    dialling.peers.join(spec(1, { by: 'unix', path }))
    assert.deepEqual(await answers, texts)
  })

  it('that drain get no new calls, finish theirs and may call themselves', async () => {
    const callee = new Callee()
    await using one = new Worker(1)
    await using other = new Worker(2, callee.answer)
    const { port1, port2 } = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: port1 }, [shop]))
    other.peers.join(spec(1, { by: 'thread', port: port2 }, [shop]))
    const heard = new Heard()
    one.shop!.open(head, 1, true, heard)
    const { channel } = await callee.call()
    one.peers.leave(2, { code: 'SERVICE_UNAVAILABLE', message: 'it drains' })
    assert.equal(one.router.find('shop'), undefined)
    assert.equal(await ask(other.shop!, 2), 2)
    channel.reply('done', true)
    assert.equal(await heard.over, undefined)
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'it has ended' })
    await other.peers.close(over)
  })

  it('that leave are parted from when they have read every call that was opened before', async () => {
    const callee = new Callee()
    await using one = new Worker(1)
    await using other = new Worker(2, callee.answer)
    const { port1, port2 } = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: port1 }, [shop]))
    for (let at = 0; at < 3; at++) one.shop!.open(head, 'x'.repeat(maxUnderWay / 2), true, new Heard())
    one.peers.leave(2, { code: 'SERVICE_UNAVAILABLE', message: 'it is being replaced' })
    await delay(50)
    assert.deepEqual(one.left, [])
    other.peers.join(spec(1, { by: 'thread', port: port2 }))
    while (one.left.length === 0) await delay(1)
    assert.equal(callee.calls.length, 3)
    assert.deepEqual(one.left, [2])
  })

  it('that leave are parted from at once where there is no link, and when it ends', async () => {
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

  it('that end without a word fail what is in flight there, and are called no more', async () => {
    const callee = new Callee()
    await using pair = calling(callee)
    const { one } = pair
    const heard = new Heard()
    one.shop!.open(head, 1, true, heard)
    await callee.call()
    const { closed } = one.shop!
    pair.cut()
    assert.deepEqual(await closed, { code: 'LINK_LOST', message: 'worker 2 is gone without a word, or cut off' })
    assert.equal(one.router.find('shop'), undefined)
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'worker 2 was killed' })
    const error = await heard.over
    assert.equal(error?.code, 'WORKER_DIED')
    assert.equal(error.message, 'shop.list, which worker 2 was answering: worker 2 was killed')
  })

  it('that are known to have died before their link ends fail what is in flight as soon as it does', async () => {
    const callee = new Callee()
    await using pair = calling(callee)
    const { one } = pair
    const [answered, heard] = [new Heard(), new Heard()]
    const link = one.shop!
    link.open(head, 1, true, answered)
    link.open(head, 2, true, heard)
    const { channel } = await callee.call()
    one.peers.leave(2, { code: 'WORKER_DIED', message: 'worker 2 was killed' })
    channel.reply('done', true)
    assert.equal(await answered.over, undefined, 'what it had said before is heard')
    pair.cut()
    const error = await heard.over
    assert.equal(error?.message, 'shop.list, which worker 2 was answering: worker 2 was killed')
  })

  it('that cannot be dialled fail the calls that waited', async () => {
    await using one = new Worker(1)
    one.peers.join(spec(2, { by: 'unix', path: join(tmpdir(), 'busbar-nobody-here') }, [shop]))
    const asked = assert.rejects(ask(one.shop!, 1), { code: over.code })
    const { code, message } = await one.shop!.closed
    assert.equal(code, 'LINK_LOST')
    assert.match(message, /cannot be dialled: nobody takes links at/)
    await one.peers.close(over)
    await asked
  })

  it('of another app are refused, at both ends', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    await using ours = new Worker(1, echo, path)
    await ours.peers.listen()
    await using stranger = new Worker(2, echo, undefined, 'another secret')
    stranger.peers.join(spec(1, { by: 'unix', path }, [shop]))
    const asked = assert.rejects(ask(stranger.shop!, 1), { code: over.code })
    const { code, message } = await stranger.shop!.closed
    assert.equal(code, 'LINK_LOST')
    assert.match(message, /belongs to another app/)
    await stranger.peers.close(over)
    await asked
  })

  it('that lose their link say so, both of them, and can be linked anew', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    const first = new MessageChannel()
    one.peers.join({ ...spec(2, { by: 'thread', port: first.port1 }, [shop]), link: 7 })
    other.peers.join({ ...spec(1, { by: 'thread', port: first.port2 }), link: 7 })
    const before = one.shop!
    assert.equal(await ask(before, 1), 1)
    first.port1.close()
    await before.closed
    while (other.lost.length === 0) await turns()
    assert.deepEqual([one.lost, other.lost], [[7], [7]])
    const second = new MessageChannel()
    one.peers.join({ ...spec(2, { by: 'thread', port: second.port1 }, [shop]), link: 8 })
    other.peers.join({ ...spec(1, { by: 'thread', port: second.port2 }), link: 8 })
    assert.equal(await ask(one.shop!, 2), 2)
  })

  it('that lose their link fail what was in flight when they are linked anew, and say that the other one lives', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2, hang)
    const first = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: first.port1 }, [shop]))
    other.peers.join(spec(1, { by: 'thread', port: first.port2 }))
    const heard = new Heard()
    const before = one.shop!
    before.open(head, 1, true, heard)
    first.port1.close()
    await before.closed
    assert.equal(await Promise.race([heard.over, turns()]), 'not yet')
    const second = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: second.port1 }, [shop]))
    other.peers.join(spec(1, { by: 'thread', port: second.port2 }))
    const error = await heard.over
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /: worker 2 is gone without a word, or cut off; it lives and is linked anew$/)
  })

  it('that lose their link fail what was in flight in any case, though nobody says what became of the other one', async (t) => {
    await using one = new Worker(1)
    const { port1, port2 } = new MessageChannel()
    one.peers.join(spec(2, { by: 'thread', port: port1 }, [shop]))
    const heard = new Heard()
    const { closed } = one.shop!
    one.shop!.open(head, 1, true, heard)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    port2.close()
    await closed
    t.mock.timers.tick(fateTime)
    const error = await heard.over
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /cut off; nothing says that it has died$/)
  })

  it('are linked anew also where one has not seen yet that the link is broken, and says nothing of the old one', async () => {
    await using place = await folder()
    const path = join(place.path, 'link')
    await using dialled = new Worker(1, echo, path)
    await dialled.peers.listen()
    await using dialling = new Worker(2)
    for (const link of [1, 2]) {
      dialling.peers.join({ ...spec(1, { by: 'unix', path }, [shop]), link })
      const asked = ask(dialling.shop!, link)
      if (link === 2) assert.equal(await Promise.race([asked, turns()]), 'not yet')
      dialled.peers.join({ ...spec(2, { by: 'accept' }), link })
      assert.equal(await asked, link)
    }
    assert.deepEqual(dialling.lost, [])
  })

  it('that end, or are told that the other one has, have lost nothing', async () => {
    await using one = new Worker(1)
    await using other = new Worker(2)
    await using third = new Worker(3)
    for (const [worker, to] of [
      [one, 2],
      [one, 3],
    ] as const) {
      const { port1, port2 } = new MessageChannel()
      worker.peers.join(spec(to, { by: 'thread', port: port1 }, [shop]))
      const far = to === 2 ? other : third
      far.peers.join(spec(1, { by: 'thread', port: port2 }, [shop]))
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

  it('that are commands have an address and no link', async () => {
    await using one = new Worker(1)
    const pages = { name: 'pages', typed: false, index: 0 }
    one.peers.join({
      worker: 3,
      label: '9',
      services: [pages],
      row: undefined,
      link: 1,
      way: { by: 'tcp', host: '127.0.0.1', port: 4000 },
    })
    assert.deepEqual(one.router.find('pages'), {
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

async function turns(): Promise<string> {
  for (let at = 0; at < 20; at++) await new Promise((resolve) => setImmediate(resolve))
  return 'not yet'
}
