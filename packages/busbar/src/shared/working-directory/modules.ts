import Module from 'node:module'
import v8 from 'node:v8'
import workerThreads from 'node:worker_threads'
import { replaceProperty } from '../process/replace-property.ts'
import { type CurrentDirectory, isRelative, pathIn, relativeTo } from './relative-paths.ts'

/** Other functions that take a path: threads, the compile cache, heap snapshots. */
export function patchModules(directory: CurrentDirectory, patches: DisposableStack): void {
  patchWorker(directory, patches)
  replaceProperty(patches, v8, 'writeHeapSnapshot', (write) => (file = snapshotName(), ...rest) => {
    const current = isRelative(file) ? directory() : undefined
    if (current === undefined) return write(file, ...rest)
    return relativeTo(current, write(pathIn(current, file), ...rest))
  })
  replaceProperty(patches, Module, 'enableCompileCache', (enable) => (options) => {
    const cache = typeof options === 'object' ? options.directory : options
    const current = isRelative(cache) ? directory() : undefined
    if (current === undefined) return enable(options)
    const moved = pathIn(current, cache as string)
    return enable(typeof options === 'object' ? { ...options, directory: moved } : moved)
  })
}

/**
 * Key of `setEnvironmentData`: the directory of the code that started a thread, which the thread's
 * preload adopts.
 */
export const folderKey = 'busbar.folder'

/** Node resolves a relative file name by `process.cwd()`, which it may have cached. */
function patchWorker(directory: CurrentDirectory, patches: DisposableStack): void {
  replaceProperty(patches, workerThreads, 'Worker', (Worker) => {
    return new Proxy(Worker, {
      construct(target, [file, options, ...rest]: unknown[], newTarget) {
        const current = directory()
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

/** The default name, as documented by Node. */
function snapshotName(): string {
  const [date, time] = new Date().toISOString().split('T') as [string, string]
  const parts = [date.replaceAll('-', ''), time.slice(0, 8).replaceAll(':', ''), process.pid, workerThreads.threadId]
  return `Heap-${parts.join('-')}.heapsnapshot`
}
