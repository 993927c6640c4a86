import { spawnSync } from 'node:child_process'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The module that was loaded last when a syntax error came, hence the one that did not compile. */
export interface Loaded {
  readonly url: string
  readonly format: string | null | undefined
  readonly source: string
}

/**
 * Adds the place of a syntax error to its stack. Node keeps it from whoever imports an ES module and tells it only to
 * whoever runs one: so a process is asked, which costs nothing but the time of a start that has failed.
 */
export function addPlace(thrown: unknown, loaded: Loaded | undefined): void {
  if (!(thrown instanceof SyntaxError) || loaded === undefined || hasPlace(thrown)) return
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], {
    input: javaScriptOf(loaded),
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: 5_000,
  })
  const place = /^\[stdin\](:\d+\n.*\n.*\n)/.exec(stderr)?.[1]
  if (place !== undefined) thrown.stack = `${fileURLToPath(loaded.url)}${place}\n${thrown.stack}`
}

/** Errors of CommonJS and of unmet imports have it above the message: `/app/cart.cjs:3`. */
function hasPlace({ stack = '' }: SyntaxError): boolean {
  return !stack.startsWith('SyntaxError')
}

/** Stripping leaves spaces, so that every place stays the same. */
function javaScriptOf({ format, source }: Loaded): string {
  return format?.endsWith('-typescript') === true ? stripTypeScriptTypes(source) : source
}
