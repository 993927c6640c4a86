import type { Offload } from '../../src/offload/offload.ts'

const task = new URL('programs/task.js', import.meta.url)

/** Runs a task that occupies its thread until it is released. */
export async function hold(pool: Offload): Promise<{ readonly release: () => void; readonly held: Promise<unknown> }> {
  const cells = new Int32Array(new SharedArrayBuffer(8))
  const held = pool(task, { do: 'holds', cells })
  await Atomics.waitAsync(cells, 1, 0).value
  return {
    held,
    release: () => {
      Atomics.store(cells, 0, 1)
      Atomics.notify(cells, 0)
    },
  }
}
