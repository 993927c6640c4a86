/** Identifies a call at both ends and in the supervisor. */
export interface CallId {
  /** The link's number in `PeerSpec`; undefined if the supervisor does not know the link. */
  readonly link: number | undefined
  /** Assigned by the caller. */
  readonly number: number
}
