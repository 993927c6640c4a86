import { BusbarError, type ErrorCode, type ErrorParts } from '../contract/errors.ts'

/**
 * Collects the problems of a config, so that one run reports all of them. A single problem is
 * thrown as it is. Several become one error with the code of the first, a message that lists all,
 * and the errors in `cause.errors`.
 */
export class Problems {
  /** Contents of secret files. No message shows them. */
  readonly secrets = new Set<string>()
  readonly #source: string
  readonly #found: BusbarError[] = []

  /** `source`: path of the config, or of the program's folder. */
  constructor(source: string) {
    this.#source = source
  }

  add(code: ErrorCode, parts: ErrorParts): void {
    this.addFrom(new BusbarError(code, parts))
  }

  /** Adds a caught BusbarError. Any other error is thrown again. */
  addFrom(error: unknown): void {
    if (!BusbarError.is(error)) throw error
    // A wrong value in `defaults` is found once per service.
    if (!this.#found.some(({ code, message }) => code === error.code && message === error.message))
      this.#found.push(error)
  }

  /** Runs one check. Undefined if it throws a BusbarError, which is added. */
  async collect<T>(check: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await check()
    } catch (error) {
      this.addFrom(error)
      return undefined
    }
  }

  throwIfAny(): void {
    const [first, second] = this.#found
    if (first === undefined) return
    if (second === undefined)
      throw new BusbarError(first.code, {
        message: `${this.#masked(first.message)} (${this.#source})`,
        cause: first.cause,
        ...(first.hint !== undefined && { hint: first.hint }),
        ...(first.service !== undefined && { service: first.service }),
      })
    throw new BusbarError(first.code, {
      message: `${this.#found.length} problems in ${this.#source}:\n${this.#masked(this.#found.map(line).join('\n'))}`,
      cause: new AggregateError(this.#found),
    })
  }

  /** Whether a value of the config came from a secret file. */
  isSecret(value: unknown): boolean {
    return typeof value === 'string' && [...this.secrets].some((secret) => secret !== '' && value.includes(secret))
  }

  #masked(text: string): string {
    let rest = text
    for (const secret of this.secrets) if (secret !== '') rest = rest.replaceAll(secret, '[redacted]')
    return rest
  }
}

function line(problem: BusbarError, index: number): string {
  const hint = problem.hint === undefined ? '' : `\n     ${problem.hint}`
  return `  ${index + 1}. ${problem.code}: ${problem.message}${hint}`
}
