/** Which answers of a link its peer has certainly read. */
export class SentAnswers {
  readonly #acknowledged: () => Promise<void>
  #sent = 0
  /** Of these, the peer has read so many at least. */
  #read = 0

  /** `acknowledged`: resolves when the peer has read all that was sent, or the link is closed. */
  constructor(acknowledged: () => Promise<void>) {
    this.#acknowledged = acknowledged
  }

  /** The answer of a call, or the end of its stream, is on its way. */
  add(): void {
    this.#sent++
  }

  /** Asks the peer only if there is an answer that it may not have read. */
  async read(): Promise<void> {
    const sent = this.#sent
    if (this.#read >= sent) return
    await this.#acknowledged()
    this.#read = Math.max(this.#read, sent)
  }
}
