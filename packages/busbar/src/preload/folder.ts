import { getEnvironmentData, isMainThread } from 'node:worker_threads'
import { followFolder } from '../shared/folder/follow.ts'
import { folderKey } from '../shared/folder/modules.ts'

/** The folder of the program that started this thread becomes the thread's, where it is not that of the process. */
export function enterFolder(): void {
  const folder = isMainThread ? undefined : getEnvironmentData(folderKey)
  if (typeof folder !== 'string' || folder === process.cwd()) return
  followFolder({ folder: () => folder }, new DisposableStack())
}
