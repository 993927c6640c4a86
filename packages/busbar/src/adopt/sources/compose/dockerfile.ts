/** What the last stage of a Dockerfile starts. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { commandWords } from './compose-text.ts'

export interface DockerfileStart {
  /** Undefined: the image's own, which is not known. */
  readonly command: string | undefined
  /** In front of a command of Compose, which only replaces `CMD`. */
  readonly entrypoint: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
}

export interface DockerfileBuild {
  /** The stage that counts. Undefined: the last. */
  readonly target: string | undefined
  /** Values for `ARG`. */
  readonly args: Readonly<Record<string, string>>
}

/** What the instructions of a stage have set. */
interface Stage {
  entrypoint?: unknown
  cmd?: unknown
  workdir: string
  readonly env: Record<string, string>
}

/** Undefined if there is no such file. */
export async function readDockerfile(
  folder: string,
  name: string,
  build: DockerfileBuild,
): Promise<DockerfileStart | undefined> {
  const text = await readFile(resolve(folder, name), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : startOf(text, build)
}

function startOf(text: string, { target, args: given }: DockerfileBuild): DockerfileStart {
  const stages = new Map<string, Stage>()
  const args: Record<string, string> = {}
  let name: string | undefined
  let stage: Stage = { workdir: '/', env: {} }
  for (const [instruction, rest] of instructions(text)) {
    const value = (): string => substituted(rest, { ...args, ...stage.env })
    if (instruction === 'FROM') {
      if (name !== undefined && name === target?.toLowerCase()) break
      const [, base = '', as] = /^(?:--\S+\s+)*(\S+)(?:\s+as\s+(\S+))?$/i.exec(rest) ?? []
      stage = structuredClone(stages.get(base.toLowerCase()) ?? { workdir: '/', env: {} })
      name = as?.toLowerCase()
      if (name !== undefined) stages.set(name, stage)
    } else if (instruction === 'ARG') Object.assign(args, argumentOf(value(), given))
    else if (instruction === 'WORKDIR') stage.workdir = resolve(stage.workdir, value())
    else if (instruction === 'ENTRYPOINT') Object.assign(stage, { entrypoint: formOf(rest), cmd: undefined })
    else if (instruction === 'CMD') stage.cmd = formOf(rest)
    else if (instruction === 'ENV') Object.assign(stage.env, variablesOf(value()))
  }
  const parts = [stage.entrypoint, stage.cmd].map(commandWords).filter((part) => part !== undefined)
  const command = parts.length === 0 ? undefined : parts.join(' ')
  return { command, entrypoint: commandWords(stage.entrypoint), env: stage.env, workdir: stage.workdir }
}

/** `ARG NAME=default`. */
function argumentOf(rest: string, given: DockerfileBuild['args']): Record<string, string> {
  const [, name = '', quoted, plain] = /^(\w+)(?:=(?:"([^"]*)"|(\S*)))?/.exec(rest) ?? []
  const value = given[name] ?? quoted ?? plain
  return value === undefined ? {} : { [name]: value }
}

/** `$NAME`, `${NAME}` and `${NAME:-default}`. What nothing has set is empty. */
function substituted(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\\\$|\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})/g,
    (found, short?: string, name?: string, fallback = '') =>
      found === '\\$' ? '$' : values[short ?? name!] || fallback,
  )
}

function* instructions(text: string): Generator<readonly [string, string]> {
  const lines = text.replaceAll(/\\[ \t]*\r?\n(?:[ \t]*#.*\r?\n)*/g, ' ').split(/\r?\n/)
  for (const line of lines) {
    const [, instruction, rest] = /^\s*([A-Za-z]+)\s+(.*\S)\s*$/.exec(line) ?? []
    if (instruction !== undefined && rest !== undefined) yield [instruction.toUpperCase(), rest]
  }
}

/** A JSON list, or a line for a shell. */
function formOf(rest: string): unknown {
  try {
    const list: unknown = JSON.parse(rest)
    if (Array.isArray(list)) return list
  } catch {
    // The line for a shell.
  }
  return rest
}

function variablesOf(rest: string): Record<string, string> {
  const pairs = [...rest.matchAll(/([A-Za-z_]\w*)=(?:"([^"]*)"|(\S*))/g)]
  if (pairs.length > 0)
    return Object.fromEntries(pairs.map(([, name, quoted, plain]) => [name!, quoted ?? plain ?? '']))
  const [, name, value] = /^(\w+)\s+(.*)$/.exec(rest) ?? []
  return name === undefined ? {} : { [name]: value! }
}
