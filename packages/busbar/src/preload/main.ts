/**
 * Entry of the preload: lets this process or thread reach the app's services by name, if its
 * environment names an app, and lets a thread resolve relative paths as the program that started
 * it.
 */
import { getEnvironmentData, isMainThread } from 'node:worker_threads'
import { patchWorkingDirectory } from '../shared/working-directory/patch-all.ts'
import { folderKey } from '../shared/working-directory/modules.ts'
import { inheritCallAccess } from '../shared/calls/inherit-call-access.ts'
import { createHopCounter, readAppAccess } from './app-access.ts'
import { redirectConnections } from './redirect-connections.ts'

inheritFolder()
const access = readAppAccess()
if (access !== undefined) {
  const hops = createHopCounter(access)
  redirectConnections(access, hops)
  inheritCallAccess(() => ({ ...access.variables, hops: hops.current() }))
}

/** A thread inherits the emulated working directory of the program that started it. */
function inheritFolder(): void {
  const folder = isMainThread ? undefined : getEnvironmentData(folderKey)
  if (typeof folder !== 'string' || folder === process.cwd()) return
  patchWorkingDirectory({ directory: () => folder }, new DisposableStack())
}
