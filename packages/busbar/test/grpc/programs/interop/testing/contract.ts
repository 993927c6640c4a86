import { fn, many, service, stream } from 'busbar/contract'
import * as z from 'zod'

const Payload = z.object({ type: z.int32(), body: z.instanceof(Uint8Array) })
const Part = z.object({ size: z.int32(), intervalUs: z.int32() })
const Parts = z.object({ responseType: z.int32(), responseParameters: z.array(Part), payload: Payload.optional() })
const Answer = z.object({ payload: Payload })

/** The service of gRPC's interoperability cases, as far as a contract can have it. */
export const testing = service(
  'testing',
  {
    emptyCall: fn(),
    unaryCall: fn({
      input: z.object({ responseType: z.int32(), responseSize: z.int32(), payload: Payload.optional() }),
      output: Answer,
      idempotent: true,
    }),
    streamingOutputCall: stream({ input: Parts, output: Answer }),
    streamingInputCall: fn({
      input: many(z.object({ payload: Payload })),
      output: z.object({ aggregatedPayloadSize: z.int32() }),
    }),
    fullDuplexCall: stream({ input: many(Parts), output: Answer }),
  },
  { grpc: 'grpc.testing.TestService' },
)
