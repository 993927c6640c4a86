import { BusbarError } from '../../contract/errors.ts'
import type { ListenerSpec } from '../../shared/control.ts'
import { openPort, type Port, type PortHandlers, type PortOptions, portFailure } from '../../shared/port.ts'

/**
 * Fails early where a port cannot be had, before any service has started. Resolves to specs that workers can open
 * side by side: a port 0 has become one free port, which is held until `release`.
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
      // Nobody knows a port of the system's choice before the app has started; a connection here is a stray.
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
    throw BusbarError.fromRecord(portFailure(error as NodeJS.ErrnoException, spec))
  }
}
