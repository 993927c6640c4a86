/**
 * Apps whose process has crashed and that wait for their restart. Nobody answers for them, so the
 * outer process of `busbar start` leaves a record where the admin socket was.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isSameProcess, pidNamespace, startOf } from '../../shared/process/process-identity.ts'
import { filesOf, isOwn, runtimeFolder, runtimeFolders } from '../../supervisor/admin/admin-socket.ts'
import { startRecord } from '../../supervisor/admin/start-record.ts'

const waitingApp = startRecord.extend({
  /** Of the outer process. */
  pid: z.int(),
  start: z.string(),
  /** In which these two mean something. */
  namespace: z.string(),
})

export type WaitingApp = z.output<typeof waitingApp>

/** Until the result is disposed of, commands find the app. */
export function announceWaiting(env: NodeJS.ProcessEnv, record: z.output<typeof startRecord>): Disposable {
  const { pid } = process
  const folder = runtimeFolder(env)
  const file = join(folder, `busbar-waits-${pid}.json`)
  const own: WaitingApp = { ...record, pid, start: startOf(pid), namespace: pidNamespace() }
  try {
    // In that of somebody else, the name could be a link to a file of this user.
    if (isOwn(folder)) writeFileSync(file, JSON.stringify(own), { mode: 0o600 })
  } catch {
    // It cannot be written: the app waits unseen, as it ran unseen.
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) }
}

/** Of this user. Removes the records of processes that were killed. */
export function listWaiting(env: NodeJS.ProcessEnv): WaitingApp[] {
  if (process.platform === 'win32') return []
  const files = runtimeFolders(env).flatMap((folder) =>
    filesOf(folder)
      .filter((file) => /^busbar-waits-\d+\.json$/.test(file))
      .map((file) => join(folder, file)),
  )
  return files.flatMap((file) => {
    const app = read(file)
    // Of a container that shares the folder.
    if (app !== undefined && app.namespace !== pidNamespace()) return []
    if (app !== undefined && isSameProcess(app.pid, app.start)) return [app]
    rmSync(file, { force: true })
    return []
  })
}

function read(file: string): WaitingApp | undefined {
  try {
    return waitingApp.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}
