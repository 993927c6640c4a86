import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Supported release lines of Node. All tests must pass on both. */
export type NodeLine = '24' | '26'

/**
 * The binary of a release line: 24 is a dependency of this repository, 26 is in `scripts/node-26`.
 * Undefined if not installed.
 */
export function nodeBinary(line: NodeLine): string | undefined {
  const exe = process.platform === 'win32' ? 'node.exe' : 'node'
  const folder =
    line === '24' ? 'node_modules/node' : `scripts/node-26/node_modules/node-26-${process.platform}-${process.arch}`
  const file = fileURLToPath(new URL(`../${folder}/bin/${exe}`, import.meta.url))
  return existsSync(file) ? file : undefined
}

export function isNodeLine(text: string): text is NodeLine {
  return text === '24' || text === '26'
}
