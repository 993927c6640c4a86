import type { Loads } from '../../src/mesh/balance/loads.ts'
import type { EndpointState, RemoteEndpoint } from '../../src/mesh/endpoint.ts'
import type { Link } from '../../src/mesh/links/link.ts'

/** An instance in another worker, of which a test says how busy it is. */
export class TestInstance implements RemoteEndpoint {
  readonly at = 'link'
  readonly service: string
  readonly index: number
  readonly typed = true
  state: EndpointState = 'serving'
  /** What it answers, as it says itself, and has begun since ever. */
  answering = 0
  begun = 0
  /** What this worker has opened on its link, of whatever service. */
  opened = 100
  linkState: Link['state'] = 'open'
  isLate = false
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
  readonly answering = 0
  onState: undefined
  readonly open = unused
  readonly loadOf = unused
  readonly drain = unused
  readonly heard = unused
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

  get inFlight(): number {
    return this.#instance.opened
  }
}

/** The loads as such instances say them; of the worker itself, what the test sets. */
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
