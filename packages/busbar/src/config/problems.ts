import { BusbarError, type ErrorCode, type ErrorParts } from '../contract/errors.ts'

/**
 * Gathers what is wrong with a config, so that one run tells all of it. One problem is thrown as itself; several as
 * one error with the code of the first, a message that lists each, and all of them in `cause.errors`.
 */
export class Problems {
  readonly #source: string
  readonly #found: BusbarError[] = []

  /** `source`: the file, or the folder, that the problems are in. */
  constructor(source: string) {
    this.#source = source
  }

  add(code: ErrorCode, parts: ErrorParts): void {
    this.addFrom(new BusbarError(code, parts))
  }

  /** A BusbarError that was caught is a problem like others; anything else goes on being thrown. */
  addFrom(error: unknown): void {
    if (!BusbarError.is(error)) throw error
    // What `defaults` has wrong is found again for each service.
    if (!this.#found.some(({ code, message }) => code === error.code && message === error.message))
      this.#found.push(error)
  }

  /** Runs one check, and gives undefined where it throws. */
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
        message: `${first.message} (${this.#source})`,
        cause: first.cause,
        ...(first.hint !== undefined && { hint: first.hint }),
        ...(first.service !== undefined && { service: first.service }),
      })
    throw new BusbarError(first.code, {
      message: `${this.#found.length} problems in ${this.#source}:\n${this.#found.map(line).join('\n')}`,
      cause: new AggregateError(this.#found),
    })
  }
}

function line(problem: BusbarError, index: number): string {
  const hint = problem.hint === undefined ? '' : `\n     ${problem.hint}`
  return `  ${index + 1}. ${problem.code}: ${problem.message}${hint}`
}
