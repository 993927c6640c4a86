import type { Loads } from '../../../src/mesh/routing/balance/loads.ts'
import type { EndpointState, RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import type { Link } from '../../../src/mesh/links/link.ts'

/** An instance in another worker. The test sets how busy it is. */
export class TestInstance implements RemoteEndpoint {
  readonly at = 'link'
  readonly service: string
  readonly index: number
  readonly typed = true
  state: EndpointState = 'serving'
  /** Its own counts: calls in flight, and calls begun in total. */
  answering = 0
  begun = 0
  /** Calls that this worker has opened on its link, for any service. */
  opened = 100
  linkState: Link['state'] = 'open'
  isLate = false
  /** It answers no pings. */
  isSilent = false
  /** Set for one of another app. */
  host: string | undefined
  readonly link: Link

  constructor(service: string, index: number) {
    this.service = service
    this.index = index
    this.link = new TestLink(this)
  }

  get worker(): number {
    return this.index
  }

  get row(): number {
    return this.index
  }
}

class TestLink implements Link {
  readonly closed = Promise.withResolvers<never>().promise
  readonly failure = this.closed
  readonly answering = 0
  readonly unread = 0
  onState: undefined
  readonly open = unused
  readonly loadOf = unused
  readonly drain = unused
  readonly leave = unused
  readonly askToMove = unused
  readonly acknowledged = unused
  readonly answersRead = unused
  readonly close = unused
  readonly #instance: TestInstance

  constructor(instance: TestInstance) {
    this.#instance = instance
  }

  get peer(): number {
    return this.#instance.index
  }

  get state(): Link['state'] {
    return this.#instance.linkState
  }

  get isSilent(): boolean {
    return this.#instance.isSilent
  }

  get inFlight(): number {
    return this.#instance.opened
  }
}

/** The loads of these instances. The test sets those of the worker itself. */
export class TestLoads implements Loads {
  readonly instances: readonly TestInstance[]
  own = 0
  ownUtilization = 0
  ownBeat = 0

  constructor(instances: readonly TestInstance[]) {
    this.instances = instances
  }

  inFlight(row: number | undefined): number {
    return this.instances.find((one) => one.row === row)?.answering ?? 0
  }

  begun(row: number | undefined): number {
    return this.instances.find((one) => one.row === row)?.begun ?? 0
  }

  isStale(row: number | undefined): boolean {
    return this.instances.find((one) => one.row === row)?.isLate === true
  }

  ownInFlight(): number {
    return this.own
  }
}

function unused(): never {
  throw new Error('no call is made in this test')
}
