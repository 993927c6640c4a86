import type { BusbarError } from '../../contract/errors.ts'
import type { GrpcCarrier } from '../../shared/entrance/grpc-carrier.ts'
import type { GrpcMethod } from './grpc-method.ts'
import type { RequestHead } from './request-head.ts'

export interface CallLimits {
  /** The largest message, compressed or not. */
  readonly maxMessage: number
  /** Milliseconds for a whole request; 0: no limit. Not for streams of the client. */
  readonly requestTimeout: number
  /** Milliseconds until a first answer; 0: no limit. */
  readonly responseTimeout: number
}

export interface CallParts {
  readonly carrier: GrpcCarrier
  readonly method: GrpcMethod
  readonly head: RequestHead
  readonly limits: CallLimits
  /** The call has ended. `refused`: why its method was not called. */
  readonly onEnd: (refused?: BusbarError<string>) => void
}
