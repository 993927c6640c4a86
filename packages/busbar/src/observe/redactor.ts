/** Hides secrets in log lines: known values anywhere, and usual fields of JSON lines. */
import { inspect } from 'node:util'

const mask = '[redacted]'

/** Shorter values occur in innocent text too often. */
const shortest = 4

/** A line of a value with several lines, such as a key in PEM. Shorter ones are not telling. */
const shortestPart = 8

/** A field's name with its quotes, hyphens and spaces. */
const longestName = 256

/** In lower case, without hyphens and underscores. */
const usualFields = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'clientsecret',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'apikey',
  'xapikey',
  'privatekey',
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
]

/** A value of JSON, whole or broken off; of an object or a list, up to its first inner end. */
const anyValue = String.raw`"(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^\s",{}[\]]+`

export interface RedactorOptions {
  /** Values that are hidden wherever they occur. */
  readonly secrets: readonly string[]
  /** Further names of fields. */
  readonly fields: readonly string[]
}

export class Redactor {
  readonly #values: readonly string[]
  /** Characters of the longest value, and of any field's name. */
  readonly #longest: number
  readonly #fields: ReadonlySet<string>
  /** Whether a line may have one of the fields. Cheaper than parsing every line. */
  readonly #mayHaveField: RegExp
  /** A field with its value, in text that is not JSON as a whole. */
  readonly #field: RegExp

  constructor({ secrets, fields }: RedactorOptions) {
    // The longest first: one secret may contain another.
    this.#values = [...new Set(secrets.flatMap(formsOf))].toSorted((one, other) => other.length - one.length)
    this.#longest = Math.max(longestName, ...this.#values.map(({ length }) => length))
    const names = [...usualFields, ...fields.map(normalise)].filter((name) => name !== '')
    this.#fields = new Set(names)
    const patterns = names.map((name) => Array.from(name, escaped).join('[-_]*'))
    const field = String.raw`"[-_]*(?:${patterns.join('|')})[-_]*"\s*:`
    this.#mayHaveField = new RegExp(field, 'i')
    this.#field = new RegExp(String.raw`(${field}\s*)(?:${anyValue})`, 'gi')
  }

  /** One line of output. */
  line(line: string): string {
    return this.#withoutFields(this.text(line))
  }

  /**
   * How much of a text that goes on may be redacted without the rest: up to there, nothing that is
   * hidden reaches across.
   */
  settled(text: string): number {
    const fields = this.#mayHaveField.test(text) ? [...text.matchAll(this.#field)] : []
    for (let end = Math.max(0, text.length - this.#longest); ;) {
      const values = this.#values.map((value) => ({ start: text.lastIndexOf(value, end - 1), length: value.length }))
      const named = fields.map(({ index, 0: { length } }) => ({ start: index, length }))
      const across = [...values, ...named].filter(
        ({ start, length }) => start >= 0 && start < end && start + length > end,
      )
      if (across.length === 0) return end
      end = Math.min(...across.map(({ start }) => start))
    }
  }

  /** Any text: hides only the known values. */
  text(text: string): string {
    let rest = text
    for (const value of this.#values) if (rest.includes(value)) rest = rest.replaceAll(value, mask)
    return rest
  }

  /**
   * A value of Busbar's own that is JSON, such as the fields of an event. Only its texts: a number
   * that looks like a secret must stay a number. Each on its own: in the text of the whole, a
   * secret that is JSON within a field would be escaped twice.
   */
  fields(fields: object): Readonly<Record<string, unknown>> {
    if (this.#values.length === 0) return fields as Readonly<Record<string, unknown>>
    return this.#hideIn(JSON.parse(JSON.stringify(fields))) as Readonly<Record<string, unknown>>
  }

  #hideIn(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((one) => this.#hideIn(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.text(name), this.#hideIn(one)]))
  }

  #withoutFields(line: string): string {
    if (!this.#mayHaveField.test(line)) return line
    try {
      return JSON.stringify(
        JSON.parse(line, (key, value: unknown) => (this.#fields.has(normalise(key)) ? mask : value)),
      )
    } catch {
      // Text with JSON in it, or a part of a line that is too long for one record.
      return line.replaceAll(this.#field, `$1"${mask}"`)
    }
  }
}

/**
 * How a secret may occur in a line: as it is or one line at a time; and each of these within JSON,
 * in an object that `console.log` shows, or in a URL.
 */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= shortestPart)
  const plain = [secret, secret.trim(), ...lines]
  const forms = plain.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    inspect(text).slice(1, -1),
    encoded(text),
  ])
  return forms.filter((form) => form.length >= shortest)
}

function encoded(text: string): string {
  // A lone surrogate has no form in a URL.
  return encodeURIComponent(text.toWellFormed())
}

function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

function escaped(letter: string): string {
  return letter.replace(/\W/u, String.raw`\$&`)
}
