/**
 * Loaded before every test file: whatever a test leaves behind fails the run. `node:test` itself fails on a stray
 * rejection or exception; this adds handles that are still open when the last test of a file has ended.
 */
import { isMainThread } from 'node:worker_threads'

/** What the runner itself holds: its pipes to the parent, and the tick of its own timers. */
const runners = new Set(['PipeWrap', 'TTYWrap', 'FSReqPromise', 'FSReqCallback'])

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const { after } = await import('node:test')
  after(async () => {
    const open = await settle()
    if (open.length > 0) throw new Error(`left open when the tests had ended: ${open.join(', ')}`)
  })
}

/** Closing takes a few turns of the loop; what is still open after two seconds stays open. */
async function settle(): Promise<string[]> {
  const { setTimeout: sleep } = await import('node:timers/promises')
  let open = left()
  for (let turn = 0; open.length > 0 && turn < 40; turn++) {
    await sleep(50, undefined, { ref: false })
    open = left()
  }
  return open
}

function left(): string[] {
  return process.getActiveResourcesInfo().filter((resource) => !runners.has(resource))
}
