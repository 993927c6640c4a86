/**
 * The numbers of all fields that a contract has or had, so that a number is never used for
 * something else. It is committed beside the contract, and only grows.
 */
export interface ProtoLock {
  readonly service: string
  readonly methods: Readonly<Record<string, LockedMethod>>
  /** By the name of the message, then by that of the field. */
  readonly messages: Readonly<Record<string, Readonly<Record<string, LockedField>>>>
}

export interface LockedMethod {
  readonly request: string
  readonly response: string
  /** `client`, `server` or `both`. */
  readonly streams?: string
}

export interface LockedField {
  readonly number: number
  readonly type: string
  /** The contract no longer has it. */
  readonly removed?: boolean
}

/** Numbers that belong to protobuf itself. */
export const reservedFrom = 19_000
export const reservedTo = 19_999
