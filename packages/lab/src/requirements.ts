import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { armSource, type Arm, type RequiredCommand, type Requirement } from './arm.ts'

/**
 * Requirements of arms that are not dependencies of the lab: npm packages and Go programs. Each set
 * has a folder in the user's cache, named by a hash of its content, which is created once and never
 * changes.
 */
export interface InstalledRequirements {
  /** Installed versions by package, and of `go` and other commands. */
  readonly versions: Readonly<Record<string, string>>
  /** Names of arms that cannot run, with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/** Debian installs servers here, which is not in the `PATH` of users. */
const serverFolders = ['/usr/sbin', '/usr/local/sbin']

/** The folder for an arm's requirements, whether it exists or not. */
export function requirementsFolder(arm: Arm): string {
  return arm.requires === undefined ? cacheFolder() : folderOf(arm.requires)
}

export interface InstallOptions {
  /** Called for each arm whose requirements take a while. */
  readonly onStart?: ((arm: Arm) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until a command that prints its version is ended. */
  readonly versionLimit?: number
  /** Milliseconds until one that installs or builds is ended. */
  readonly installLimit?: number
}

/**
 * Finds, installs and builds the requirements of arms. Never throws: failures are in `missing`, and
 * what the signal has ended, too.
 */
export async function installRequirements(
  arms: readonly Arm[],
  { onStart, signal, versionLimit = 30_000, installLimit = 1_200_000 }: InstallOptions = {},
): Promise<InstalledRequirements> {
  const installing = { signal, limit: installLimit }
  const versions: Record<string, string> = {}
  const missing = new Map<string, string>()
  for (const arm of new Set(arms)) {
    const { requires, requiresCommand } = arm
    try {
      // First, since nothing is to be installed for an arm that cannot run.
      if (requiresCommand !== undefined)
        Object.assign(versions, await versionOf(requiresCommand, { signal, limit: versionLimit }))
      if (requires !== undefined) Object.assign(versions, await installFor(arm, requires, installing, onStart))
    } catch (error) {
      missing.set(arm.name, (error as Error).message)
    }
  }
  return { versions, missing }
}

interface RunOptions {
  readonly signal: AbortSignal | undefined
  /** Milliseconds. */
  readonly limit: number
  readonly env?: NodeJS.ProcessEnv
}

async function versionOf(
  { name, printVersion, hint }: RequiredCommand,
  options: RunOptions,
): Promise<Record<string, string>> {
  const path = findCommand(name)
  if (path === undefined) throw new Error(`the command ${name} is not installed: ${hint}`)
  const printed = await run(path, printVersion, process.cwd(), options)
  return { [name]: /\d+(?:\.\d+)+/.exec(printed)?.[0] ?? 'unknown' }
}

async function installFor(
  arm: Arm,
  requirement: Requirement,
  options: RunOptions,
  onStart: ((arm: Arm) => void) | undefined,
): Promise<Record<string, string>> {
  const folder = folderOf(requirement)
  if (!existsSync(folder)) {
    onStart?.(arm)
    await create(folder, requirement, options)
  }
  return versionsIn(folder, requirement)
}

/** Created in a temporary folder and then renamed, so that an interrupted one is never used. */
async function create(folder: string, requirement: Requirement, options: RunOptions): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    await fill(draft, requirement, options)
    // Another run may have been faster. Its folder has the same content.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

function fill(folder: string, requirement: Requirement, options: RunOptions): Promise<void> {
  switch (requirement.kind) {
    case 'npm':
      return install(folder, requirement.packages, options)
    case 'go':
      return build(folder, requirement.source, options)
    case 'go-module':
      return buildModule(folder, requirement.source, options)
  }
}

async function install(folder: string, packages: Readonly<Record<string, string>>, options: RunOptions): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--workspaces=false', `--prefix=${folder}`]
  const names = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
  await run('npm', ['install', ...flags], folder, options).catch((error: unknown) => {
    throw new Error(`${names.join(', ')} could not be installed from the registry: ${(error as Error).message}`)
  })
}

/**
 * Uses only the standard library, so nothing is fetched, and has no module, so no workspace
 * applies.
 */
async function build(folder: string, source: string, options: RunOptions): Promise<void> {
  const env = { ...process.env, GOFLAGS: '', GOPROXY: 'off', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
  await run('go', ['build', '-o', join(folder, 'program'), fileURLToPath(armSource(source))], folder, {
    ...options,
    env,
  })
  await writeFile(join(folder, 'version'), await run('go', ['env', 'GOVERSION'], folder, { ...options, env }))
}

/** Its packages come from Go's proxy, unless they are in Go's own cache. */
async function buildModule(folder: string, source: string, options: RunOptions): Promise<void> {
  const module = fileURLToPath(armSource(source))
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' }
  await run('go', ['build', '-o', join(folder, 'program'), '.'], module, { ...options, env })
  await writeFile(join(folder, 'version'), await run('go', ['env', 'GOVERSION'], module, { ...options, env }))
}

async function versionsIn(folder: string, requirement: Requirement): Promise<Record<string, string>> {
  if (requirement.kind !== 'npm') {
    const go = (await readFile(join(folder, 'version'), 'utf8')).trim()
    return { go, ...(requirement.kind === 'go-module' && (await goPackages(requirement))) }
  }
  const found = Object.keys(requirement.packages).map(async (name) => {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return [name, (JSON.parse(text) as { version: string }).version] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

/** Versions that its `go.mod` requires. */
async function goPackages({ source, packages }: Requirement & { kind: 'go-module' }): Promise<Record<string, string>> {
  const text = await readFile(new URL('go.mod', armSource(source)), 'utf8')
  const required = new Map(text.split('\n').map((line) => line.trim().split(' ') as [string, string]))
  return Object.fromEntries(packages.map((name) => [name, required.get(name) ?? 'unknown']))
}

/**
 * Returns standard output. Throws with the end of standard error. The command, with all that it has
 * started, ends with the signal or at the limit.
 */
async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  { signal, limit, env = process.env }: RunOptions,
): Promise<string> {
  signal?.throwIfAborted()
  const isWindows = process.platform === 'win32'
  // Its group is its own, so that it can be ended as a whole.
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: isWindows,
    detached: !isWindows,
  })
  let isLate = false
  const end = (): void => endGroup(child)
  const late = (): void => {
    isLate = true
    end()
  }
  const timer = setTimeout(late, limit)
  signal?.addEventListener('abort', end, { once: true })
  const output = await outputOf(child, program).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  })
  signal?.throwIfAborted()
  const text = `${program} ${args[0]}`
  if (isLate) throw new Error(`${text} has not ended within ${limit / 1000} s, and was killed`)
  if (output.code === 0) return output.printed
  throw new Error(`${text} exited with ${output.code}\n${output.stderr.trim()}`)
}

async function outputOf(
  child: ChildProcess,
  program: string,
): Promise<{ readonly code: number | null; readonly printed: string; readonly stderr: string }> {
  let printed = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-1000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(`the command ${program} is not installed`) : error),
    )
    child.once('close', resolve)
  })
  return { code, printed, stderr }
}

function endGroup(child: ChildProcess): void {
  // What has left its group may keep the pipes open.
  child.stdout?.destroy()
  child.stderr?.destroy()
  if (process.platform === 'win32' || child.pid === undefined) return void child.kill('SIGKILL')
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function folderOf(requirement: Requirement): string {
  const content = contentOf(requirement)
  const hash = createHash('sha256').update(JSON.stringify([requirement.kind, content, process.platform, process.arch]))
  return join(cacheFolder(), hash.digest('hex').slice(0, 16))
}

/** What the folder follows from. */
function contentOf(requirement: Requirement): unknown {
  switch (requirement.kind) {
    case 'npm':
      return requirement.packages
    case 'go':
      return readFileSync(armSource(requirement.source), 'utf8')
    case 'go-module': {
      const folder = fileURLToPath(armSource(requirement.source))
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\.(go|mod|sum)$/.test(name),
      )
      return files.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')])
    }
  }
}

/** The path of a command: where `PATH` says, or where servers are installed. */
export function findCommand(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...folders, ...serverFolders].map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

export function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'busbar-lab')
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? homedir(), 'busbar-lab')
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'busbar-lab')
}
