import { service, topic } from 'busbar/contract'
import * as z from 'zod'

export const mail = service('mail', { placed: topic(z.object({ id: z.int() })) })
