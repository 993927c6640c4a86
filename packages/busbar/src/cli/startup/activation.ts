/**
 * Socket activation (sd_listen_fds(3)): systemd opens the ports and passes them from descriptor 3
 * on. Connections that arrive before the app serves, or while it restarts, wait in the kernel.
 */
import { type Address, type App, usesEntrance } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'

export interface ActivatedSocket {
  readonly descriptor: number
  /** `FileDescriptorName=` of the unit. Default: the name of the unit. */
  readonly name: string
}

/** The first descriptor that systemd passes. */
const first = 3

/** More than any app has ports: a wrong number must not fill the memory. */
const mostSockets = 1024

/** The first one in the inner process of `start`, where descriptor 3 is the channel. */
const firstInInner = 4

/** What the outer process of `start` tells the inner one. */
const passedVariable = 'BUSBAR_SOCKETS'

/** `LISTEN_PIDFDID` is only removed: the process ID is enough to recognize this process. */
const variables = [passedVariable, 'LISTEN_PID', 'LISTEN_PIDFDID', 'LISTEN_FDS', 'LISTEN_FDNAMES']

/** Removes the variables from `env`: they are not for the programs of the app. */
export function takeSockets(env: NodeJS.ProcessEnv): readonly ActivatedSocket[] {
  const { [passedVariable]: passed, LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names } = env
  for (const name of variables) delete env[name]
  if (passed !== undefined) return JSON.parse(passed) as ActivatedSocket[]
  if (Number(pid) !== process.pid) return []
  return Array.from({ length: Math.min(Number(count), mostSockets) }, (_, at) => ({
    descriptor: first + at,
    name: names?.split(':')[at] ?? '',
  }))
}

/** For the spawn of the inner process: its further descriptors, and its environment. */
export function passSockets(sockets: readonly ActivatedSocket[]): { stdio: number[]; env: NodeJS.ProcessEnv } {
  if (sockets.length === 0) return { stdio: [], env: {} }
  const passed = sockets.map(({ name }, at): ActivatedSocket => ({ descriptor: firstInInner + at, name }))
  return { stdio: sockets.map(({ descriptor }) => descriptor), env: { [passedVariable]: JSON.stringify(passed) } }
}

/**
 * The app with the sockets in place of its ports: by name (`gateway`, or a service with `expose`),
 * the others in the order of the ports. Throws USAGE if there are too many, or if workers would
 * open the ports themselves.
 */
export function withSockets(app: App, sockets: readonly ActivatedSocket[]): App {
  if (sockets.length === 0) return app
  const ports = ['gateway', ...app.services.flatMap(({ name, expose }) => expose.map(() => name))]
  const why = whyNot(app, sockets.length, ports.length)
  if (why !== undefined)
    throw new BusbarError('USAGE', {
      message: `systemd passed ${sockets.length} sockets, and ${why}`,
      hint: 'The unit of the socket needs one ListenStream= for the gateway, and one for each expose: busbar startup systemd --socket.',
    })
  const descriptors = assign(ports, sockets)
  const placed = <A extends Address>(address: A): A => {
    const descriptor = descriptors.shift()
    return descriptor === undefined ? address : { ...address, descriptor }
  }
  return Object.freeze({
    ...app,
    gateway: placed(app.gateway),
    services: app.services.map((service) => ({ ...service, expose: service.expose.map(placed) })),
  })
}

function whyNot(app: App, sockets: number, ports: number): string | undefined {
  if (app.accept === 'reusePort') return "each worker opens the ports itself (accept: 'reusePort')"
  if (usesEntrance(app)) return "the native entrance opens its port itself (gateway.entrance: 'native')"
  return sockets > ports ? `the app has ${ports} ports` : undefined
}

/** The descriptor of each port, in the order of the ports. */
function assign(ports: readonly string[], sockets: readonly ActivatedSocket[]): (number | undefined)[] {
  const descriptors: (number | undefined)[] = ports.map(() => undefined)
  const place = ({ descriptor }: ActivatedSocket, at: number): void => void (descriptors[at] = descriptor)
  const unnamed = sockets.filter((socket) => {
    const at = ports.findIndex((port, index) => port === socket.name && descriptors[index] === undefined)
    if (at >= 0) place(socket, at)
    return at < 0
  })
  for (const socket of unnamed) place(socket, descriptors.indexOf(undefined))
  return descriptors
}
