import { createHash } from 'node:crypto'

/** The subjects that apps of one cluster use. All begin with `busbar.<cluster>.`. */
export interface ClusterSubjects {
  /** Hosts announce themselves here. */
  readonly announcements: string
  /** Asks all hosts to announce themselves now. */
  readonly roll: string
  /** Where a host accepts links. */
  dial(host: string): string
  /** What is sent to one end of a link. `end`: of {@link ClusterSubjects.ends}. */
  link(end: string): string
  /** All ends of one connection. */
  ends(connection: string): string
  /**
   * An event for one instance of each subscribing service, or for all. `topic`: `orders.placed`.
   */
  event(reach: 'emit' | 'broadcast', topic: string): string
  /** Prefix of the subjects where answers to requests arrive. */
  readonly inbox: string
}

export function subjectsOf(cluster: string): ClusterSubjects {
  const prefix = `busbar.${cluster}`
  return {
    announcements: `${prefix}.hosts`,
    roll: `${prefix}.roll`,
    dial: (host) => `${prefix}.dial.${host}`,
    link: (end) => `${prefix}.link.${end}`,
    ends: (connection) => `${prefix}.link.${connection}.*`,
    event: (reach, topic) => `${prefix}.${reach}.${topic}`,
    inbox: `${prefix}.inbox`,
  }
}

/** The id of this app in its cluster, which all of its workers know: each start makes another. */
export function hostIdOf(secret: string): string {
  return createHash('sha256').update(`cluster host ${secret}`).digest('hex').slice(0, 16)
}

/**
 * Bytes of one message that a server must allow. It can be told to allow less, but not sensibly.
 */
export const leastPayload = 1024
