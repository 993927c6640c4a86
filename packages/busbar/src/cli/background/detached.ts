/** What differs in a process that `busbar start -d` started. */
import type { App } from '../../config/app.ts'
import { logFiles } from '../../config/schema/logs-schema.ts'
import { detachedVariable } from './process-messages.ts'
import { ownFolder, ownName } from './own-folder.ts'

/** Deletes the mark: a program of the app may itself run `busbar start`. */
export function takeDetached(env: NodeJS.ProcessEnv): boolean {
  const isDetached = env[detachedVariable] !== undefined
  delete env[detachedVariable]
  return isDetached
}

/**
 * Without a terminal and without `logs.files` the log would be lost: it goes to files in the
 * user's own folder, within the default bounds.
 */
export function withBackgroundLog(app: App, env: NodeJS.ProcessEnv): App {
  const { rate, redact = [], files } = app.logs ?? { rate: undefined, files: undefined }
  const chosen = files ?? logFiles.parse({ folder: ownFolder(env, 'logs', ownName(app.root)) })
  return Object.freeze({ ...app, logs: { rate, redact, stdout: false, files: chosen } })
}
