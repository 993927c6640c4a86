import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventsApp } from './support.ts'

const numbers = (count: number, from = 1): string[] => Array.from({ length: count }, (_, at) => String(at + from))
const sorted = (ids: readonly string[]): string[] => ids.toSorted((one, other) => Number(one) - Number(other))

const placements = {
  'in shared workers': { mail: { run: 'shared' }, audit: { run: 'shared' } },
  'in processes': { mail: { run: 'process', instances: 2 }, audit: { run: 'process' } },
  'in threads with a concurrency': { mail: { run: 'thread', instances: 2, concurrency: 2 }, audit: { run: 'thread' } },
}

for (const [where, services] of Object.entries(placements))
  describe(`events to services ${where}`, () => {
    let app: EventsApp

    before(async () => (app = await EventsApp.start(services, { workers: 2 })))
    after(async () => await app[Symbol.asyncDispose]())

    it('reach one instance of each subscribing service', async () => {
      for (const id of numbers(20)) assert.deepEqual(await app.ask(`emit/placed/${id}`), { accepted: 2, dropped: 0 })
      assert.deepEqual(sorted(await app.untilLogged(/welcome (\d+) /, 20)), numbers(20))
      assert.deepEqual(sorted(await app.untilLogged(/audit (\d+)/, 20)), numbers(20))
    })

    it('have the same values as the input of a call, and name their publisher', async () => {
      await app.untilLogged(/welcome (\d+) /, 20)
      const [seen] = app.logged(/welcome 7 (\[.*\]) by/)
      assert.deepEqual(JSON.parse(seen!), [new Date(7).toJSON(), 3.5, [7, 255], 'web', 'mail', 'welcome'])
    })

    it('reach every instance by broadcast', async () => {
      const instances = where === 'in shared workers' ? 4 : 3
      assert.deepEqual(await app.ask('broadcast/placed/100'), { accepted: instances, dropped: 0 })
      const by = await app.untilLogged(/welcome 100 .* by (\w+)/, 2)
      assert.equal(new Set(by).size, 2)
    })

    it('are accepted by nobody if nobody subscribes', async () => {
      assert.deepEqual(await app.ask('emit/unheard/1'), { accepted: 0, dropped: 0 })
    })

    it('fail at their publisher if they are not valid', async () => {
      assert.equal(await app.ask('invalid'), 'INPUT_INVALID')
    })

    it('are logged and counted if their handler fails', async () => {
      assert.deepEqual(await app.ask('emit/failing/5'), { accepted: 1, dropped: 0 })
      await app.untilLogged(/mail\.(fails) failed .*: Error: no mail to 5/, 1)
      while ((app.events('mail') as { failed: number }).failed === 0) await sleep(5)
      assert.deepEqual({ ...app.events('mail'), handled: 23 }, { handled: 23, failed: 1, dropped: 0, waiting: 0 })
    })

    it('are dropped and counted while all queues are full, and the accepted ones are handled', async () => {
      let [accepted, dropped] = [0, 0]
      for (const id of numbers(12)) {
        const one = await app.ask(`emit/billed/${id}`)
        accepted += one.accepted
        dropped += one.dropped
      }
      assert.equal(accepted + dropped, 12)
      // Two instances with room for two, beside the one that each handles.
      assert.ok(accepted >= 4 && accepted <= 6, String(accepted))
      while ((app.events('mail') as { dropped: number }).dropped < dropped) await sleep(5)
      await app.ask('opens')
      assert.equal(new Set(await app.untilLogged(/bill (\d+) /, accepted)).size, accepted)
      while ((app.events('mail') as { waiting: number }).waiting > 0) await sleep(5)
      assert.equal((app.events('mail') as { dropped: number }).dropped, dropped)
    })

    it('are lost by no reload, and handled once', async () => {
      const before = app.logged(/welcome (\d+) /).length
      let isOver = false
      let published = 0
      const publish = async (): Promise<void> => {
        while (!isOver)
          assert.deepEqual(await app.ask(`emit/placed/${1_000 + published++}`), { accepted: 2, dropped: 0 })
      }
      const publishing = publish()
      await app.app.running.reload('mail')
      isOver = true
      await publishing
      const seen = (await app.untilLogged(/welcome (\d+) /, before + published)).slice(before)
      assert.deepEqual(sorted(seen), numbers(published, 1_000))
    })

    it('are handled before the app stops', async () => {
      for (const id of numbers(30, 10_000)) assert.equal((await app.ask(`emit/placed/${id}`)).accepted, 2)
      await app.app.running.stop()
      assert.deepEqual(sorted(app.logged(/welcome (1\d{4}) /)), numbers(30, 10_000))
      assert.deepEqual(new Set(app.logged(/mail is (disposed)/)), new Set(['disposed']))
    })
  })

test('events of a service that has died are dropped until it serves again', async () => {
  await using app = await EventsApp.start({ mail: { run: 'process' } })
  assert.deepEqual(await app.ask('emit/placed/1'), { accepted: 1, dropped: 0 })
  const slot = app.app.running.workers.findIndex(({ kind }) => kind === 'process')
  process.kill(app.app.running.workers[slot]!.pid!, 'SIGKILL')
  await app.app.untilReplaced(slot)
  while ((await app.ask('emit/placed/2')).accepted === 0) await sleep(5)
  await app.untilLogged(/welcome (2) /, 1)
})
