/** Other apps, which may run on other machines: what this app calls there, and what it exports. */

/** A name in this form in a certificate says which app it belongs to. `busbar cert` writes it. */
export const appUri = 'urn:busbar:app:'

/** Where another app accepts links. */
export interface HostAddress {
  readonly protocol: 'tcp' | 'tls'
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
}

/** A service of another app. */
export interface RemoteService {
  readonly name: string
  /** Each serves it. */
  readonly addresses: readonly HostAddress[]
  /** Hosts of this app's cluster serve it, too. Default: false. */
  readonly inCluster?: boolean
  /**
   * Weights of the versions of its apps, by version or its beginning; `*`: all others. Hosts of
   * versions without a weight get no calls. Undefined: all are equal.
   */
  readonly versions?: Readonly<Record<string, number>> | undefined
  /** Templates of its paths. */
  readonly pathTemplates?: readonly string[] | undefined
}

/** How this app and others find and call each other through NATS. */
export interface ClusterConfig {
  /** Apps with the same name call each other. */
  readonly name: string
  /** `host:port` of NATS servers. */
  readonly servers: readonly string[]
  /** Absolute path of a credentials file, as `nsc` writes it. */
  readonly credentials: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** Absolute paths of PEM files. Undefined: TLS only if the server requires it. */
  readonly tls: Partial<IdentityFiles> | undefined
  /** The services of this app that others may call. */
  readonly services: readonly string[]
  /** Absolute path of the NATS client's module. */
  readonly client: string
  /** Absolute paths of its modules for what the servers keep. Undefined: the app keeps nothing. */
  readonly jetstream: string | undefined
  readonly kv: string | undefined
  /** Servers that keep it. */
  readonly replicas: number
}

/** What this app offers to others. */
export interface ExportConfig {
  readonly protocol: 'tcp' | 'tls'
  readonly host: string
  /** 0: the system chooses a free port. */
  readonly port: number
  readonly services: readonly string[]
  /**
   * The apps that may call a service, by the names in their certificates; `*`: every app with a
   * certificate. Undefined: that holds for all services.
   */
  readonly allow?: Readonly<Record<string, readonly string[]>> | undefined
}

/** Absolute paths of PEM files: this app's certificate and key, and the CA of the others. */
export interface IdentityFiles {
  readonly cert: string
  readonly key: string
  readonly ca: string
  /** Lists of revoked certificates. Undefined: none is. */
  readonly crl?: string | undefined
}

/** Contents of {@link IdentityFiles}. */
export interface Identity {
  readonly cert: string
  readonly key: string
  readonly ca: string
  readonly revocations?: Revocations
}

export interface Revocations {
  /** PEM. */
  readonly lists: readonly string[]
  /** The numbers of the revoked certificates, as Node names them. */
  readonly serials: readonly string[]
}

/** The part of an app's config that is about other apps. */
export interface AppHosts {
  /** Services of other apps. Default: none. */
  readonly remotes?: readonly RemoteService[]
  /** What other apps may call. Undefined: nothing. */
  readonly export?: ExportConfig | undefined
  /** Undefined: this app is in no cluster. */
  readonly cluster?: ClusterConfig | undefined
  /** Undefined if neither `remotes` nor `export` use TLS. */
  readonly identity?: IdentityFiles | undefined
}

/** Human-readable: `tls://10.0.0.7:7001`. */
export function addressText({ protocol, host, port }: HostAddress): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The names of all services that this app can call: its own, and those of other apps. */
export function callableNames({
  services,
  remotes = [],
}: Pick<AppHosts, 'remotes'> & { readonly services: readonly { readonly name: string }[] }): string[] {
  return [...services, ...remotes].map(({ name }) => name)
}

/** What a worker knows of one host of another app that it calls. */
export interface HostReport {
  /** For people, and unique: an address, or a member of the cluster. */
  readonly name: string
  /** Undefined before the first link. */
  readonly app: string | undefined
  readonly version: string | undefined
  /** `ejected`: it is linked and gets no calls for a while, because they failed. */
  readonly state: 'linked' | 'unlinked' | 'ejected'
  /** Why it gets no calls. */
  readonly why: string | undefined
  /** When it was heard last, by `Date.now()`. Undefined: never. */
  readonly lastReceivedAt: number | undefined
  /** What this app calls there. */
  readonly calls: readonly string[]
  /** Of these, what the host offers, in a version that gets calls. */
  readonly services: readonly HostServiceReport[]
  /** The others, while there is a link. */
  readonly withheld: readonly WithheldService[]
}

/** A service that gets no calls at a host. */
export interface WithheldService {
  readonly name: string
  readonly why: string
}

export interface HostServiceReport {
  readonly name: string
  /** Calls in flight at the host, as it has reported last. */
  readonly load: number
  /** This worker's unfinished calls. */
  readonly inFlight: number
}
