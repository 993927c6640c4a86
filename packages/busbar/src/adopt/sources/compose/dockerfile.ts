/** What the last stage of a Dockerfile starts. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { commandWords } from './compose-text.ts'

export interface DockerfileStart {
  /** Undefined: the image's own, which is not known. */
  readonly command: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
}

/** Undefined if there is no such file. `target`: the stage that counts. */
export async function readDockerfile(
  folder: string,
  name: string,
  target: string | undefined,
): Promise<DockerfileStart | undefined> {
  const text = await readFile(resolve(folder, name), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : startOf(text, target)
}

function startOf(text: string, target: string | undefined): DockerfileStart {
  let entrypoint: unknown
  let cmd: unknown
  let workdir = '/'
  let env: Record<string, string> = {}
  let isDone = false
  for (const [instruction, rest] of instructions(text)) {
    if (instruction === 'FROM') {
      if (isDone) break
      const [, stage] = /\sas\s+(\S+)$/i.exec(rest) ?? []
      isDone = target !== undefined && stage?.toLowerCase() === target.toLowerCase()
      // A stage from an earlier one inherits what that starts. It is rare, and ignored.
      ;[entrypoint, cmd, workdir, env] = [undefined, undefined, '/', {}]
    } else if (instruction === 'WORKDIR') workdir = resolve(workdir, rest)
    else if (instruction === 'ENTRYPOINT') [entrypoint, cmd] = [formOf(rest), undefined]
    else if (instruction === 'CMD') cmd = formOf(rest)
    else if (instruction === 'ENV') Object.assign(env, variablesOf(rest))
  }
  const parts = [entrypoint, cmd].map(commandWords).filter((part) => part !== undefined)
  return { command: parts.length === 0 ? undefined : parts.join(' '), env, workdir }
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
