/** Packages of what cargo builds, for the platform of this machine. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { entrancePackage, findEntrance } from '../packages/busbar/src/entrance/load.ts'
import { enginePackage, engineProgram } from '../packages/lab/src/engine/load.ts'

const execute = promisify(execFile)
const root = new URL('../', import.meta.url)

interface NativePackage {
  readonly name: string
  readonly description: string
  /** The package that it belongs to: of the same version and licence. */
  readonly of: 'busbar' | 'lab'
  /** The file as cargo has built it. Undefined if nobody has built it. */
  readonly built: () => string | undefined
  /** Its name in the package. */
  readonly file: string
  readonly readme: string
  /** Loaded by Node: it has a `main`, and needs the Node that its owner needs. */
  readonly isAddOn: boolean
}

const entrance: NativePackage = {
  name: entrancePackage,
  description: 'The native entrance of Busbar for one platform',
  of: 'busbar',
  built: findEntrance,
  file: 'entrance.node',
  readme: 'The native entrance of [Busbar](https://www.npmjs.com/package/busbar) for one platform.',
  isAddOn: true,
}

const engine: NativePackage = {
  name: enginePackage,
  description: "The load engine of Busbar's lab for one platform",
  of: 'lab',
  built() {
    const file = fileURLToPath(new URL(`target/release/${engineProgram}`, root))
    return existsSync(file) ? file : undefined
  },
  file: engineProgram,
  readme: "The load engine of [Busbar's lab](https://www.npmjs.com/package/busbar-lab) for one platform.",
  isAddOn: false,
}

/** Returns the path of the tarball. Undefined if nobody has built the entrance. */
export function packEntranceTo(destination: string): Promise<string | undefined> {
  return packTo(destination, entrance)
}

/** Returns the path of the tarball. Undefined if nobody has built the lab's load engine. */
export function packEngineTo(destination: string): Promise<string | undefined> {
  return packTo(destination, engine)
}

/**
 * What the manifest of `busbar` gets when it is packed. It is not in the repository: the lock file
 * would name packages that are not published.
 */
export function entranceDependency(version: string): Readonly<Record<string, string>> | undefined {
  return dependencyOn(entrance, version)
}

/** As {@link entranceDependency}, for the lab. */
export function engineDependency(version: string): Readonly<Record<string, string>> | undefined {
  return dependencyOn(engine, version)
}

function dependencyOn({ name, built }: NativePackage, version: string): Record<string, string> | undefined {
  return built() === undefined ? undefined : { [name]: version }
}

async function packTo(destination: string, what: NativePackage): Promise<string | undefined> {
  const { name, file, readme } = what
  const built = what.built()
  if (built === undefined) return undefined
  const staged = await mkdtemp(join(tmpdir(), 'busbar-pack-'))
  try {
    await cp(built, join(staged, file))
    // Only stack traces of crashes need the rest, which is most of the file.
    await execute('strip', ['--strip-debug', join(staged, file)]).catch(() => {})
    await cp(fileURLToPath(new URL('LICENSE', root)), join(staged, 'LICENSE'))
    await writeFile(join(staged, 'README.md'), `# ${name}\n\n${readme}\n`)
    await writeFile(join(staged, 'package.json'), `${JSON.stringify(await manifestOf(what), undefined, 2)}\n`)
    const options = ['--json', '--ignore-scripts', '--pack-destination', resolve(destination)]
    const { stdout } = await execute('npm', ['pack', ...options], { cwd: staged })
    const [packed] = JSON.parse(stdout) as { filename: string }[]
    return join(destination, packed!.filename)
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

async function manifestOf({ name, description, of, file, isAddOn }: NativePackage): Promise<object> {
  const text = await readFile(new URL(`packages/${of}/package.json`, root), 'utf8')
  const { version, license, engines } = JSON.parse(text) as Record<string, unknown>
  return {
    name,
    version,
    description,
    license,
    os: [process.platform],
    cpu: [process.arch],
    ...(process.platform === 'linux' && { libc: ['glibc'] }),
    files: [file],
    ...(isAddOn && { main: file, engines }),
  }
}
