import { once } from 'node:events'
import inspector from 'node:inspector'
import { setSourceMapsSupport } from 'node:module'
import { createServer } from 'node:net'

const host = '127.0.0.1'

/**
 * Stacks show the lines of the sources from which a program was built. (Programs that Node runs as
 * TypeScript have them anyway: types are replaced by spaces.)
 */
export function showSourceLines(): void {
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
}

/**
 * Opens an inspector for this thread or process, at this port or, if it is in use, at a free one.
 * Returns the address for debuggers. A thread has an inspector of its own, so that a debugger needs
 * to know nothing of threads.
 */
export async function openInspector(port: number): Promise<string | undefined> {
  inspector.open((await isFree(port)) ? port : 0, host)
  return inspector.url()
}

/** A debugger that is still attached would keep the worker from ending. */
export function closeInspector(): void {
  if (inspector.url() !== undefined) inspector.close()
}

/** During a reload, the previous worker of the slot still has the port. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}
