import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../contract/errors.ts'

/** The URL of a task's module, as text. */
export function moduleOf(module: URL | string): string {
  if (module instanceof URL) return module.href
  if (typeof module === 'string' && isAbsolute(module)) return pathToFileURL(module).href
  if (typeof module === 'string' && URL.canParse(module)) return module
  throw new BusbarError('TASK_INVALID', {
    message: `offload() was given ${typeof module === 'string' ? JSON.stringify(module) : `a ${typeof module}`} as the module of a task`,
    hint: "a relative name does not say relative to what: write new URL('./task.ts', import.meta.url)",
  })
}
