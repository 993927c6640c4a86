import { stat } from 'node:fs/promises'
import { BusbarError } from '../../../contract/errors.ts'
import { readStartRecord } from '../../../supervisor/admin/start-record.ts'
import { listRuns } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import { readSaved, type SavedApp } from '../../background/saved-apps.ts'
import { startDetached } from '../../background/start-detached.ts'
import type { CommandContext } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Resurrected {
  readonly name: string
  readonly root: string
  readonly outcome: 'started' | 'runs already' | 'failed'
  readonly pid?: number
  readonly error?: { readonly code: string; readonly message: string }
}

/** `busbar resurrect`: starts the saved apps that do not run, one after the other. */
export async function resurrect(context: CommandContext): Promise<number> {
  const { terminal } = context
  const { runs, silent } = await listRuns(terminal.env)
  const roots = [...runs.map(({ status }) => status.app.root), ...silent.map(({ path }) => readStartRecord(path)?.root)]
  const running = new Set(roots)
  const apps: Resurrected[] = []
  for (const app of readSaved(terminal.env))
    apps.push(running.has(app.root) ? { ...about(app), outcome: 'runs already' } : await startSaved(app, terminal))
  const ok = apps.every(({ outcome }) => outcome !== 'failed')
  const lines = apps.map(({ name, outcome, pid, error }) =>
    [name, outcome, ...(pid === undefined ? [] : [`(process ${pid})`]), ...(error ? [`: ${error.message}`] : [])].join(
      ' ',
    ),
  )
  printResult(context, { ok, apps }, lines.length === 0 ? 'no app is saved' : lines.join('\n'))
  return ok ? 0 : 1
}

/** One that fails does not keep the others from starting. */
async function startSaved(app: SavedApp, terminal: Terminal): Promise<Resurrected> {
  try {
    await checkFolder(app)
    const { pid } = await startDetached({ ...app, location: app.args.at(-1)!, terminal })
    return { ...about(app), outcome: 'started', pid }
  } catch (thrown) {
    const { code, message } = BusbarError.from(thrown)
    return { ...about(app), outcome: 'failed', error: { code, message } }
  }
}

/** Throws CONFIG_NOT_FOUND if it was removed. */
async function checkFolder({ folder }: SavedApp): Promise<void> {
  try {
    await stat(folder)
  } catch (cause) {
    throw new BusbarError('CONFIG_NOT_FOUND', {
      message: `its folder ${folder} does not exist any more; start it where it is now, and run busbar save again`,
      cause,
    })
  }
}

function about({ name, root }: SavedApp): Pick<Resurrected, 'name' | 'root'> {
  return { name, root }
}
