import type { App } from '../config/app.ts'
import { client } from '../contract/client/client.ts'
import { httpTransport } from '../contract/client/http/http-transport.ts'
import type { Contract } from '../contract/contract.ts'
import type { AddItem } from '../contract/queues/enqueue.ts'
import { addBy, queueContract } from '../contract/queues/queue-contract.ts'
import { checkQueue, queueService } from '../contract/queues/queue-service.ts'
import { callableNames } from '../shared/hosts.ts'
import type { AppClientOptions } from './embedded-app.ts'

export interface AppCalls {
  fetch(service: string, path: string, init?: RequestInit): Promise<Response>
  /** Throws while it does not run. */
  app(): App
}

/** A client of a service, for the process that has started the app. */
export function createAppClient(contract: Contract, options: AppClientOptions, calls: AppCalls): object {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, search } = new URL(input)
    return await calls.fetch(options.service ?? contract.name, pathname + search, init)
  }
  const transport = httpTransport(`http://${options.service ?? contract.name}.internal`, { ...options, fetch })
  return client(contract, { ...transport, enqueue: enqueueBy(calls) }, options)
}

function enqueueBy(calls: AppCalls): AddItem {
  return async (item) => {
    const { remotes } = calls.app()
    checkQueue(item, callableNames(calls.app()), remotes)
    const fetch: typeof globalThis.fetch = async (input, init) =>
      await calls.fetch(queueService, new URL(input).pathname, init)
    const { add } = client(queueContract, `http://${queueService}.internal`, { fetch })
    return await addBy(add)(item)
  }
}
