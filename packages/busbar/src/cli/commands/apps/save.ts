import { BusbarError } from '../../../contract/errors.ts'
import { describeApp } from '../../../supervisor/admin/operations/describe.ts'
import { readStartRecord, type StartRecord } from '../../../supervisor/admin/start-record.ts'
import { listRuns, type Run } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import { type SavedApp, writeSaved } from '../../background/saved-apps.ts'
import type { CommandContext } from '../../command.ts'

/** How often it lists the apps if one has ended meanwhile, which may wait for its restart now. */
const looks = 10

/** `busbar save`: writes the list of apps that run in the background. */
export async function save(context: CommandContext): Promise<number> {
  const { env } = context.terminal
  const apps = (await listRecords(env)).filter(({ isDetached }) => isDetached).map(savedOf)
  const file = writeSaved(env, apps)
  const lines = apps.map(({ name, root }) => `  ${name}  ${root}`)
  const text = apps.length === 0 ? `no app runs in the background; ${file} is empty` : `saved in ${file}:`
  printResult(context, { ok: true, file, apps }, [text, ...lines].join('\n'))
  return 0
}

async function listRecords(env: NodeJS.ProcessEnv): Promise<StartRecord[]> {
  for (let look = 1; ; look++) {
    const { runs, silent, waiting } = await listRuns(env)
    const started = silent.map(({ path }) => readStartRecord(path))
    try {
      const records = [...(await Promise.all(runs.map(recordOf))), ...started, ...waiting]
      return records.filter((record) => record !== undefined)
    } catch (error) {
      if (look === looks || !BusbarError.is(error, 'APP_NOT_RUNNING')) throw error
    }
  }
}

/**
 * Apps that are not detached belong to a terminal, to a service manager, or to the program that
 * started them.
 */
async function recordOf({ admin, status: { app } }: Run): Promise<StartRecord | undefined> {
  const { command } = await admin.json(describeApp, {}, { timeout: 5000 })
  return command === null ? undefined : { ...command, name: app.name, root: app.root }
}

function savedOf({ name, root, args, folder }: StartRecord): SavedApp {
  return { name, root, args, folder }
}
