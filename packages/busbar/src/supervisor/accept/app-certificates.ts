import { getRandomValues } from 'node:crypto'
import type { App, TlsFiles } from '../../config/app.ts'
import { readTlsFiles } from '../../config/gateway/tls.ts'
import { readIdentity } from '../../config/cluster/identity.ts'
import type { Order, TlsMaterial } from '../../shared/control-messages.ts'
import type { Identity, IdentityFiles } from '../../shared/hosts.ts'
import type { StartOptions } from '../running-app.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'
import { Certificates, type CertificateSource, reportedEvents } from './certificates.ts'

export interface CertificateUsers {
  readonly entrance: () => { setTls(tls: TlsMaterial): void } | undefined
  readonly slots: () => readonly WorkerSlot[]
  readonly log: (level: 'info' | 'error', line: string) => void
  readonly on: StartOptions['on']
}

/** The certificates of an app: the gateway's, and the one that other apps see. */
export class AppCertificates {
  #gateway: Certificates<TlsMaterial> | undefined
  #identity: Certificates<Identity> | undefined

  /** Rejects with TLS_FILE_UNREADABLE or TLS_FILE_INVALID. */
  async read({ gateway: { tls }, identity }: App): Promise<void> {
    this.#gateway = tls && (await Certificates.read(ofGateway(tls)))
    this.#identity = identity && (await Certificates.read(ofIdentity(identity)))
  }

  /** Undefined if the gateway serves plain HTTP. */
  get tls(): TlsMaterial | undefined {
    return this.#gateway?.current
  }

  /** Undefined if the app uses no TLS with others. */
  get identity(): Identity | undefined {
    return this.#identity?.current
  }

  /** `interval`: milliseconds between two reads, beside those after an event. */
  watch(interval: number, { entrance, slots, log, on }: CertificateUsers): void {
    const outcome = (outcome: 'reloaded' | 'refused'): void => on?.({ type: 'tls', outcome })
    const sendAll = (order: Order): void => {
      for (const { workers } of slots()) for (const worker of workers) worker.send(order)
    }
    const setTls = (tls: TlsMaterial): void => {
      entrance()?.setTls(tls)
      sendAll({ type: 'tls', tls })
    }
    const setIdentity = (next: Identity): void => sendAll({ type: 'identity', identity: next })
    this.#gateway?.watch(interval, reportedEvents({ apply: setTls, outcome, log }))
    this.#identity?.watch(interval, reportedEvents({ apply: setIdentity, outcome, log }))
  }

  close(): void {
    this.#gateway?.close()
    this.#identity?.close()
  }
}

function ofGateway(files: TlsFiles): CertificateSource<TlsMaterial> {
  const { cert, key, certificates = [], clientCa, minVersion = 'TLSv1.2' } = files
  const more = certificates.flatMap((pair) => [pair.cert, pair.key])
  return {
    files: [cert, key, ...more, ...(clientCa === undefined ? [] : [clientCa])],
    async read(previous) {
      const contents = await readTlsFiles(files)
      // A ticket carries that its client's certificate was accepted.
      const isKept = previous !== undefined && previous.clientCa === contents.clientCa
      const ticketKeys = isKept ? previous.ticketKeys : getRandomValues(new Uint8Array(48))
      return { ...contents, minVersion, ticketKeys }
    },
  }
}

function ofIdentity(files: IdentityFiles): CertificateSource<Identity> {
  const { cert, key, ca, crl } = files
  return { files: [cert, key, ca, ...(crl === undefined ? [] : [crl])], read: () => readIdentity(files) }
}
