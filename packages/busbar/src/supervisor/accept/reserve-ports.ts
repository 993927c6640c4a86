import { restoreError } from '../../contract/errors.ts'
import type { ListenerSpec } from '../../shared/control-messages.ts'
import {
  openPort,
  type Port,
  type PortHandlers,
  type PortOptions,
  portFailure,
} from '../../shared/listeners/open-port.ts'

/**
 * Opens and closes each port, to fail before any service starts. With `reusePort`, a port 0 becomes
 * one free port that all workers can open. It is held until `release`.
 */
export async function reservePorts(
  specs: readonly ListenerSpec[],
  reusePort: boolean,
): Promise<{ specs: ListenerSpec[]; release: () => Promise<void> }> {
  const held: Port[] = []
  const reserved: ListenerSpec[] = []
  const release = async (): Promise<void> => void (await Promise.all(held.splice(0).map((port) => port.close())))
  try {
    for (const spec of specs) {
      // It is open already, and clients may wait.
      if (spec.descriptor !== undefined) {
        reserved.push(spec)
        continue
      }
      // Nobody can know the port before the app has started: a connection here is a mistake.
      const port = await openOrExplain(
        spec,
        { reusePort, paused: true },
        { connection: (socket) => socket.destroy(), error: () => {} },
      )
      if (reusePort && spec.port === 0) held.push(port)
      else await port.close()
      reserved.push(reusePort ? { ...spec, port: port.port } : spec)
    }
  } catch (error) {
    await release()
    throw error
  }
  return { specs: reserved, release }
}

export async function openOrExplain(spec: ListenerSpec, options: PortOptions, handlers: PortHandlers): Promise<Port> {
  try {
    return await openPort(spec, options, handlers)
  } catch (error) {
    throw restoreError(portFailure(error as NodeJS.ErrnoException, spec))
  }
}
