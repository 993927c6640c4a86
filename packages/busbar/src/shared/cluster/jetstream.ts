import { createRequire } from 'node:module'
import type * as JetStream from '@nats-io/jetstream'
import type * as Kv from '@nats-io/kv'
import type { ClusterConfig } from '../hosts.ts'

export type {
  Consumer,
  ConsumerConfig,
  ConsumerMessages,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
  PubAck,
  StoredMsg,
} from '@nats-io/jetstream'
export type { KV } from '@nats-io/kv'

/** Packages of NATS's client that keep things. Only apps that need them have them. */
export interface JetStreamModules {
  readonly jetstream: typeof JetStream
  readonly kv: typeof Kv
}

/** The config was refused if they are not installed. */
export function loadJetStream({ jetstream = '', kv = '' }: ClusterConfig): JetStreamModules {
  const load = (path: string): unknown => createRequire(path)(path)
  return { jetstream: load(jetstream) as typeof JetStream, kv: load(kv) as typeof Kv }
}

/** Codes of JetStream's errors (`server/errors.json` of nats-server). */
export const apiCode = {
  accountResourcesExceeded: 10_002,
  noPeers: 10_005,
  temporarilyUnavailable: 10_008,
  notLeader: 10_009,
  consumerNotFound: 10_014,
  maximumStreams: 10_027,
  noMessage: 10_037,
  notEnabledForAccount: 10_039,
  sequenceNotFound: 10_043,
  storageExceeded: 10_047,
  deleteFailed: 10_057,
  streamNameInUse: 10_058,
  streamNotFound: 10_059,
  wrongLastSequence: 10_071,
  replicasNotSupported: 10_074,
  notEnabled: 10_076,
  storeFailed: 10_077,
} as const

/** Compares with {@link apiCode}. */
export function isApiError(error: unknown, code: number): boolean {
  return (error as { code?: unknown }).code === code
}
