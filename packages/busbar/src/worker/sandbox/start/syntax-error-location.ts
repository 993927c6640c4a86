import { spawnSync } from 'node:child_process'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The module that was loaded last before a syntax error, so the one that did not compile. */
export interface LoadedModule {
  readonly url: string
  readonly format: string | null | undefined
  readonly source: string
}

/**
 * Adds the file and line of a syntax error to its stack. Node reports them only for the module that
 * it runs, not for one that is imported, so `node --check` runs in a process. This happens only
 * after a failed start.
 */
export function addErrorLocation(thrown: unknown, loaded: LoadedModule | undefined): void {
  if (!(thrown instanceof SyntaxError) || loaded === undefined || hasLocation(thrown)) return
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], {
    input: toJavaScript(loaded),
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: 5_000,
  })
  const location = /^\[stdin\](:\d+\n.*\n.*\n)/.exec(stderr)?.[1]
  if (location !== undefined) thrown.stack = `${fileURLToPath(loaded.url)}${location}\n${thrown.stack}`
}

/** Errors of CommonJS and of missing exports begin with it: `/app/cart.cjs:3`. */
function hasLocation({ stack = '' }: SyntaxError): boolean {
  return !stack.startsWith('SyntaxError')
}

/** Stripping replaces types by spaces, so lines and columns stay the same. */
function toJavaScript({ format, source }: LoadedModule): string {
  return format?.endsWith('-typescript') === true ? stripTypeScriptTypes(source) : source
}
