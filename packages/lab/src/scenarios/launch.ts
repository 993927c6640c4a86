/** Launches that several scenarios use. */
import { join } from 'node:path'
import { armProgram, node, type Launch, type LaunchContext } from '../arm.ts'
import type { Expect } from '../engine/job.ts'

export interface Program {
  readonly file: string
  readonly env?: Readonly<Record<string, string>>
}

/** Expects this body, uncompressed and with a content-length, so that all arms do the same work. */
export function exactly(body: string): Expect {
  return {
    body,
    headers: [
      ['content-encoding', null],
      ['content-length', String(Buffer.byteLength(body))],
    ],
  }
}

/** A program that listens on `PORT`, run by the Node that runs the lab. */
export function program(context: LaunchContext, path: string, { file, env }: Program): Launch {
  return {
    command: [node, file],
    env: { PORT: String(context.port), WORKERS: String(context.workers), ...env },
    target: { address: `127.0.0.1:${context.port}`, path },
  }
}

/** The built Go program of the arm, limited to as many processors as there are workers. */
export function goProgram(context: LaunchContext, path: string, env: Readonly<Record<string, string>>): Launch {
  const launch = program(context, path, { file: '', env: { GOMAXPROCS: String(context.workers), ...env } })
  return { ...launch, command: [join(context.packages, 'program')] }
}

/** The same with the lab's certificate: programs read `TLS_CERT` and `TLS_KEY`. */
export function encrypted(plain: (context: LaunchContext) => Launch): (context: LaunchContext) => Launch {
  return (context) => {
    const { env, target, ...rest } = plain(context)
    const { cert, key } = context.certificate
    return { ...rest, env: { ...env, TLS_CERT: cert, TLS_KEY: key }, target: { ...target, tls: true } }
  }
}

/** The same over HTTP/2: programs read `HTTP2`. */
export function overHttp2(plain: (context: LaunchContext) => Launch): (context: LaunchContext) => Launch {
  return (context) => {
    const { env, target, ...rest } = plain(context)
    return { ...rest, env: { ...env, HTTP2: 'true' }, target: { ...target, protocol: 'http2' } }
  }
}

/** Several processes of Node. The last one is the leader. */
export function processGroup(context: LaunchContext, path: string, programs: readonly Program[]): Launch {
  return commandGroup(context, path, programs.map(nodeCommand))
}

/** A process of a group, which need not be one of Node. */
export interface Command {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The next one starts when this one has ended. If it fails, so does the arm. */
  readonly setsUp?: boolean
}

export function nodeCommand({ file, env }: Program): Command {
  return { command: [node, file], ...(env && { env }) }
}

/**
 * Several processes, started by a shell that `exec`s the last one, so that its memory does not
 * count.
 */
export function commandGroup(context: LaunchContext, path: string, commands: readonly Command[]): Launch {
  const line = ({ command, env }: Command) =>
    ['env', ...Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`), ...command].map(quoted).join(' ')
  const others = commands.slice(0, -1).map((each) => line(each) + (each.setsUp ? ' || exit 1; ' : ' & '))
  const script = `${others.join('')}exec ${line(commands.at(-1)!)}`
  return { ...program(context, path, { file: '' }), command: ['sh', '-c', script] }
}

/** An app under Busbar. `app` is its config, without the address of the gateway. */
export function busbar(
  context: LaunchContext,
  path: string,
  app: { readonly services: object } & Record<string, unknown>,
): Launch {
  return program(context, path, busbarProgram(context, context.folder, app))
}

/** The same as a program. Several of them need different folders and gateways. */
export function busbarProgram(
  context: LaunchContext,
  folder: string,
  { gateway, ...rest }: { readonly services: object } & Record<string, unknown>,
): Program {
  const config = {
    workers: context.workers,
    gateway: { host: '127.0.0.1', port: context.port, ...(gateway as object) },
    defaults: { run: 'shared' },
    ...rest,
  }
  return { file: armProgram('busbar/start.ts'), env: { APP: JSON.stringify(config), APP_FOLDER: folder } }
}

export const wattPackages = { wattpm: '3.67.0', '@platformatic/node': '3.65.0' }

/** Services under Watt. The first is the entrypoint. Metrics and logs are off, as in all arms. */
export function watt(context: LaunchContext, path: string, services: Readonly<Record<string, Program>>): Launch {
  return program(context, path, {
    file: armProgram('watt/start.ts'),
    env: {
      SERVICES: JSON.stringify(services),
      APP_FOLDER: context.folder,
      PACKAGES: context.packages,
      // Its sockets and temporary files are deleted with the folder.
      TMPDIR: context.folder,
    },
  })
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
