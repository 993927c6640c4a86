/**
 * Fails a test file if handles, timers or processes remain after its last test. `node:test` itself
 * fails on an unhandled rejection or exception.
 */
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { markRun, processesOf } from '../../../../scripts/leaked-processes.ts'

const run = markRun()

after(async () => {
  const left = await leftAfterClosing()
  if (left.length === 0) return
  // Otherwise the file would not end. `--test-force-exit` sometimes ends a file before its output
  // is complete.
  setTimeout(() => process.exit(1), 2000)
  // Reporters only know where this hook is.
  throw new Error(`left behind when the tests had ended: ${left.join(', ')}, by ${process.argv[1]}`)
})

/**
 * Closing a handle takes a few turns of the event loop, ending a process longer. Waits up to two
 * seconds.
 */
async function leftAfterClosing(): Promise<string[]> {
  let left = leftBehind()
  for (let turn = 0; left.length > 0 && turn < 40; turn++) {
    await sleep(50)
    left = leftBehind()
  }
  return left
}

function leftBehind(): string[] {
  return [
    ...openHandles(),
    ...openOthers(),
    ...processesOf(run).map(({ pid, command }) => `process ${pid} (${command})`),
  ]
}

/** Sockets, servers, pipes, workers and child processes, without the standard streams. */
function openHandles(): string[] {
  // Undocumented, and the only list with the objects. `getActiveResourcesInfo` has only names.
  return (process as unknown as { _getActiveHandles(): object[] })
    ._getActiveHandles()
    .filter((handle) => !isStandard(handle))
    .map(nameOf)
}

function isStandard(handle: object): boolean {
  const { fd } = handle as { fd?: unknown }
  return typeof fd === 'number' && fd <= 2
}

/** Timers, file watchers and the like, which are not in the list of handles. */
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
