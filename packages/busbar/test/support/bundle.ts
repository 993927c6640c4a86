import { isBuiltin } from 'node:module'
import { gzipSync } from 'node:zlib'
import { type OutputAsset, type OutputChunk, rolldown } from 'rolldown'

export interface Bundle {
  readonly code: string
  /** Imported modules of Node with the importing module. Browsers have none. */
  readonly builtins: readonly string[]
  /** What a page loads at first: without the modules that are imported when they are needed. */
  readonly bytes: number
  readonly gzipped: number
}

/** One minified module for browsers, from the sources of this package. `file`: absolute. */
export async function bundle(file: string): Promise<Bundle> {
  const builtins: string[] = []
  const recorder = {
    name: 'record-builtins',
    resolveId(id: string, importer: string | undefined) {
      if (!isBuiltin(id)) return undefined
      builtins.push(`${id} in ${importer}`)
      return { id, external: true }
    },
  }
  await using building = await rolldown({
    input: file,
    platform: 'browser',
    resolve: { conditionNames: ['busbar-source', 'browser', 'import'] },
    plugins: [recorder],
  })
  const whole = await building.generate({ format: 'es', minify: true, codeSplitting: false })
  const { output } = await building.generate({ format: 'es', minify: true })
  const first = [...loadedWith(output[0], output)].join('')
  const bytes = Buffer.byteLength(first)
  return { code: whole.output[0].code, builtins, bytes, gzipped: gzipSync(first, { level: 9 }).length }
}

/** The code of a chunk and of those that it imports. */
function* loadedWith(
  chunk: OutputChunk,
  all: readonly (OutputChunk | OutputAsset)[],
  seen = new Set<string>(),
): Generator<string> {
  if (seen.has(chunk.fileName)) return
  seen.add(chunk.fileName)
  yield chunk.code
  for (const other of all)
    if (other.type === 'chunk' && chunk.imports.includes(other.fileName)) yield* loadedWith(other, all, seen)
}
