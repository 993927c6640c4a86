import type { AppConfig } from '../config/schema/app-schema.ts'

export interface ConfigTextOptions {
  /** Whether `busbar` can be imported from the folder of the config. */
  readonly canImport: boolean
  /** Lines above the config. */
  readonly comments?: readonly string[]
}

const width = 110

/** The text of a `busbar.config.ts`. It starts as it is. */
export function configText(config: AppConfig, { canImport, comments = [] }: ConfigTextOptions): string {
  const above = comments.map((line) => `// ${line.replaceAll(/[\r\n]+/g, ' ')}\n`).join('')
  const value = format(config, 0)
  if (canImport) return `import { defineApp } from 'busbar'\n\n${above}export default defineApp(${value})\n`
  return `${above}/** @type {import('busbar').AppConfig} */\nexport default ${value}\n`
}

/**
 * JSON as this repository writes literals: plain keys, single quotes, short objects on one line.
 */
function format(value: unknown, depth: number): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inline = formatInline(value)
  // Services and the app itself stay readable as one line for each.
  const isShort = inline.length + depth * 2 + 12 <= width
  if (isShort && (depth > 1 || !hasObjects(value))) return inline
  const indent = '  '.repeat(depth + 1)
  const parts = Array.isArray(value)
    ? value.map((part) => `${indent}${format(part, depth + 1)},`)
    : entriesOf(value).map(([key, part]) => `${indent}${keyText(key)}: ${format(part, depth + 1)},`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return [open, ...parts, `${'  '.repeat(depth)}${close}`].join('\n')
}

function formatInline(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(formatInline).join(', ')}]`
  const parts = entriesOf(value).map(([key, part]) => `${keyText(key)}: ${formatInline(part)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, part]) => part !== undefined)
}

function hasObjects(value: object): boolean {
  return Object.values(value).some((part) => typeof part === 'object' && part !== null && !Array.isArray(part))
}

function keyText(key: string): string {
  // `__proto__: …` in a literal sets the prototype.
  if (key === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
}

/** A JSON text is a valid literal of JavaScript. */
function quote(text: string): string {
  const json = JSON.stringify(text).slice(1, -1)
  return `'${json.replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`
}
