import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The lines of Node that everything has to pass on. */
export type NodeLine = '24' | '26'

/** The binary of a line: 24 is a dependency of this repository, 26 lies beside it. Undefined where there is none here. */
export function nodeOf(line: NodeLine): string | undefined {
  const exe = process.platform === 'win32' ? 'node.exe' : 'node'
  const place =
    line === '24' ? 'node_modules/node' : `scripts/node-26/node_modules/node-26-${process.platform}-${process.arch}`
  const file = fileURLToPath(new URL(`../${place}/bin/${exe}`, import.meta.url))
  return existsSync(file) ? file : undefined
}

export function isNodeLine(text: string): text is NodeLine {
  return text === '24' || text === '26'
}
