export interface Address {
  readonly host: string
  /** 0: the system chooses a free port. */
  readonly port: number
  /** A socket that systemd has opened, instead of host and port. */
  readonly descriptor?: number
}

export interface GatewayConfig extends Address {
  /**
   * True: the entry's own server gets the connections, without the entrance. False: the gateway
   * reads all requests. Default: the gateway reads them where something needs it.
   */
  readonly raw?: boolean | undefined
  /** Default: `auto`. */
  readonly entrance?: 'auto' | 'native' | 'portable'
  /**
   * What the native entrance gives to a worker: a request, or a client's connection with all of its
   * requests. Default: `request`. The portable gateway gives connections only.
   */
  readonly balance?: 'request' | 'connection' | undefined
  readonly tls: TlsFiles | undefined
  /** The service for requests that match no route. */
  readonly entry: string | undefined
  readonly routes: readonly Route[]
  /** Origins whose pages may call typed services. Undefined: none. */
  readonly cors?: readonly string[]
  /** The OpenAPI document of the app. Undefined: none. */
  readonly openapi?: OpenApi | undefined
  /** Undefined: the gateway serves no gRPC. */
  readonly grpc?: Grpc | undefined
  /** Whether it answers `/healthz` and `/readyz`. */
  readonly probes?: boolean
}

export interface Grpc {
  /** Whether clients may ask what there is. */
  readonly reflection: boolean
}

export interface OpenApi {
  /** Path of the document. */
  readonly path: string
  /** Path of the HTML page. Undefined: none. */
  readonly page: string | undefined
  /**
   * True if the config asks for the document: it then takes precedence over `entry`. Routes precede
   * both.
   */
  readonly beforeEntry: boolean
  readonly title: string
  readonly version: string
}

/** A port for metrics and status. Clients must send the token. */
export type AdminPort = Address & { readonly token: string }

export interface CertificateFiles {
  /** Absolute paths of PEM files. */
  readonly cert: string
  readonly key: string
}

/** The certificate is for clients that ask for a name which no other one has. */
export interface TlsFiles extends CertificateFiles {
  /** Further certificates, for the names in them. */
  readonly certificates?: readonly CertificateFiles[]
  /** Default: 1.2. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /**
   * Absolute path of the authorities that sign clients' certificates. Undefined: none are asked
   * for.
   */
  readonly clientCa?: string | undefined
  /** For routes that do not say it themselves. */
  readonly clientCertificate?: ClientCertificate
  /** The value of `Strict-Transport-Security`. */
  readonly hsts?: string | undefined
  readonly redirect?: HttpRedirect | undefined
}

/** Whether a client must show a certificate. */
export type ClientCertificate = 'optional' | 'required'

/** A port for plain HTTP, where clients are told to use HTTPS. */
export interface HttpRedirect {
  readonly port: number
  /** The port of the HTTPS URLs. */
  readonly to: number
}

export interface Route {
  /** Lower case, without a port. Undefined: any host. */
  readonly host: string | undefined
  /** Starts with a slash and ends without one. '' matches every path of the host. */
  readonly prefix: string
  readonly service: string
  /** False passes the path on unchanged. By default the prefix is removed. */
  readonly strip?: boolean | undefined
  /** Default: that of `tls`. */
  readonly clientCertificate?: ClientCertificate | undefined
}
