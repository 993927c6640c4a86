import { showProgress } from '../report/progress.ts'
import { tryApp } from '../try-app/try-app.ts'
import type { Prepare, Tried } from '../try-app/tried-app.ts'
import { stopOnSignal } from './command.ts'

export interface TryResult {
  /** Null: interrupted before the answers were compared. */
  readonly tried: Tried | null
  readonly interrupted: boolean
}

/**
 * Tries an app for `busbar try`, until it is done or a signal arrives. Steps and progress go to
 * `stderr`. Whatever it has started has ended when it settles.
 */
export async function tryCommand(prepare: Prepare, stderr: NodeJS.WritableStream): Promise<TryResult> {
  const { signal, release } = stopOnSignal()
  const progress = showProgress(stderr)
  try {
    const tried = await tryApp(prepare, {
      signal,
      onStep: (text) => void stderr.write(`${text}\n`),
      onProgress: (now) => progress.show(now),
    })
    return { tried, interrupted: signal.aborted }
  } catch (error) {
    if (!signal.aborted) throw error
    return { tried: null, interrupted: true }
  } finally {
    progress.clear()
    release()
  }
}
