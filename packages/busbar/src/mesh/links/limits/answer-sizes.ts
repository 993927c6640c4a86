import { maxHostCalls, maxInTransit } from './limits.ts'

/**
 * Calls of a method that begin before the first answer shows how large its answers are, and always:
 * fewer would slow down methods that take their time for large answers.
 */
const fewestCalls = 16
/** Methods whose answers are looked at. Peers choose the names, so they are bounded. */
const maxMethods = 1_000

/** How large the answers of a method are that other apps get. */
export class MethodAnswers {
  /** False: no call has been answered, and perhaps none ever is. */
  isKnown = false
  /** Calls whose answers, all together, take as much as may be in transit; or a few. */
  fitting = fewestCalls

  sent(size: number): void {
    this.isKnown = true
    if (!this.#isTooLarge(size) && this.fitting < maxHostCalls) this.fitting++
  }

  /** A declared error may be large. One that is small says nothing about answers. */
  sentError(size: number): void {
    if (this.#isTooLarge(size)) this.isKnown = true
  }

  /** Fewer fit then. */
  #isTooLarge(size: number): boolean {
    if (size * this.fitting <= maxInTransit) return false
    this.fitting = Math.max(fewestCalls, Math.floor(maxInTransit / size))
    return true
  }
}

/** The answers of all methods, for all links of a worker on which other apps call it. */
export class AnswerSizes {
  readonly #methods = new Map<string, MethodAnswers>()
  readonly #others = new MethodAnswers()

  of(service: string, method: string): MethodAnswers {
    const name = `${service} ${method}`
    const known = this.#methods.get(name)
    if (known !== undefined) return known
    if (this.#methods.size >= maxMethods) this.#forgetUnknown()
    if (this.#methods.size >= maxMethods) return this.#others
    const answers = new MethodAnswers()
    this.#methods.set(name, answers)
    return answers
  }

  #forgetUnknown(): void {
    for (const [name, { isKnown }] of this.#methods) if (!isKnown) this.#methods.delete(name)
  }
}
