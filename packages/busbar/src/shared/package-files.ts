/**
 * Where the files of this package are: in the sources, in the build, and in the published package,
 * whose modules are bundled. There this module is a file of its own, at the same place
 * (`scripts/bundle.ts`), so it is always one folder below the code. Nothing is read when it is
 * loaded: in a bundle of a user, `import.meta.url` may be undefined.
 */
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `src` or `dist`. Stack lines with this path are Busbar's own. */
export function codeFolder(): string {
  return fileURLToPath(new URL('..', import.meta.url))
}

/**
 * A module that is started by its path, such as `worker/main`. Its extension is `.ts` in the
 * sources and `.js` in the build; `.cts` and `.cjs` for CommonJS.
 */
export function moduleFile(path: string, format: 'module' | 'commonjs' = 'module'): URL {
  const extension = extname(import.meta.url)
  return new URL(`../${path}${format === 'module' ? extension : extension.replace('.', '.c')}`, import.meta.url)
}

/** A file or folder of the package, such as `package.json`. What the build makes is in `dist/`. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}

/**
 * True in the published package. Its files name others by a hash of their content, so that the
 * content of a file stands for all that it imports.
 */
export function isBundled(): boolean {
  return existsSync(new URL('../chunks/', import.meta.url))
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
