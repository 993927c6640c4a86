/** Values of a Compose file (compose-spec, "Interpolation", "Specifying durations", "bytes"). */
import { isPlainObject } from '../../../config/schema/placeholders.ts'

/**
 * `$NAME`, `${NAME}` and their defaults as placeholders of Busbar. Without the variable they are
 * empty in Compose, and `${NAME:?error}` is an error in both.
 */
export function composeText(text: string): string {
  const pattern = /\$\$|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\})|\$\{/g
  return text.replaceAll(pattern, (found, short?: string, name?: string, kind = '', rest = '') => {
    if (found === '$$') return '$'
    if (found === '${') return '$${'
    if (short !== undefined) return `\${${short}:-}`
    if (kind.endsWith('?')) return `\${${name}}`
    // `+` is a value for the case that the variable is set, which Busbar does not know.
    return `\${${name}:-${kind.endsWith('-') ? rest : ''}}`
  })
}

/** A list of `NAME=value`, or an object. `NAME` alone is inherited, as every variable is here. */
export function composeVariables(value: unknown): Record<string, string> {
  const pairs: [string, unknown][] = Array.isArray(value)
    ? value.map((line): [string, unknown] => {
        const text = String(line)
        const at = text.indexOf('=')
        return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
      })
    : isPlainObject(value)
      ? Object.entries(value)
      : []
  const set = pairs.filter(([, one]) => one !== undefined && one !== null)
  return Object.fromEntries(set.map(([name, one]) => [name, composeText(String(one))]))
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001 }

/** Milliseconds of `1m30s`. */
export function composeDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value * 1000
  const parts = [...String(value).matchAll(/(\d+(?:\.\d+)?)(ms|us|h|m|s)/g)]
  if (parts.length === 0) return undefined
  return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0))
}

/** Bytes of `512m`. */
export function composeSize(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmg]?)b?$/i.exec(String(value).trim()) ?? []
  return amount === undefined
    ? undefined
    : Math.round(Number(amount) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' '))
}

export interface PublishedPort {
  readonly port: number
  /** Undefined: all addresses. */
  readonly host: string | undefined
}

/** The ports that reach the host, of TCP. A container port alone gets any free port. */
export function publishedPorts(value: unknown): PublishedPort[] {
  const list = Array.isArray(value) ? value : []
  return list.flatMap((one: unknown): PublishedPort[] => {
    if (isPlainObject(one)) {
      const { published, host_ip: host, protocol = 'tcp' } = one
      return protocol === 'tcp' ? portsOf(published, typeof host === 'string' ? host : undefined) : []
    }
    const text = composeText(String(one)).replaceAll(/\$\{\w+:-(\d*)\}/g, '$1')
    const [, host, published] = /^(?:(\[[^\]]*\]|[\d.]+):)?([\d-]+):[\d-]+(?:\/tcp)?$/.exec(text) ?? []
    return portsOf(published, host)
  })
}

/** `3000`, or all of `3000-3002`. */
function portsOf(value: unknown, host: string | undefined): PublishedPort[] {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(String(value)) ?? []
  const length = Math.min(Number(last) - Number(first) + 1, maxRange)
  return Array.from({ length: length > 0 ? length : 0 }, (_, index) => ({ port: Number(first) + index, host })).filter(
    ({ port }) => port > 0 && port <= 65_535,
  )
}

const maxRange = 100

/** The words of a command line, of which a list needs no shell. */
export function commandWords(value: unknown): string | undefined {
  if (typeof value === 'string') return value.replaceAll('$$', '$')
  if (!Array.isArray(value) || value.length === 0) return undefined
  const words = value.map(String)
  const [shell, flag, line] = words
  if (/^(\/bin\/)?(ba|a)?sh$/.test(shell!) && flag === '-c' && line !== undefined && words.length === 3) return line
  return words
    .map((word) => (/^[\w@%+=:,./$-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}
