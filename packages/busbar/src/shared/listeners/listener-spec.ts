import type { Socket } from 'node:net'

/**
 * A public port: the gateway's, that of its redirects, that for other apps, or one that a service
 * exposes.
 */
export interface ListenerSpec {
  /**
   * `gateway`, `redirect`, `export`, `expose:<service>`, or `expose:<service>:2` for a second one.
   */
  readonly id: string
  readonly host: string
  /** The configured port; once open, the actual one. A worker that listens itself never gets 0. */
  readonly port: number
  /** A socket that systemd has opened, instead of host and port. */
  readonly descriptor?: number
  /** `redirect`: plain HTTP, which is redirected to HTTPS. */
  readonly serves:
    | { readonly kind: 'gateway' | 'redirect' | 'export' }
    | { readonly kind: 'service'; readonly service: string }
}

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

export interface Port {
  readonly port: number
  /** Stops accepting; resolves when the port is free. Accepted connections stay open. */
  close(): Promise<void>
}

export interface PortHandlers {
  /** Called with each accepted connection. */
  connection(socket: Socket): void
  /** A connection could not be accepted, usually for lack of descriptors; the port stays open. */
  error(error: NodeJS.ErrnoException): void
}
