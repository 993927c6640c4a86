/** A parsed `scripts.start` of the form `NAME=value node --flag file args`. */
export interface StartScript {
  readonly file: string
  readonly args: readonly string[]
  readonly nodeOptions: readonly string[]
  /** Variables of `NAME=value`, also after `env` or `cross-env`. */
  readonly env: Readonly<Record<string, string>>
  readonly envFiles: readonly EnvFileFlag[]
}

export interface EnvFileFlag {
  readonly file: string
  readonly optional: boolean
}

/** Node flags whose value is the next word if they have no `=`. */
const flagsWithValue = new Set(
  [
    '-r --require --import --loader --experimental-loader -C --conditions --title --icu-data-dir --disable-warning',
    '--watch-path --env-file --env-file-if-exists --openssl-config --dns-result-order --diagnostic-dir --input-type',
    '--redirect-warnings --unhandled-rejections --trace-event-categories --cpu-prof-dir --heap-prof-dir --report-dir',
    '--report-directory --experimental-default-type',
  ].flatMap((line) => line.split(' ')),
)

/** Flags with which Node does not run a file. */
const flagsWithoutFile = new Set(
  '-e --eval -p --print -pe -i --interactive -c --check --test --run -v --version -h --help'.split(' '),
)

/** Undefined unless the script is a single call of `node` with a file. */
export function parseStartScript(script: string): StartScript | undefined {
  const words = splitWords(script)
  if (words === undefined) return undefined
  const env: Record<string, string> = {}
  while (words.length > 0 && isPrefix(words[0]!)) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(words.shift()!) ?? []
    if (name !== undefined) env[name] = value!
  }
  return isNode(words.shift()) ? parseNodeCall(words, env) : undefined
}

function parseNodeCall(words: string[], env: Record<string, string>): StartScript | undefined {
  const nodeOptions: string[] = []
  const envFiles: EnvFileFlag[] = []
  for (;;) {
    const word = words.shift()
    if (word === undefined || flagsWithoutFile.has(splitFlag(word)[0])) return undefined
    const file = word === '--' ? words.shift() : word.startsWith('-') ? undefined : word
    if (file !== undefined) return { file, args: words, nodeOptions, env, envFiles }
    const [flag, inline] = splitFlag(word)
    const value = inline ?? (flagsWithValue.has(flag) ? words.shift() : undefined)
    if (flag === '--env-file' || flag === '--env-file-if-exists')
      envFiles.push({ file: value ?? '', optional: flag !== '--env-file' })
    else nodeOptions.push(...(value === undefined || inline !== undefined ? [word] : [word, value]))
  }
}

function splitFlag(word: string): [flag: string, value: string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

function isPrefix(word: string): boolean {
  return word === 'env' || word === 'cross-env' || word === 'exec' || /^[A-Za-z_]\w*=/.test(word)
}

function isNode(word: string | undefined): boolean {
  return word !== undefined && /(^|[\\/])node(\.exe)?$/.test(word)
}

/** Splits words as a shell does. Undefined if that needs a shell (`&&`, `|`, `$NAME`, a glob). */
export function splitWords(script: string): string[] | undefined {
  const pattern = /\s*((?:'[^']*'|"(?:[^"\\$`]|\\.)*"|\\[^\n]|[^\s'"\\&|;<>()$`*?!#~{}])+)(?=\s|$)/gy
  const words: string[] = []
  const text = script.trim()
  let end = 0
  for (const match of text.matchAll(pattern)) {
    words.push(unquote(match[1]!))
    end = match.index + match[0].length
  }
  return end === text.length && words.length > 0 ? words : undefined
}

function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
    (_, single?: string, double?: string, escaped?: string) => {
      if (single !== undefined) return single
      // Inside double quotes a backslash escapes only special characters.
      return double === undefined ? escaped! : double.replaceAll(/\\(["\\$`])/g, '$1')
    },
  )
}
