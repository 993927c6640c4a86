import Module from 'node:module'
import v8 from 'node:v8'
import workerThreads from 'node:worker_threads'
import { replace } from '../replace.ts'
import { type CurrentFolder, isRelative, pathIn, relativeTo } from './folder.ts'

/** What else of Node's modules takes a path: threads, the compile cache, heap snapshots. */
export function patchModules(folder: CurrentFolder, patches: DisposableStack): void {
  patchWorker(folder, patches)
  replace(patches, v8, 'writeHeapSnapshot', (write) => (file = snapshotName(), ...rest) => {
    const current = isRelative(file) ? folder() : undefined
    if (current === undefined) return write(file, ...rest)
    return relativeTo(current, write(pathIn(current, file), ...rest))
  })
  replace(patches, Module, 'enableCompileCache', (enable) => (options) => {
    const directory = typeof options === 'object' ? options.directory : options
    const current = isRelative(directory) ? folder() : undefined
    if (current === undefined) return enable(options)
    const moved = pathIn(current, directory as string)
    return enable(typeof options === 'object' ? { ...options, directory: moved } : moved)
  })
}

/** Of `setEnvironmentData`: the folder of the code that started a thread, which the preload of that thread makes its own. */
export const folderKey = 'busbar.folder'

/** Node finds a relative name from `process.cwd()`, of which it may keep an older answer. */
function patchWorker(folder: CurrentFolder, patches: DisposableStack): void {
  replace(patches, workerThreads, 'Worker', (Worker) => {
    return new Proxy(Worker, {
      construct(target, [file, options, ...rest]: unknown[], newTarget) {
        const current = folder()
        if (current === undefined) return Reflect.construct(target, [file, options, ...rest], newTarget) as object
        const isFile = (options as workerThreads.WorkerOptions | undefined)?.eval !== true
        const moves = isFile && isRelative(file) && /^\.\.?[\\/]/.test(file)
        const before = workerThreads.getEnvironmentData(folderKey)
        workerThreads.setEnvironmentData(folderKey, current)
        try {
          return Reflect.construct(
            target,
            [moves ? pathIn(current, file) : file, options, ...rest],
            newTarget,
          ) as object
        } finally {
          workerThreads.setEnvironmentData(folderKey, before)
        }
      },
    })
  })
}

/** As Node's documentation says that it names one. */
function snapshotName(): string {
  const [date, time] = new Date().toISOString().split('T') as [string, string]
  const parts = [date.replaceAll('-', ''), time.slice(0, 8).replaceAll(':', ''), process.pid, workerThreads.threadId]
  return `Heap-${parts.join('-')}.heapsnapshot`
}
