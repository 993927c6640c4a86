import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/control.ts'
import { Calls } from './calls.ts'
import { carryRecord, LiveChannel, uncarriable, type Line } from './channel.ts'
import { exhausted, inWords, lost, stopping } from './failures.ts'
import { callFrame, closeFrame, drainFrame, errorFrame, flags, frameTypes, pingFrame, pongFrame } from './frames.ts'
import { maxCalls, maxServices } from './limits.ts'
import { LoadReports } from './load-reports.ts'
import type { Answerer, CallHead, Channel, ChannelHandler, Link } from './link.ts'
import { Outbox } from './outbox.ts'
import { Pings } from './pings.ts'
import { type Packet, type Pipe, type PipeListener, ProtocolError } from './pipe.ts'
import { countAt, framesOf, headOf, recordAt, valueAt, type Frame } from './read.ts'
import { Silence } from './silence.ts'
import { type Carried, carry } from './value.ts'

export interface LinkOptions {
  /** The number of the worker at the other end. */
  readonly peer: number
  /** How messages call the worker there. Default: its number. */
  readonly label?: string | undefined
  /** By which the supervisor knows the link. */
  readonly number?: number
  readonly answer: Answerer
  /** Milliseconds. Of pipes that may be cut without a word: a peer that says nothing for so long is gone. */
  readonly silence?: number
  /** Calls in flight, of each side. Default: {@link maxCalls}. */
  readonly maxCalls?: number
  /** Calls that this side's instance of a service has in flight, where the other side cannot see it by itself. */
  readonly loadOf?: ((service: string) => number) | undefined
  /** Told of a call that this side gives up, of which the other side may not hear for long. */
  readonly abandoned?: ((head: CallHead, call: CallId) => void) | undefined
  /**
   * Says of a link that is lost what has become of the worker. Calls in flight to it fail only then, with what it resolves to.
   * Default: nobody knows.
   */
  readonly fate?: ((lost: ErrorRecord) => Promise<ErrorRecord>) | undefined
}

export function createLink(pipe: Pipe, options: LinkOptions): Link {
  return new LiveLink(pipe, options)
}

type State = { readonly is: 'open' } | { readonly is: 'draining' } | { readonly is: 'closed' }

class LiveLink implements Link, Line, PipeListener {
  readonly peer: number
  readonly #label: string
  readonly number: number | undefined
  readonly closed: Promise<ErrorRecord>
  readonly outbox: Outbox
  onState: (() => void) | undefined = undefined
  readonly #pipe: Pipe
  readonly #answer: Answerer
  readonly #maxCalls: number
  readonly #settle: (reason: ErrorRecord) => void
  readonly #silence: Silence | undefined
  readonly #reports: LoadReports | undefined
  readonly #fate: LinkOptions['fate']
  readonly #abandoned: LinkOptions['abandoned']
  /** What the other side has reported. */
  readonly #loads = new Map<string, number>()
  /** Those that this side has opened; their numbers are positive. */
  readonly #own = new Calls<LiveChannel>()
  /** Those of the other side; the negatives of its numbers. */
  readonly #others = new Calls<LiveChannel>()
  readonly #blocked = new Set<LiveChannel>()
  readonly #pings = new Pings(() => this.outbox.push(pingFrame))
  /** What the other side takes, as far as this side knows. */
  #state: State = { is: 'open' }
  #takesCalls = true
  #opened = 0
  #heard = 0

  constructor(pipe: Pipe, options: LinkOptions) {
    this.peer = options.peer
    this.#label = options.label ?? `${options.peer}`
    this.number = options.number
    this.#pipe = pipe
    this.#answer = options.answer
    this.#maxCalls = options.maxCalls ?? maxCalls
    this.#fate = options.fate
    this.#abandoned = options.abandoned
    if (options.loadOf !== undefined) this.#reports = new LoadReports(options.loadOf)
    this.outbox = new Outbox(pipe, this.#reports && (() => this.#reports!.take()))
    const { promise, resolve } = Promise.withResolvers<ErrorRecord>()
    this.closed = promise
    this.#settle = resolve
    if (options.silence !== undefined) this.#silence = new Silence(options.silence, this)
    pipe.open(this)
  }

  get state(): Link['state'] {
    return this.#state.is
  }

  get inFlight(): number {
    return this.#own.size
  }

  get answering(): number {
    return this.#others.size
  }

  loadOf(service: string): number {
    return this.#loads.get(service) ?? 0
  }

  open(head: CallHead, payload: unknown, ended: boolean, handler: ChannelHandler): Channel {
    const channel = new LiveChannel(this, this.#opened + 1, head, ended ? 'receiving' : 'both')
    const carried = this.#refusal(channel) ?? carryInput(payload, channel)
    if ('code' in carried) return refused(channel, carried, handler)
    channel.handler = handler
    this.#opened++
    this.#own.add(channel)
    this.outbox.push(callFrame(channel.id, head, ended, carried, this.outbox.base), carried)
    return channel
  }

  drain(): void {
    if (!this.#takesCalls || this.#state.is === 'closed') return
    this.#takesCalls = false
    this.outbox.push(drainFrame)
  }

  heard(): Promise<void> {
    return new Promise((resolve) => (this.#state.is === 'closed' ? resolve() : this.#pings.ping(resolve)))
  }

  close(reason: ErrorRecord): void {
    if (this.#state.is === 'closed') return
    const carried = carryRecord(reason)
    this.outbox.push(closeFrame(carried, this.outbox.base), carried)
    this.outbox.flush()
    this.#end(reason)
  }

  over(channel: LiveChannel): void {
    if (!(channel.id > 0 ? this.#own : this.#others).delete(channel)) return
    this.#blocked.delete(channel)
    if (channel.id < 0) this.#reports?.answered(channel.head.service)
  }

  abandoned({ head, call }: LiveChannel): void {
    this.#abandoned?.(head, call)
  }

  waits(channel: LiveChannel): void {
    this.#blocked.add(channel)
  }

  /** Nothing has come for a while. */
  ask(): void {
    this.#pings.ping()
  }

  giveUp(silence: number): void {
    this.close(lost(this.#label, `has not said a word for ${silence / 1000} s`))
  }

  onPacket(packet: Packet): void {
    this.#silence?.heard()
    try {
      for (const frame of framesOf(packet)) {
        // One before it may have closed the link.
        if (this.#state.is === 'closed') return
        this.#tryToRead(frame, packet)
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.close(lost(this.#label, error.message))
    }
  }

  onDrain(): void {
    this.outbox.drained()
    const blocked = [...this.#blocked]
    this.#blocked.clear()
    for (const channel of blocked) channel.unblock()
  }

  onClose(reason = 'has closed the link'): void {
    if (this.#state.is !== 'closed') this.#end(lost(this.#label, reason))
  }

  /** Handlers do not throw. One that does takes its own call along, and none of the others. */
  #tryToRead(frame: Frame, packet: Packet): void {
    try {
      this.#read(frame, packet)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const channel = this.#callOf(frame[1] as number)
      if (channel === undefined) throw error
      channel.giveUp(BusbarError.from(error).toRecord())
    }
  }

  #read(frame: Frame, packet: Packet): void {
    if (!Array.isArray(frame)) throw new ProtocolError('sent a frame that is no list')
    switch (frame[0]) {
      case frameTypes.call:
        return this.#onCall(frame, packet)
      case frameTypes.reply:
        return this.#channel(frame)?.onReply(valueAt(frame, 3, packet), frame[2] === 1)
      case frameTypes.data:
        return this.#channel(frame)?.onData(valueAt(frame, 2, packet))
      case frameTypes.end:
        return this.#channel(frame)?.onEnd(valueAt(frame, 2, packet))
      case frameTypes.error:
        return this.#channel(frame)?.onError(recordAt(frame, 3, packet), frame[2] === 1)
      case frameTypes.cancel:
        return this.#channel(frame)?.onCancel(recordAt(frame, 2, packet))
      case frameTypes.credit:
        return this.#channel(frame)?.onCredit(countAt(frame, 2))
      case frameTypes.ping:
        return this.outbox.push(pongFrame)
      case frameTypes.pong:
        return this.#pings.pong()
      case frameTypes.drain:
        return this.#onDraining()
      case frameTypes.close:
        return this.#end(recordAt(frame, 1, packet))
      case frameTypes.load:
        return this.#onLoad(frame)
      default:
        throw new ProtocolError(`sent a frame of type ${JSON.stringify(frame[0])}, which there is not`)
    }
  }

  #onCall(frame: Frame, packet: Packet): void {
    const id = countAt(frame, 1)
    if (id !== this.#heard + 1) throw new ProtocolError(`opened call ${id} after call ${this.#heard}`)
    this.#heard = id
    const head = headOf(frame)
    const ended = ((frame[3] as number) & flags.ended) !== 0
    const refusal = this.#takesCalls ? this.#full() : stopping(head.service)
    if (refusal !== undefined) {
      const carried = carryRecord(refusal)
      return this.outbox.push(errorFrame(-id, true, carried, this.outbox.base), carried)
    }
    const channel = new LiveChannel(this, -id, head, ended ? 'sending' : 'both')
    this.#others.add(channel)
    channel.handler = this.#answer(head, valueAt(frame, 10, packet), ended, channel)
  }

  /** Undefined for a call that is over: what is said of it was under way. */
  #channel(frame: Frame): LiveChannel | undefined {
    const id = frame[1]
    if (!Number.isSafeInteger(id)) throw new ProtocolError('sent a frame that belongs to no call')
    const channel = this.#callOf(id as number)
    if (channel === undefined && ((id as number) > this.#heard || -(id as number) > this.#opened))
      throw new ProtocolError('sent a frame of a call that there never was')
    return channel
  }

  /** By the number that the other side knows it by. */
  #callOf(id: number): LiveChannel | undefined {
    return id < 0 ? this.#own.get(-id) : this.#others.get(-id)
  }

  /** As many services as an app may have; a peer that names more of them is none. */
  #onLoad(frame: Frame): void {
    const service = frame[1]
    if (typeof service !== 'string' || this.#loads.size > maxServices)
      throw new ProtocolError('sent the load of no service')
    this.#loads.set(service, countAt(frame, 2))
  }

  #onDraining(): void {
    if (this.#state.is === 'open') this.#enter({ is: 'draining' })
  }

  #end(reason: ErrorRecord): void {
    this.#enter({ is: 'closed' })
    this.#silence?.stop()
    this.#pipe.close()
    for (const channel of this.#others) channel.onCancel(reason)
    this.#blocked.clear()
    if (reason.code === 'LINK_LOST' && this.#fate !== undefined) this.#failWhenKnown(reason, this.#fate)
    else this.#fail(reason)
    this.#pings.end()
    this.#settle(reason)
  }

  #fail(reason: ErrorRecord): void {
    for (const channel of this.#own) channel.onError(inWords(channel, this.#label, reason), false)
  }

  /** All but connections, which end without a reason and are made anew by nobody. */
  #failWhenKnown(reason: ErrorRecord, fate: Exclude<LinkOptions['fate'], undefined>): void {
    for (const channel of this.#own) if (channel.head.kind === 'bytes') channel.onError(reason, false)
    void fate(reason).then((known) => this.#fail(known))
  }

  #enter(state: State): void {
    this.#state = state
    this.onState?.()
  }

  #refusal({ head: { service } }: LiveChannel): ErrorRecord | undefined {
    if (this.#state.is === 'closed') return lost(this.#label, 'is not linked any more', service)
    if (this.#state.is === 'draining') return stopping(service)
    if (this.outbox.isFull || this.inFlight >= this.#maxCalls) return exhausted(this.#label, this.inFlight, service)
    return undefined
  }

  #full(): ErrorRecord | undefined {
    return this.answering < this.#maxCalls ? undefined : exhausted(this.#label, this.answering)
  }
}

function carryInput(payload: unknown, channel: LiveChannel): Carried | ErrorRecord {
  try {
    return carry(payload)
  } catch (error) {
    return uncarriable(channel.name, error)
  }
}

/** Never told before `open` has returned. */
function refused(channel: LiveChannel, error: ErrorRecord, handler: ChannelHandler): Channel {
  channel.onCancel(error)
  process.nextTick(() => handler.onError?.(error, true))
  return channel
}
