/**
 * Loaded before every test file: whatever a test leaves behind fails its file. `node:test` itself fails on a stray
 * rejection or exception; this adds what is still open and what still runs when the last test of a file has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { markRun, runningOf } from '../../../../scripts/stray-processes.ts'

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const { after } = await import('node:test')
  const run = markRun()
  after(async () => {
    const left = await settle(run)
    if (left.length === 0) return
    // It would keep the file from ending. `--test-force-exit` ends every file, and now and then before it has told all.
    setTimeout(() => process.exit(1), 2000)
    throw new Error(`left behind when the tests had ended: ${left.join(', ')}`)
  })
  // The runner has read it by now. A process that a test starts must not take itself for a test file.
  delete process.env['NODE_TEST_CONTEXT']
}

/** Closing takes a few turns of the loop, ending a process longer; what is still there after two seconds stays. */
async function settle(run: string): Promise<string[]> {
  let left = await leftBehind(run)
  for (let turn = 0; left.length > 0 && turn < 40; turn++) {
    await sleep(50)
    left = await leftBehind(run)
  }
  return left
}

async function leftBehind(run: string): Promise<string[]> {
  return [
    ...openHandles(),
    ...openOthers(),
    ...(await runningOf(run)).map(({ pid, command }) => `process ${pid} (${command})`),
  ]
}

/** Sockets, servers, pipes, workers and child processes: everything with a handle, but for the standard streams. */
function openHandles(): string[] {
  // Undocumented, and the only list that has the objects themselves; `getActiveResourcesInfo` has bare names.
  return (process as unknown as { _getActiveHandles(): object[] })
    ._getActiveHandles()
    .filter((handle) => !isStandard(handle))
    .map(nameOf)
}

function isStandard(handle: object): boolean {
  const { fd } = handle as { fd?: unknown }
  return typeof fd === 'number' && fd <= 2
}

/** Timers, file watchers and the like, which the list of handles does not have. Its own kinds are counted there. */
function openOthers(): string[] {
  const others = new Set(['Timeout', 'Immediate', 'FSEventWrap', 'StatWatcher', 'MessagePort', 'TLSWrap', 'DNSChannel'])
  return process.getActiveResourcesInfo().filter((resource) => others.has(resource))
}

function nameOf(handle: object): string {
  const { spawnfile, pid, localPort } = handle as { spawnfile?: string; pid?: number; localPort?: number }
  const name = handle.constructor.name
  if (spawnfile !== undefined) return `${name} ${pid} (${spawnfile})`
  return localPort === undefined ? name : `${name} on port ${localPort}`
}
