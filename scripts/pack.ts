import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const packages = ['busbar', 'lab'] as const

/** Names a source file in `exports`, for this repository alone. */
const sourceCondition = 'busbar-source'

type Manifest = Readonly<Record<string, unknown>> & { readonly files: readonly string[] }

/**
 * Packs a built package as it is published, and resolves to the path of its tarball. The manifest differs from the repository's:
 * it names no sources, no development dependencies, and is not private. It is written to a copy, so that
 * nothing has to be put back.
 */
export async function packTo(destination: string, name: (typeof packages)[number]): Promise<string> {
  const source = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  const staged = await mkdtemp(join(tmpdir(), 'busbar-pack-'))
  try {
    const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest
    for (const file of [...manifest.files, 'README.md', 'LICENSE'])
      await cp(join(source, file), join(staged, file), { recursive: true })
    await writeFile(join(staged, 'package.json'), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`)
    const options = ['--json', '--ignore-scripts', '--pack-destination', resolve(destination)]
    const { stdout } = await promisify(execFile)('npm', ['pack', ...options], { cwd: staged })
    const [packed] = JSON.parse(stdout) as { filename: string }[]
    return join(destination, packed!.filename)
  } finally {
    await rm(staged, { recursive: true, force: true })
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
