export interface TlsMaterial {
  /** PEM. The first is for clients that ask for no name of any. */
  readonly pairs: readonly {
    readonly cert: string
    readonly key: string
    /** The names that select it, in lower case: `a.example`, or `*.example`. */
    readonly names: readonly string[]
  }[]
  /** PEM of the authorities that check clients' certificates. Undefined: none are asked for. */
  readonly clientCa: string | undefined
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** 48 bytes shared by all workers, so that each accepts the others' session tickets. */
  readonly ticketKeys: Uint8Array
}
