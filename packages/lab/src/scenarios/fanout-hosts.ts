/**
 * Arms of `fanout` whose caller is in one app, and the four services in another one, as on two
 * hosts. Each app is one process. Besides these, what programs use instead over NATS.
 */
import { join } from 'node:path'
import { armProgram, type Arm, type LaunchContext, type RequiredCommand } from '../arm.ts'
import { findCommand } from '../requirements.ts'
import {
  entry,
  named,
  names,
  origins,
  path,
  programs,
  type Services,
  typedEntry,
  typedServices,
} from './fanout-services.ts'
import { busbarProgram, type Command, commandGroup, nodeCommand } from './launch.ts'

const natsClient = { kind: 'npm', packages: { '@nats-io/transport-node': '3.4.0' } } as const
const moleculer = { kind: 'npm', packages: { moleculer: '0.15.2', nats: '2.29.3' } } as const
const natsServer: RequiredCommand = {
  name: 'nats-server',
  printVersion: ['--version'],
  hint: 'install the package nats-server of your system, or the server from https://nats.io/download',
}

const overNats = { requires: natsClient, requiresCommand: natsServer, onlyWhenAsked: true } as const

interface Ends {
  readonly caller: object
  readonly called: Services
}

const typed: Ends = { caller: typedEntry, called: typedServices }

export const hostArms: readonly Arm[] = [
  twoApps('busbar-hosts-tls-request', 'Busbar, two apps, mutual TLS, undici.request', overTls, inPrograms('request')),
  twoApps('busbar-hosts-tls-fetch', 'Busbar, two apps, mutual TLS, fetch', overTls, inPrograms('fetch')),
  twoApps('busbar-hosts-tcp-typed', 'Busbar, two apps, TCP, typed calls', overTcp, typed),
  twoApps('busbar-hosts-tls-typed', 'Busbar, two apps, mutual TLS, typed calls', overTls, typed),
  { ...twoApps('busbar-hosts-nats-typed', 'Busbar, two apps, NATS, typed calls', throughNats, typed), ...overNats },
  { ...byMessages('nats-request', 'two processes, request/reply of NATS', 'nats'), ...overNats },
  { ...byMessages('moleculer', 'two processes, Moleculer over NATS', 'moleculer'), ...overNats, requires: moleculer },
]

/** What the apps `near` and `far` need to reach each other. */
interface Link {
  /** Commands that begin before the apps. */
  readonly before: readonly Command[]
  /** The folder of packages that both apps need. */
  readonly packages?: string
  /** Further keys of their configs. */
  readonly near: object
  readonly far: object
  /** Where the near app finds each service. */
  readonly remote: string
}

function inPrograms(way: string): Ends {
  return { caller: { path: entry, env: { WAY: way, ORIGINS: origins('internal') } }, called: programs }
}

function twoApps(name: string, title: string, linked: (context: LaunchContext) => Link, { caller, called }: Ends): Arm {
  return {
    name,
    title,
    onlyWhenAsked: true,
    launch(context) {
      const { before, packages, near, far, remote } = linked(context)
      const app = (folder: 'near' | 'far', config: { services: object }) => {
        const { file, env } = busbarProgram(context, appFolder(context, folder), config)
        return nodeCommand({ file, env: { ...env, ...(packages !== undefined && { PACKAGES: packages }) } })
      }
      // Open when all its workers are ready.
      const farPort = context.port + 2
      const farApp = { gateway: { port: farPort }, services: called, ...far }
      const nearApp = { gateway: { entry: 'web' }, services: { web: caller, ...named(() => ({ remote })) }, ...near }
      const apps = [app('far', farApp), awaitPort(farPort), app('near', nearApp)]
      return commandGroup(context, path, [...before, ...apps])
    },
  }
}

function appFolder({ folder }: LaunchContext, name: 'near' | 'far'): string {
  return join(folder, name)
}

function overTcp(context: LaunchContext): Link {
  return { before: [], ...exported('tcp', context) }
}

/** One certificate for both saves time at the start. */
function overTls(context: LaunchContext): Link {
  const certs = join(context.folder, 'certs')
  const file = (name: string) => join(certs, name)
  const identity = { cert: file('app.pem'), key: file('app-key.pem'), ca: file('ca.pem') }
  const { far, ...rest } = exported('tls', context)
  return {
    ...rest,
    before: [{ ...nodeCommand({ file: armProgram('busbar/cert.ts'), env: { CERTS: certs } }), setsUp: true }],
    far: { ...far, identity },
    near: { identity },
  }
}

function exported(transport: 'tcp' | 'tls', { port }: LaunchContext): Omit<Link, 'before'> {
  const address = `127.0.0.1:${port + 1}`
  return {
    far: { export: { [transport]: address, services: names } },
    near: {},
    remote: `${transport}://${address}`,
  }
}

function throughNats(context: LaunchContext): Link {
  const cluster = { nats: addressOfNats(context), name: 'lab' }
  return {
    before: startNats(context),
    packages: context.packages,
    far: { cluster },
    near: { cluster },
    remote: 'cluster',
  }
}

function addressOfNats({ port }: LaunchContext): string {
  return `nats://127.0.0.1:${port + 1}`
}

/** The server writes no file. */
function startNats({ port }: LaunchContext): Command[] {
  const command = findCommand(natsServer.name) ?? natsServer.name
  return [{ command: [command, '--addr', '127.0.0.1', '--port', String(port + 1)] }, awaitPort(port + 1)]
}

/** Clients that begin too early wait before they try again, for seconds. */
function awaitPort(port: number): Command {
  return { ...nodeCommand({ file: armProgram('await-port.ts'), env: { PORT: String(port) } }), setsUp: true }
}

/** The caller in one program, the four services in another one. */
function byMessages(name: string, title: string, way: string): Arm {
  return {
    name,
    title,
    launch(context) {
      const env = {
        WAY: way,
        SERVICES: JSON.stringify(names),
        NATS: addressOfNats(context),
        PACKAGES: context.packages,
      }
      const programs = ['leaves', 'entry'].map((file) => ({ file: armProgram(`fanout/messages/${file}.ts`), env }))
      return commandGroup(context, path, [...startNats(context), ...programs.map(nodeCommand)])
    },
  }
}
