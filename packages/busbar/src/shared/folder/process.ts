import { realpathSync, statSync } from 'node:fs'
import { replace } from '../replace.ts'
import { type CurrentFolder, isRelative, pathIn } from './folder.ts'
import { localError } from './results.ts'

/** What `process` says and does of the current folder. `enter`: makes it another one; undefined where that cannot be. */
export interface ProcessFolder {
  readonly folder: CurrentFolder
  readonly enter: ((folder: string) => void) | undefined
}

export function patchProcess({ folder, enter }: ProcessFolder, patches: DisposableStack): void {
  replace(patches, process, 'cwd', (cwd) => () => folder() ?? cwd())
  if (enter !== undefined) patchChdir(folder, enter, patches)
  patchLoadEnvFile(folder, patches)
  patchReport(folder, patches)
  replace(patches, process, 'dlopen', (dlopen) => (module: object, file: string, ...flags: [number?]) => {
    // A name without a slash is looked for where the system keeps libraries.
    const current = isRelative(file) && /[\\/]/.test(file) ? folder() : undefined
    return Reflect.apply(dlopen, process, [module, current === undefined ? file : pathIn(current, file), ...flags])
  })
}

function patchChdir(folder: CurrentFolder, enter: (folder: string) => void, patches: DisposableStack): void {
  replace(patches, process, 'chdir', (chdir) => (directory: unknown) => {
    const current = folder()
    if (current === undefined || typeof directory !== 'string') return chdir(directory as string)
    enter(folderAt(directory, current))
  })
  // In a thread Node says of its own that it does nothing.
  const chdir: object = Reflect.get(process, 'chdir')
  Reflect.deleteProperty(chdir, 'disabled')
  Object.defineProperty(chdir, 'length', { value: 1, configurable: true })
}

/** With links resolved, as the system names a folder that was entered. Fails as `process.chdir` fails. */
function folderAt(directory: string, current: string): string {
  const found = isRelative(directory) ? pathIn(current, directory) : directory
  try {
    // A slash at the end makes anything else than a folder fail.
    statSync(found === '' ? found : `${found}/`)
    return realpathSync.native(found)
  } catch (thrown) {
    const { code, errno, message } = thrown as NodeJS.ErrnoException
    const text = `${message.split(', ')[0]}, chdir '${current}' -> '${directory}'`
    throw Object.assign(new Error(text), { errno, code, syscall: 'chdir', path: current, dest: directory })
  }
}

function patchLoadEnvFile(folder: CurrentFolder, patches: DisposableStack): void {
  replace(patches, process, 'loadEnvFile', (load) => (path: Parameters<typeof load>[0] = '.env') => {
    const current = isRelative(path) ? folder() : undefined
    if (current === undefined) return load(path)
    try {
      load(pathIn(current, path as string))
    } catch (error) {
      throw localError(error, current)
    }
  })
}

/** By default a report is written into the current folder. */
function patchReport(folder: CurrentFolder, patches: DisposableStack): void {
  const { report } = process
  type Write = (...args: unknown[]) => string
  replace(patches, report as unknown as { writeReport: Write }, 'writeReport', (write) => (...args) => {
    const current = report.directory === '' ? folder() : undefined
    if (current === undefined) return Reflect.apply(write, report, args)
    report.directory = current
    try {
      return Reflect.apply(write, report, args)
    } finally {
      report.directory = ''
    }
  })
}
