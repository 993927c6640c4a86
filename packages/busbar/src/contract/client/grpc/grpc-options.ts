import type { HttpOptions } from '../http/http-transport.ts'

/** Options of a client for a `grpc://` or `grpcs://` address. */
export interface GrpcOptions {
  /** For `grpcs://`. Without `ca`, the authorities that Node trusts. */
  readonly tls?: GrpcTls
}

export interface GrpcTls {
  /** PEM: the authority that has signed the server's certificate, or the certificate itself. */
  readonly ca?: string | Uint8Array
  /** PEM: the client's own certificate and its key. */
  readonly cert?: string | Uint8Array
  readonly key?: string | Uint8Array
  /** The name in the server's certificate, if it differs from the host. */
  readonly servername?: string
}

export type GrpcClientOptions = GrpcOptions &
  Pick<HttpOptions, 'retries' | 'retryBudget'> & { readonly service?: string }

export interface GrpcAddress {
  readonly secure: boolean
  /** For `node:http2`. */
  readonly authority: string
}
