/** A public port: the gateway's, that of its redirects, that for other apps, or one that a service exposes. */
export interface ListenerSpec {
  /** `gateway`, `redirect`, `export`, `expose:<service>`, or `expose:<service>:2` for a second one. */
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
