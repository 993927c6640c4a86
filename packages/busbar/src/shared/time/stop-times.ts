/** Limits of a stop, in milliseconds. */
export interface StopTimes {
  /** For the whole stop. */
  readonly timeout: number
  /**
   * A keep-alive connection is closed after this long without traffic. Until then, the next
   * response on it announces the close, since a request may already be on its way.
   */
  readonly quiet: number
  /** Undefined: WebSockets are left to their programs and clients. */
  readonly webSockets?: WebSocketClose | undefined
}

/** How the WebSockets of a worker are closed that is replaced or stops. */
export interface WebSocketClose {
  /** Milliseconds that they may stay open, to be closed by their program or their client. */
  readonly after: number
  /** RFC 6455, 7.4: 1001 is "going away", 1012 is "service restart": clients connect again. */
  readonly code: 1001 | 1012
  /** Milliseconds without a message from the program after which its answers count as complete. */
  readonly quiet: number
}
