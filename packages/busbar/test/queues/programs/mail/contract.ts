import { fn, service, type } from 'busbar/contract'
import * as z from 'zod'

export const mail = service('mail', {
  send: fn({ input: type<{ to: string; at?: Date; amount?: bigint; file?: string }>(), queue: true }),
  /** Fails as often as the input says. */
  flaky: fn({
    input: z.object({ failures: z.int(), as: z.string().default('throw') }),
    errors: { GONE: z.string() },
    queue: true,
  }),
  /** Ends the process, or the worker, of the service at the first attempt. */
  crash: fn({ queue: true }),
  slow: fn({ input: type<string>(), queue: true }),
  release: fn(),
  ping: fn({ output: type<boolean>() }),
})
