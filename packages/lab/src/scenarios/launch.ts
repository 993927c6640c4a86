import { join } from 'node:path'
import { armProgram, node, type Launch, type Place } from '../arm.ts'
import type { Expect } from '../engine/job.ts'

/** The ways of starting that several scenarios share. */

export interface Program {
  readonly file: string
  readonly env?: Readonly<Record<string, string>>
}

/** Uncompressed, and of a known length: an arm that compresses or sends in chunks does other work than its neighbours. */
export function exactly(body: string): Expect {
  return {
    body,
    headers: [
      ['content-encoding', null],
      ['content-length', String(Buffer.byteLength(body))],
    ],
  }
}

/** One program, run by the Node that runs the lab. It listens on `PORT`. */
export function program(place: Place, path: string, { file, env }: Program): Launch {
  return {
    command: [node, file],
    env: { PORT: String(place.port), WORKERS: String(place.workers), ...env },
    target: { address: `127.0.0.1:${place.port}`, path },
  }
}

/** What a requirement of Go has built, on as many processors as there are workers. */
export function goProgram(place: Place, path: string, env: Readonly<Record<string, string>>): Launch {
  const launch = program(place, path, { file: '', env: { GOMAXPROCS: String(place.workers), ...env } })
  return { ...launch, command: [join(place.packages, 'program')] }
}

/** Several at once, as processes of one shell, which becomes the last of them: no parent adds its memory to theirs. */
export function together(place: Place, path: string, programs: readonly Program[]): Launch {
  const line = ({ file, env }: Program) =>
    ['env', ...Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`), node, file].map(quoted).join(' ')
  const others = programs.slice(0, -1).map((each) => `${line(each)} & `)
  const script = `${others.join('')}exec ${line(programs.at(-1)!)}`
  return { ...program(place, path, { file: '' }), command: ['sh', '-c', script] }
}

/** An app under Busbar, its config without the folder and the entrance. */
export function busbar(
  place: Place,
  path: string,
  app: { readonly services: object } & Record<string, unknown>,
): Launch {
  const { gateway, ...rest } = app
  const config = {
    workers: place.workers,
    gateway: { host: '127.0.0.1', port: place.port, ...(gateway as object) },
    defaults: { run: 'shared' },
    ...rest,
  }
  return program(place, path, {
    file: armProgram('busbar/start.ts'),
    env: { APP: JSON.stringify(config), APP_FOLDER: place.folder },
  })
}

/** The newest when this was written. */
export const wattPackages = { wattpm: '3.67.0', '@platformatic/node': '3.65.0' }

/** Services under Watt, the first of them the entrance; metrics and logs off, as for every other arm. */
export function watt(place: Place, path: string, services: Readonly<Record<string, Program>>): Launch {
  return program(place, path, {
    file: armProgram('watt/start.ts'),
    env: {
      SERVICES: JSON.stringify(services),
      APP_FOLDER: place.folder,
      PACKAGES: place.packages,
      // Its sockets and notes go here, and away with the folder.
      TMPDIR: place.folder,
    },
  })
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
