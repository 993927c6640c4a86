import type { CallTransport } from '../../contract/client/transport.ts'
import type { AddItem, Enqueued } from '../../contract/queues/enqueue.ts'
import { checkQueue } from '../../contract/queues/queue-service.ts'
import type { Router } from '../routing/router.ts'

export interface EnqueueParts {
  readonly router: Router
  /** Services of other apps. */
  readonly remotes?: readonly { readonly name: string; readonly inCluster?: boolean }[] | undefined
}

/** Puts items of services in this thread into the app's queue: calls the service that owns it. */
export function enqueueBy({ router, remotes = [] }: EnqueueParts, transport: CallTransport): AddItem {
  let adding: Promise<AddItem> | undefined
  return async (item) => {
    checkQueue(item, router.names, remotes)
    const add = await (adding ??= addThrough(transport))
    return await add(item)
  }
}

/** Loaded for the first item: most workers enqueue nothing. */
async function addThrough(transport: CallTransport): Promise<AddItem> {
  const { addBy, queueContract } = await import('../../contract/queues/queue-contract.ts')
  const bound = transport.bind(queueContract, 'add', queueContract.methods.add)
  return addBy((item) => bound(item, undefined) as Promise<Enqueued>)
}
