import { isBuiltin } from 'node:module'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

export interface Bundle {
  readonly code: string
  /** Modules of Node that it asks for, and which module does. A browser has none. */
  readonly builtins: readonly string[]
  readonly bytes: number
  readonly gzipped: number
}

/** One minified module for browsers, from the sources of this package. `file`: absolute. */
export async function bundle(file: string): Promise<Bundle> {
  const builtins: string[] = []
  const noting = {
    name: 'note-builtins',
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
    plugins: [noting],
  })
  const { output } = await building.generate({ format: 'es', minify: true, codeSplitting: false })
  const { code } = output[0]
  return { code, builtins, bytes: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length }
}
