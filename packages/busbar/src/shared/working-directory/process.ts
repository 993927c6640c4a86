import { realpathSync, statSync } from 'node:fs'
import { replaceProperty } from '../process/replace-property.ts'
import { type CurrentDirectory, isRelative, pathIn, localError } from './relative-paths.ts'

/**
 * The current directory as `process` reports and changes it. `enter` changes it; undefined if that
 * is not possible.
 */
export interface ProcessDirectory {
  readonly directory: CurrentDirectory
  readonly enter: ((directory: string) => void) | undefined
}

export function patchProcess({ directory, enter }: ProcessDirectory, patches: DisposableStack): void {
  replaceProperty(patches, process, 'cwd', (cwd) => () => directory() ?? cwd())
  if (enter !== undefined) patchChdir(directory, enter, patches)
  patchLoadEnvFile(directory, patches)
  patchReport(directory, patches)
  replaceProperty(patches, process, 'dlopen', (dlopen) => (module: object, file: string, ...flags: [number?]) => {
    // A name without a slash is searched in the system's library path.
    const current = isRelative(file) && /[\\/]/.test(file) ? directory() : undefined
    return Reflect.apply(dlopen, process, [module, current === undefined ? file : pathIn(current, file), ...flags])
  })
}

function patchChdir(directory: CurrentDirectory, enter: (directory: string) => void, patches: DisposableStack): void {
  replaceProperty(patches, process, 'chdir', (chdir) => (target: unknown) => {
    const current = directory()
    if (current === undefined || typeof target !== 'string') return chdir(target as string)
    enter(resolveDirectory(target, current))
  })
  // In a thread, Node marks its own function as disabled.
  const chdir: object = Reflect.get(process, 'chdir')
  Reflect.deleteProperty(chdir, 'disabled')
  Object.defineProperty(chdir, 'length', { value: 1, configurable: true })
}

/** Resolves links, as the system does for a process's directory. Fails like `process.chdir`. */
function resolveDirectory(directory: string, current: string): string {
  const found = isRelative(directory) ? pathIn(current, directory) : directory
  try {
    // The trailing slash makes everything but a directory fail.
    statSync(found === '' ? found : `${found}/`)
    return realpathSync.native(found)
  } catch (thrown) {
    const { code, errno, message } = thrown as NodeJS.ErrnoException
    const text = `${message.split(', ')[0]}, chdir '${current}' -> '${directory}'`
    throw Object.assign(new Error(text), { errno, code, syscall: 'chdir', path: current, dest: directory })
  }
}

function patchLoadEnvFile(directory: CurrentDirectory, patches: DisposableStack): void {
  replaceProperty(patches, process, 'loadEnvFile', (load) => (path: Parameters<typeof load>[0] = '.env') => {
    const current = isRelative(path) ? directory() : undefined
    if (current === undefined) return load(path)
    try {
      load(pathIn(current, path as string))
    } catch (error) {
      throw localError(error, current)
    }
  })
}

/** By default reports are written to the current directory. */
function patchReport(directory: CurrentDirectory, patches: DisposableStack): void {
  const { report } = process
  type Write = (...args: unknown[]) => string
  replaceProperty(patches, report as unknown as { writeReport: Write }, 'writeReport', (write) => (...args) => {
    const current = report.directory === '' ? directory() : undefined
    if (current === undefined) return Reflect.apply(write, report, args)
    report.directory = current
    try {
      return Reflect.apply(write, report, args)
    } finally {
      report.directory = ''
    }
  })
}
