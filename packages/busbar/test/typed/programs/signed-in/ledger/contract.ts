import { fn, service } from 'busbar/contract'
import * as z from 'zod'

export const ledger = service('ledger', { entry: fn({ input: z.object({ text: z.string() }), output: z.string() }) })
