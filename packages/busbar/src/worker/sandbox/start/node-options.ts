import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import type { ProgramProcess } from '../process/program-process.ts'

/**
 * Applies the Node flags of `scripts.start` in a running thread. Returns a warning for each flag
 * that has no effect there. Must run in the program's scope.
 */
export async function applyNodeOptions(program: ProgramProcess): Promise<string[]> {
  const warnings: string[] = []
  for (const { flag, value } of parseFlags(program.service.entry.nodeOptions)) {
    const apply = flags.get(flag)
    if (apply === undefined) warnings.push(`Node's flag ${flag} of scripts.start has no effect in a thread`)
    else await apply(program, value)
  }
  return warnings
}

interface Flag {
  readonly flag: string
  readonly value: string
}

type Apply = (program: ProgramProcess, value: string) => unknown

const flags = new Map<string, Apply>([
  ['--import', importModule],
  ['--require', requireModule],
  ['-r', requireModule],
  ['--loader', registerLoader],
  ['--experimental-loader', registerLoader],
  ['--env-file', (program, file) => readEnvFile(program, file)],
  ['--env-file-if-exists', readEnvFileIfExists],
  ['--enable-source-maps', () => process.setSourceMapsEnabled(true)],
  // The default in this Node, or without effect on the program's behaviour.
  ...[
    '--experimental-strip-types',
    '--strip-types',
    '--experimental-detect-module',
    '--no-warnings',
    '--trace-warnings',
  ].map((flag): [string, Apply] => [flag, () => {}]),
])

const takesValue = /^(--import|--require|-r|--(experimental-)?loader|--env-file(-if-exists)?|--conditions|-C|--title)$/

function* parseFlags(options: readonly string[]): Generator<Flag> {
  for (let i = 0; i < options.length; i++) {
    const option = options[i]!
    const equals = option.startsWith('--') ? option.indexOf('=') : -1
    if (equals > 0) yield { flag: option.slice(0, equals), value: option.slice(equals + 1) }
    else yield { flag: option, value: takesValue.test(option) ? (options[++i] ?? '') : '' }
  }
}

/** Node resolves the modules that flags name from the working directory. */
function parentOf(program: ProgramProcess): string {
  return join(program.service.path, 'package.json')
}

/**
 * Imports a module from the program's folder, so that its packages and their `import` condition
 * apply.
 */
async function importModule(program: ProgramProcess, specifier: string): Promise<void> {
  const parentURL = pathToFileURL(parentOf(program)).href
  // Programs may start concurrently: the name tells which import this is.
  const unique = `busbar:${randomUUID()}`
  const hooks = Module.registerHooks({
    resolve: (name, context, next) =>
      name === unique ? next(specifier, { ...context, parentURL }) : next(name, context),
  })
  try {
    await import(unique)
  } finally {
    hooks.deregister()
  }
}

function requireModule(program: ProgramProcess, specifier: string): void {
  createRequire(parentOf(program))(specifier)
}

function registerLoader(program: ProgramProcess, specifier: string): void {
  Module.register(specifier, pathToFileURL(parentOf(program)))
}

/** Existing variables win over the file's, as in Node. */
function readEnvFile(program: ProgramProcess, file: string): void {
  const variables = parseEnv(readFileSync(resolve(program.service.path, file), 'utf8'))
  for (const [key, value] of Object.entries(variables)) if (value !== undefined) program.env[key] ??= value
}

function readEnvFileIfExists(program: ProgramProcess, file: string): void {
  try {
    readEnvFile(program, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
