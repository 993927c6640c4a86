/** A full disk: what was accepted is kept, what is not is refused, and all goes on later. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { describe, it } from 'node:test'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { SmallDisk } from '../support/app/small-disk.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { hasCommand } from '../support/has-command.ts'
import { QueueApp, QueueProcess, quick } from './support.ts'

const input = { to: 'x'.repeat(8_000) }

describe('the queue on a full disk', () => {
  const skip = !hasCommand('prlimit') && 'there is no prlimit'
  it('refuses items with an error, keeps those that it has, and goes on when there is room', { skip }, async () => {
    // It runs to the end of the test, so all others wait.
    await using app = new QueueProcess({ queues: { ...quick, concurrency: 1 } })
    await app.start()
    await app.enqueue('slow', 'first', 'first')
    await app.busbar.message('slow first begins')
    await app.enqueue('flaky', { failures: 1, as: 'declared' }, 'dead')
    await app.busbar.message('is a dead letter')
    const limit = (size: string): void => {
      const { status } = spawnSync('prlimit', ['--pid', String(app.busbar.child.pid), `--fsize=${size}`])
      assert.equal(status, 0)
    }
    limit('262144:unlimited')
    const accepted: string[] = []
    const refused = async (): Promise<string | undefined> => {
      const id = `slow-${accepted.length}`
      try {
        await app.enqueue('slow', `${id} ${'x'.repeat(8_000)}`, id)
        accepted.push(id)
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    let message: string | undefined
    while ((message = await refused()) === undefined) assert.ok(accepted.length < 1_000)
    assert.match(message, /QUEUE_UNAVAILABLE/)
    for (let time = 0; time < 20; time++) assert.match((await refused()) ?? '', /QUEUE_UNAVAILABLE/)
    const { stderr } = await app.queue('drop', 'all')
    assert.match(stderr, /cannot be written: .*QUEUE_UNAVAILABLE/)
    assert.equal(app.output.match(/cannot be written/g)?.length, 1)
    limit('unlimited:unlimited')
    assert.equal(await refused(), undefined)
    await app.busbar.message('such lines in up to 60 s')
    await app.kill()
    await app.start()
    const { stdout } = await app.queue()
    const [, waiting, running] = /slow +(\d+) +(\d+)/.exec(stdout)!.map(Number)
    assert.equal(waiting! + running!, 1 + accepted.length, stdout)
  })
})

describe('an app whose queue has a full disk', { skip: SmallDisk.skip() }, () => {
  it('does not start, and says which disk; when there is room, it has all its items', async () => {
    using disk = new SmallDisk('4m')
    await using app = new QueueProcess({ queues: { ...quick, concurrency: 1, file: disk.at('items.sqlite') } })
    await app.start()
    await app.enqueue('slow', 'first', 'first')
    await app.busbar.message('slow first begins')
    disk.fill('other')
    const { stdout, code } = await app.checkLive()
    assert.match(stdout, /items\.sqlite cannot be written: /)
    assert.equal(code, 1)
    await app.kill()
    await assert.rejects(app.start())
    const { stderr } = await app.busbar.ended
    assert.match(stderr, /the queue's file .*items\.sqlite cannot be used: [^]*Make room on the disk/)
    rmSync(disk.at('other'))
    await app.start()
    const { stdout: list } = await app.queue()
    assert.match(list, /slow +(?:1 +0|0 +1)/)
  })
})

describe('the queue of a cluster whose server has a full disk', { skip: withoutNats || SmallDisk.skip() }, () => {
  it('refuses items with an error, keeps those that it has, and goes on when there is room', async () => {
    using disk = new SmallDisk('4m')
    await using nats = await NatsServer.startWithJetStream('', disk.path)
    const cluster = { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' }
    await using app = await QueueApp.start({ queues: quick, cluster })
    const accepted = new Set<string>()
    const refused = async (): Promise<{ code: string; message: string } | undefined> => {
      const id = `item-${accepted.size}`
      const error = await app.mail.send.enqueue(input, { id, delay: 3_600_000 }).then(
        () => undefined,
        (one: unknown) => one,
      )
      if (error === undefined) accepted.add(id)
      return error as { code: string; message: string } | undefined
    }
    let error: { code: string; message: string } | undefined
    while ((error = await refused()) === undefined) assert.ok(accepted.size < 5_000)
    assert.equal(error.code, 'QUEUE_UNAVAILABLE')
    disk.grow('64m')
    // The server has turned JetStream off until it is restarted.
    await nats.kill()
    await nats.start()
    while (await refused());
    await pollUntil(
      () => app.counts.waiting === accepted.size,
      () => app.counts,
    )
  })
})
