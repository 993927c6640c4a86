import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { armSource, type Arm, type Requirement } from './arm.ts'

/**
 * What arms require and the lab does not depend on: packages of the registry, and programs in Go. Each set has a
 * folder of its own in the user's cache, named after what is in it, so that it is made once and never changes.
 */
export interface Provided {
  /** Versions as they were found, for the result: packages by name, and `go`. */
  readonly versions: Readonly<Record<string, string>>
  /** Arms that cannot run here, each with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/** Where that is; whether it is there yet or not. */
export function packagesOf(arm: Arm): string {
  return arm.requires === undefined ? cacheFolder() : folderOf(arm.requires)
}

/**
 * Installs and builds what these arms require. `onStart` hears of each that takes a while. Never throws:
 * what failed is `missing`.
 */
export async function provide(arms: readonly Arm[], onStart?: (arm: Arm) => void): Promise<Provided> {
  const versions: Record<string, string> = {}
  const missing = new Map<string, string>()
  for (const arm of new Set(arms)) {
    if (arm.requires === undefined) continue
    try {
      Object.assign(versions, await provideOne(arm, arm.requires, onStart))
    } catch (error) {
      missing.set(arm.name, (error as Error).message)
    }
  }
  return { versions, missing }
}

async function provideOne(
  arm: Arm,
  requirement: Requirement,
  onStart: ((arm: Arm) => void) | undefined,
): Promise<Record<string, string>> {
  const folder = folderOf(requirement)
  if (!existsSync(folder)) {
    onStart?.(arm)
    await make(folder, requirement)
  }
  return versionsIn(folder, requirement)
}

/** Made beside its place and moved there whole: one that was interrupted is never taken for good. */
async function make(folder: string, requirement: Requirement): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    await (requirement.kind === 'npm' ? install(draft, requirement.packages) : build(draft, requirement.source))
    // Another run may have been faster: what it made is the same.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function install(folder: string, packages: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--workspaces=false', `--prefix=${folder}`]
  const names = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
  await run('npm', ['install', ...flags], folder).catch((error: unknown) => {
    throw new Error(`${names.join(', ')} could not be installed from the registry: ${(error as Error).message}`)
  })
}

/** From the standard library only, so nothing is fetched; without a module, hence outside of any workspace. */
async function build(folder: string, source: string): Promise<void> {
  const env = { ...process.env, GOFLAGS: '', GOPROXY: 'off', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
  await run('go', ['build', '-o', join(folder, 'program'), fileURLToPath(armSource(source))], folder, env)
  await writeFile(join(folder, 'version'), await run('go', ['env', 'GOVERSION'], folder, env))
}

async function versionsIn(folder: string, requirement: Requirement): Promise<Record<string, string>> {
  if (requirement.kind === 'go') return { go: (await readFile(join(folder, 'version'), 'utf8')).trim() }
  const found = Object.keys(requirement.packages).map(async (name) => {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return [name, (JSON.parse(text) as { version: string }).version] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

/** What it printed to standard output; throws with the last lines of what it complained of. */
async function run(program: string, args: readonly string[], cwd: string, env = process.env): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  let printed = ''
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-1000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(`there is no command ${program} here`) : error),
    )
    child.once('close', resolve)
  })
  if (code === 0) return printed
  throw new Error(`${program} ${args[0]} ended with ${code}\n${complaint.trim()}`)
}

function folderOf(requirement: Requirement): string {
  const content =
    requirement.kind === 'npm' ? requirement.packages : readFileSync(armSource(requirement.source), 'utf8')
  const hash = createHash('sha256').update(JSON.stringify([requirement.kind, content, process.platform, process.arch]))
  return join(cacheFolder(), hash.digest('hex').slice(0, 16))
}

export function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'busbar-lab')
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? homedir(), 'busbar-lab')
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'busbar-lab')
}
