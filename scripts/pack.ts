import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.ts'
import { engineDependency, entranceDependency } from './pack-native.ts'

/** Packages with entry points. */
export const packages = ['busbar', 'lab'] as const
/** All that are published. */
export const publishedPackages = [...packages, 'create-busbar'] as const

/** A condition in `exports` that leads to sources, for this repository only. */
const sourceCondition = 'busbar-source'

/** Packages for one platform that belong to a package. */
const binaries: Partial<Record<(typeof publishedPackages)[number], typeof entranceDependency>> = {
  busbar: entranceDependency,
  lab: engineDependency,
}

type Manifest = Readonly<Record<string, unknown>> & { readonly files: readonly string[] }

/**
 * Packs a built package for publication, and returns the path of the tarball. The published
 * manifest has no source condition and no development dependencies, and is not private. It is
 * written to a copy of the package. Source maps are left out: they lead to sources, which are not
 * published, so that stack traces would name files that do not exist.
 */
export async function packTo(destination: string, name: (typeof publishedPackages)[number]): Promise<string> {
  const source = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  const staged = await mkdtemp(join(tmpdir(), 'busbar-pack-'))
  try {
    const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest
    for (const file of [...manifest.files, 'README.md', 'LICENSE'])
      await cp(join(source, file), join(staged, file), { recursive: true, filter: (path) => !path.endsWith('.map') })
    if (name === 'busbar') await bundle(join(source, 'dist'), join(staged, 'dist'))
    if (manifest.files.includes('dist')) await removeLinksToMaps(join(staged, 'dist'))
    const optional = binaries[name]?.(String(manifest['version']))
    const published = { ...publishedManifest(manifest), ...(optional && { optionalDependencies: optional }) }
    await writeFile(join(staged, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`)
    const options = ['--json', '--ignore-scripts', '--pack-destination', resolve(destination)]
    const { stdout } = await promisify(execFile)('npm', ['pack', ...options], { cwd: staged })
    const [packed] = JSON.parse(stdout) as { filename: string }[]
    return join(destination, packed!.filename)
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

async function removeLinksToMaps(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  for (const file of names.filter((name) => /\.[cm]?js$/.test(name)).map((name) => join(folder, name))) {
    const text = await readFile(file, 'utf8')
    const without = text.replace(/^\/\/# sourceMappingURL=\S+\.map\s*$/m, '')
    if (without !== text) await writeFile(file, without)
  }
}

export function publishedManifest({
  private: _private,
  devDependencies: _tools,
  ...manifest
}: Manifest): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(manifest), (key, value: unknown) =>
    key === sourceCondition ? undefined : value,
  ) as Manifest
}
