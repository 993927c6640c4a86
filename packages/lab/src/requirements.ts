import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { armSource, type Arm, type Requirement } from './arm.ts'

/**
 * Requirements of arms that are not dependencies of the lab: npm packages and Go programs. Each set
 * has a folder in the user's cache, named by a hash of its content, which is created once and never
 * changes.
 */
export interface InstalledRequirements {
  /** Installed versions by package, and of `go`. */
  readonly versions: Readonly<Record<string, string>>
  /** Names of arms that cannot run, with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/** The folder for an arm's requirements, whether it exists or not. */
export function requirementsFolder(arm: Arm): string {
  return arm.requires === undefined ? cacheFolder() : folderOf(arm.requires)
}

/**
 * Installs and builds the requirements of arms. `onStart` is called for each that takes a while.
 * Never throws: failures are in `missing`.
 */
export async function installRequirements(
  arms: readonly Arm[],
  onStart?: (arm: Arm) => void,
): Promise<InstalledRequirements> {
  const versions: Record<string, string> = {}
  const missing = new Map<string, string>()
  for (const arm of new Set(arms)) {
    if (arm.requires === undefined) continue
    try {
      Object.assign(versions, await installFor(arm, arm.requires, onStart))
    } catch (error) {
      missing.set(arm.name, (error as Error).message)
    }
  }
  return { versions, missing }
}

async function installFor(
  arm: Arm,
  requirement: Requirement,
  onStart: ((arm: Arm) => void) | undefined,
): Promise<Record<string, string>> {
  const folder = folderOf(requirement)
  if (!existsSync(folder)) {
    onStart?.(arm)
    await create(folder, requirement)
  }
  return versionsIn(folder, requirement)
}

/** Created in a temporary folder and then renamed, so that an interrupted one is never used. */
async function create(folder: string, requirement: Requirement): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    await (requirement.kind === 'npm' ? install(draft, requirement.packages) : build(draft, requirement.source))
    // Another run may have been faster. Its folder has the same content.
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

/**
 * Uses only the standard library, so nothing is fetched, and has no module, so no workspace
 * applies.
 */
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

/** Returns standard output. Throws with the end of standard error. */
async function run(program: string, args: readonly string[], cwd: string, env = process.env): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  let printed = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-1000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(`the command ${program} is not installed`) : error),
    )
    child.once('close', resolve)
  })
  if (code === 0) return printed
  throw new Error(`${program} ${args[0]} exited with ${code}\n${stderr.trim()}`)
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
