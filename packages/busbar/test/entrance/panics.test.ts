/**
 * Panics in the add-on, where JavaScript or Node calls it. Panics in the tasks of an I/O thread are
 * injected in Rust (`crates/entrance/src/io/panics.rs`).
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { loadEntrance } from '../../src/entrance/load.ts'
import { builtAddon, eventually, Served } from './served.ts'

/** `crates/entrance/src/addon/faults.rs` */
interface Faults {
  readonly panicInCall?: () => void
  readonly panicInHooks?: (isWanted: boolean) => void
}

// As the checks of the Rust code leave it. CI makes them in the release profile.
const checked = builtAddon?.replace(/release(?=.[^/]+$)/, 'checks/deps')
const addon = checked !== undefined && existsSync(checked) ? checked : builtAddon
const faults: Faults = addon === undefined ? {} : (loadEntrance(addon) as Faults)
const skip = faults.panicInCall === undefined ? 'no build of the entrance has assertions' : false

describe('a panic in the native entrance', { skip }, () => {
  it('is an exception in JavaScript, and the entrance serves on', async () => {
    await using served = await Served.start({ addon: addon! })
    assert.throws(() => faults.panicInCall!(), /injected/)
    assert.equal(await served.text('/thread'), String(served.workers[0]!.threadId))
  })

  it('in the clean-up of a worker ends neither the process nor the service of the others', async () => {
    await using served = await Served.start({ addon: addon!, workers: 2 })
    const [first, second] = served.workers as [Worker, Worker]
    faults.panicInHooks!(true)
    try {
      await first.terminate()
    } finally {
      faults.panicInHooks!(false)
    }
    const other = String(second.threadId)
    for (let n = 0; n < 20; n++) assert.equal(await served.text('/thread'), other)
    const third = String((await served.addWorker()).threadId)
    await eventually(async () => (await served.text('/thread')) === third)
  })
})
