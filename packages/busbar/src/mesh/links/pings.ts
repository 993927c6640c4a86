/** Frames keep their order: a pong says that the other side has read all that was sent before its ping. */
export class Pings {
  readonly #send: () => void
  /** Pongs come as the pings went. */
  readonly #unanswered: (() => void)[] = []

  constructor(send: () => void) {
    this.#send = send
  }

  /** `answered`: or the link has ended. */
  ping(answered: () => void = () => {}): void {
    this.#unanswered.push(answered)
    this.#send()
  }

  pong(): void {
    this.#unanswered.shift()?.()
  }

  end(): void {
    for (const answered of this.#unanswered.splice(0)) answered()
  }
}
