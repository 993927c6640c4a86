/**
 * Every failure that Busbar reports is a {@link BusbarError} with one of these codes. Compare
 * `code`, never the prototype: an error may come from another thread or another copy of this
 * package.
 *
 * `status` is the HTTP status, `exit` the exit code of the `busbar` command.
 * `docs/reference/errors.md` explains each code; a test keeps the two in step.
 */
export const errorTable = {
  // The command line
  USAGE: { status: 500, exit: 2 },
  NODE_UNSUPPORTED: { status: 500, exit: 2 },

  // The config
  CONFIG_NOT_FOUND: { status: 500, exit: 3 },
  CONFIG_UNREADABLE: { status: 500, exit: 3 },
  CONFIG_KEY_UNKNOWN: { status: 500, exit: 3 },
  CONFIG_INVALID: { status: 500, exit: 3 },
  CONFIG_VARIABLE_MISSING: { status: 500, exit: 3 },
  ENV_FILE_UNREADABLE: { status: 500, exit: 3 },
  SECRET_UNREADABLE: { status: 500, exit: 3 },
  SERVICE_NOT_FOUND: { status: 500, exit: 3 },
  SERVICE_ENTRY_NOT_FOUND: { status: 500, exit: 3 },
  SERVICE_NOT_BUILT: { status: 500, exit: 3 },
  SERVICE_NAME_INVALID: { status: 500, exit: 3 },
  TLS_FILE_UNREADABLE: { status: 500, exit: 3 },
  TLS_FILE_INVALID: { status: 500, exit: 3 },
  PORT_DUPLICATE: { status: 500, exit: 3 },
  ROUTE_UNKNOWN_SERVICE: { status: 500, exit: 3 },
  ROUTE_LOOP: { status: 500, exit: 3 },
  NEEDS_UNKNOWN_SERVICE: { status: 500, exit: 3 },
  NEEDS_CYCLE: { status: 500, exit: 3 },
  PLACEMENT_UNSUPPORTED: { status: 500, exit: 3 },

  // Building
  BUILD_FAILED: { status: 500, exit: 1 },

  // Hosting a program
  NEEDS_UNMET: { status: 503, exit: 1 },
  PROGRAM_THREW: { status: 503, exit: 1 },
  PROGRAM_EXITED: { status: 503, exit: 1 },
  PROGRAM_NEVER_LISTENED: { status: 503, exit: 1 },
  PROGRAM_START_TIMEOUT: { status: 503, exit: 1 },
  PROGRAM_EXPORT_UNKNOWN: { status: 503, exit: 1 },
  PROGRAM_NOT_STRIPPABLE: { status: 503, exit: 1 },

  // Workers and listeners
  PORT_IN_USE: { status: 500, exit: 1 },
  PORT_FORBIDDEN: { status: 500, exit: 1 },
  ENTRANCE_UNAVAILABLE: { status: 500, exit: 1 },
  ADMIN_UNAVAILABLE: { status: 500, exit: 1 },
  OPERATION_UNSUPPORTED: { status: 409, exit: 1 },
  TRACE_UNKNOWN: { status: 404, exit: 1 },
  APP_NOT_RUNNING: { status: 503, exit: 4 },
  WORKER_DIED: { status: 502, exit: 1 },
  LINK_LOST: { status: 502, exit: 1 },
  WORKER_RESTART_LIMIT: { status: 503, exit: 1 },

  // Changes of a running app
  RESTART_NEEDED: { status: 409, exit: 1 },
  GENERATION_WORSE: { status: 409, exit: 1 },

  // Calls
  HTTPS_TO_SERVICE: { status: 500, exit: 1 },
  HOP_LIMIT: { status: 508, exit: 1 },
  CALL_ABORTED: { status: 499, exit: 1 },
  SERVICE_UNAVAILABLE: { status: 503, exit: 1 },
  SERVICE_HANGUP: { status: 502, exit: 1 },

  // Typed calls
  CONTRACT_INVALID: { status: 500, exit: 1 },
  PROTO_INCOMPATIBLE: { status: 500, exit: 1 },
  UNAUTHENTICATED: { status: 401, exit: 1 },
  FORBIDDEN: { status: 403, exit: 1 },
  SERVICE_UNKNOWN: { status: 404, exit: 1 },
  METHOD_UNKNOWN: { status: 404, exit: 1 },
  CONTRACT_MISMATCH: { status: 502, exit: 1 },
  METHOD_NOT_ALLOWED: { status: 405, exit: 1 },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, exit: 1 },
  INPUT_INVALID: { status: 422, exit: 1 },
  ANSWER_MALFORMED: { status: 502, exit: 1 },
  RESOURCE_EXHAUSTED: { status: 503, exit: 1 },
  DEADLINE_EXCEEDED: { status: 504, exit: 1 },

  // Queues
  QUEUE_UNAVAILABLE: { status: 503, exit: 1 },
  QUEUE_FULL: { status: 503, exit: 1 },
  QUEUE_ITEM_UNKNOWN: { status: 404, exit: 1 },

  // Shared state and work in other threads
  SHARED_UNAVAILABLE: { status: 500, exit: 1 },
  SHARED_FULL: { status: 500, exit: 1 },
  SHARED_INVALID: { status: 500, exit: 1 },
  TASK_INVALID: { status: 500, exit: 1 },

  // The gateway
  ROUTE_NOT_FOUND: { status: 404, exit: 1 },
  CLIENT_CERTIFICATE_MISSING: { status: 403, exit: 1 },
  BODY_TOO_LARGE: { status: 413, exit: 1 },
  HEADERS_TOO_LARGE: { status: 431, exit: 1 },
  REQUEST_MALFORMED: { status: 400, exit: 1 },
  REQUEST_TIMEOUT: { status: 408, exit: 1 },
  RESPONSE_TIMEOUT: { status: 504, exit: 1 },

  /** A bug in Busbar, or an unexpected failure in the code of a typed service. */
  INTERNAL: { status: 500, exit: 1 },
} as const satisfies Record<string, { status: number; exit: number }>

export type ErrorCode = keyof typeof errorTable

/** The data of a typed call's errors, by code. */
export interface ErrorData {
  readonly INPUT_INVALID: { readonly issues: readonly InputIssue[] }
  /** The nearest existing names. */
  readonly SERVICE_UNKNOWN: { readonly nearest: readonly string[] }
  readonly METHOD_UNKNOWN: { readonly nearest: readonly string[] }
  /** The HTTP methods that the path supports. */
  readonly METHOD_NOT_ALLOWED: { readonly allow: readonly string[] }
  /** In seconds. */
  readonly RESOURCE_EXHAUSTED: { readonly retryAfter?: number }
  /** The id under which the service's log has the cause. */
  readonly INTERNAL: { readonly id: string }
}

export interface InputIssue {
  /** From the root of the input: field names and list indexes. */
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The data of a method's declared errors, by code. */
export type DeclaredErrors = Readonly<Record<string, unknown>>

/** Every error of the table, discriminated by `code`, with its {@link ErrorData}. */
export type CallError =
  | { [Code in keyof ErrorData]: BusbarError<Code, ErrorData[Code]> }[keyof ErrorData]
  | BusbarError<Exclude<ErrorCode, keyof ErrorData>, undefined>

export interface ErrorParts {
  /** What happened and where: one sentence, without a full stop. */
  message: string
  /** What to do about it. */
  hint?: string
  cause?: unknown
  /** The service that failed. */
  service?: string
  /** Machine-readable details; see {@link ErrorData}. */
  data?: unknown
}

/**
 * An error as it crosses threads: plain data. It includes the stack, since both sides run on the
 * same machine.
 */
export interface ErrorRecord {
  code: ErrorCode
  message: string
  hint?: string
  service?: string
  /** The stack of the cause if there is one, else of this error. */
  stack?: string
  /** Only for errors of typed calls over a link. */
  data?: unknown
}

/** An error that a contract declares; its code and status come from the contract. */
export interface Declaration {
  readonly status: number
}

export class BusbarError<Code extends string = ErrorCode, Data = unknown> extends Error {
  override readonly name = 'BusbarError'
  readonly code: Code
  readonly hint: string | undefined
  readonly service: string | undefined
  readonly data: Data
  /** The HTTP status. */
  readonly status: number
  /** True if the code is declared by the called method's contract, not by the table above. */
  readonly declared: boolean

  constructor(code: Code, parts: ErrorParts, declaration?: Declaration) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = code
    this.hint = parts.hint
    this.service = parts.service
    this.data = parts.data as Data
    this.declared = declaration !== undefined
    this.status = declaration?.status ?? errorTable[code as ErrorCode].status
  }

  get exitCode(): number {
    return this.declared ? 1 : errorTable[this.code as ErrorCode].exit
  }

  /** True for an error with a code of the table, whichever copy of this package created it. */
  static is(error: unknown, code?: ErrorCode): error is BusbarError {
    if (!(error instanceof Error) || error.name !== 'BusbarError') return false
    const found = (error as { code?: unknown }).code
    return code === undefined ? isErrorCode(found) : found === code
  }

  /** Wraps any thrown value; a BusbarError is returned unchanged. */
  static from(thrown: unknown, code: ErrorCode = 'INTERNAL', parts: Partial<ErrorParts> = {}): BusbarError {
    if (BusbarError.is(thrown)) return thrown
    const message = thrown instanceof Error ? thrown.message : `a non-error was thrown: ${String(thrown)}`
    return new BusbarError(code, { message, cause: thrown, ...parts })
  }

  toRecord(): ErrorRecord {
    const stack = this.cause instanceof Error ? this.cause.stack : this.stack
    return {
      code: this.code as ErrorCode,
      message: this.message,
      ...(this.hint !== undefined && { hint: this.hint }),
      ...(this.service !== undefined && { service: this.service }),
      ...(stack !== undefined && { stack }),
    }
  }
}

/** `code`: of any type, since programs and other apps set it. Converting an object could throw. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code)
}

/** The inverse of {@link BusbarError.toRecord}. */
export function restoreError(record: ErrorRecord): BusbarError {
  // Another app may send any code, and a newer one knows more of them.
  const error = new BusbarError(isErrorCode(record.code) ? record.code : 'INTERNAL', record)
  if (record.stack !== undefined) error.stack = record.stack
  return error
}
