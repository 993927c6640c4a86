/**
 * Refuses names that were replaced by better ones, so that they do not come back: files and folders
 * by the end of their path, identifiers in code. The lists have only names that were misleading,
 * not ordinary words. A name that is needed again, with another meaning, may be removed.
 */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const retiredFiles = words(`
  addon/port.rs announce-hops.ts answer-sender.ts app/obedient-thread.ts batch-writes/gather-writes.ts
  by-bytes.ts clients/measured.ts contention/shared-ways.ts contention/ways.ts emit-in.ts engine/trust.ts
  exchange/answer.ts exchange/open.ts exchange/tell-problem.ts fanout/ways.ts fetch/defaults.ts
  file/json-text.ts file/package-file.ts file/places.ts gated-answers.ts gateway/typed/listener.ts
  given-connections.ts hosts/heard-transport.ts hosts/relayed-call.ts http2/member.rs in-thread/entrance.ts
  in-thread/starts.ts io/member.rs kept-connections.ts least-loaded.ts lifecycle/run-worker.ts link/attempts.ts
  links/channel.ts links/frames.ts links/packets.ts links/pings.ts links/pipe.ts links/read.ts links/silence.ts
  links/value.ts machine/keeper.ts mesh/http-mesh.ts openapi/components.ts openapi/merge.ts openapi/upgrade.ts
  outflow.ts own-head.ts problems/answer-problem.ts programs/perilous protocol/copy.ts protocol/patience.ts
  protocol/warm-up.ts relayed-connection.ts rendezvous.ts schema/later.ts scripts/first.cjs
  scripts/stray-processes.ts server-kinds.ts services/doubles.ts services/recursion.ts services/spares.ts
  src/assemble.ts src/cli/commands.ts src/cli/keeper.ts src/cli/untested-node.ts src/cli/warnings.ts
  src/config/type-import-hint.ts src/contract/answer-header.ts src/contract/host/live-stream.ts
  src/contract/host/unknown.ts src/contract/http/answered-stream.ts src/contract/http/answering.ts
  src/contract/http/edge.ts src/contract/http/readers.ts src/contract/openapi/carried.ts src/contract/plain.ts
  src/contract/strip/apart.ts src/contract/value/refuse.ts src/embed/doubles.ts src/gateway/answer.ts
  src/gateway/body-limit.ts src/gateway/client-error.ts src/gateway/director.ts src/gateway/early-hints.ts
  src/gateway/end-to-end.ts src/gateway/expectation.ts src/gateway/forwarded-answer.ts src/gateway/forwarded.ts
  src/gateway/gateway-context.ts src/gateway/in-flight.ts src/gateway/kept-agent.ts src/gateway/lost.ts
  src/gateway/raw-entry.ts src/gateway/relay-upgrade.ts src/gateway/repeated-text.ts
  src/gateway/takes-upgrade.ts src/gateway/target.ts src/mesh/answer.ts src/mesh/balance
  src/mesh/failed-response.ts src/mesh/fates.ts src/mesh/hops.ts src/mesh/http/answer.ts src/mesh/refusals.ts
  src/mesh/relay src/mesh/repeats.ts src/mesh/run-guarded.ts src/mesh/service-name.ts src/mesh/turn.ts
  src/observe/ledger.ts src/observe/outlet.ts src/observe/status.ts src/offload/bound.ts src/offload/exact.ts
  src/offload/movable.ts src/own-app.ts src/own-placements.ts src/own-plan.ts src/preload/access.ts
  src/preload/ask.ts src/preload/hops.ts src/preload/install.ts src/shared/folder src/shared/in-folder.ts
  src/shared/slots.ts src/shared/state/doorman.ts src/shared/within.ts src/state/place.ts
  src/supervisor/accept/stand-in.ts src/supervisor/admin/admin-client.ts src/supervisor/admin/figures.ts
  src/supervisor/exit.ts src/supervisor/given-up.ts src/supervisor/handle.ts src/supervisor/introductions.ts
  src/supervisor/overdue.ts src/supervisor/parting.ts src/supervisor/relinks.ts src/supervisor/restarts.ts
  src/supervisor/running.ts src/supervisor/runtimes/command-environment.ts src/supervisor/slot.ts
  src/supervisor/vessels src/supervisor/watchdog.ts src/worker/channel.ts src/worker/doors.ts
  src/worker/head-limits.ts src/worker/host src/worker/neighbours.ts src/worker/order.ts src/worker/own-ports.ts
  src/worker/recorded-cells.ts src/worker/sandbox/support/disposing.ts src/workshop.ts stream/answer.ts
  stream/end.ts stream/far-end.ts stream/serve.ts supervisor/stop-order.ts support/accelerated.ts
  support/broken.ts support/chance.ts support/listening.ts support/strays.ts support/wanted.ts
  test/accelerators/missing.test.ts test/gateway/elsewhere.test.ts test/gateway/places.test.ts test/mesh/balance
  test/mesh/bytes test/raw/compare.ts test/raw/corpus/heads.ts test/raw/corpus/lines.ts test/raw/corpus/turns.ts
  test/raw/talk.ts to-self.ts typed/over-http.ts underway.ts undici/copy.ts undici/diagnostics.ts
  undici/dispatcher.ts undici/global-dispatchers.ts undici/handler.ts undici/request-parts.ts utc-date.ts
  worker/entrance-member.ts
`)

const retiredIdentifiers = words(`
  Acquaintance AnswerSender Answerer AskedRefusal Asker Attendant BUSBAR_KEPT BodyTaken CallFigures CallRelay
  CalledUrl CaughtHead CommandVessel ConnectionTaker CopyTraits Diary Doorman Doors DoubleVessel EdgeAnswer
  EdgeBody EdgeCall EdgeOptions EdgeOutcome EdgeReply EdgeRequest EdgeStream EntranceMember ExitFigures FarEnd
  FarOptions Fates ForwardedAnswer ForwardedAnswerParts GatheredSocket GivenUpCall GivenUpCalls Greeted
  HandedConnections HeadNotes HeardTransport HeldAnswer HostedTyped HttpEdge HttpMesh InheritedCalls
  InstanceFigures Introductions Keeper KeptAgent KeptConnections KeptParts Likeness MemoryPipe NeighbourOrder
  Neighbours ObedientThread Outflow Outlet OutletOptions OwnApp OwnAppOptions OwnPorts OwnPortsParts Patience
  PeerWay PendingPipe Peril PipeListener PlaceRow PlaceTotals PlannedPlace ProcessVessel RecordedCells
  RelayTarget RelayedCall RelayedCallParts RelayedConnection RelayedUpgrade Relinks RepeatedText
  RepeatedTextParts ServiceFigures SocketPipe SpareFigures StandIn StartableRoute StatedRequest StopWishes
  StrayProcess ThreadPipe ThreadVessel ToldAnswer TurnOfWrites TypedHosting Uncarriable Underway Vessel
  VesselEvents WorkerFigures WorkerPort Workshop acceptTagged addPlace admitOwn aliveInterval announceHops
  answerExpect answerProblem answeredStream answersOrigin appearAsMainThread boundedTogether breakOffBadInput
  breakOffHead breakOffTunnel buryThread carriedInstance carriedKind carryOver carryRecord catchHead checkPlace
  checkPlaces connectsToCommands dropHopByHop emitIn endStrays fateTime faultsInWords findMovedCopies
  freeGivenUp fromUncarriable frontWarning gatedAnswers gatherWrites giveConnections glanceMs goneSilent
  headCaught headPatience inWorkshop inheritCalls installHosting isApart isHeadCaught isUnseen launchVessel
  likenessOf linkToSelf locateRefusal makesPlainObjects maxAnswerHead maxOpening maxUnderWay mayMeanService
  meetExpectation memoryPipes noiseInWords notContained offerMesh openByBytes openFarEnd ownApp ownConnection
  readOpening relayUpgrade rowsPerPlace sendOwnHead separateCopies serviceNameIn settleTarget shareOut
  sharedWayOf startContained stateFetch stateForwarded stateRequest stretchMs takeHeadsOfGateway tellKeeper
  tellProblem threadPipe throughputThatDecides useWithin wantsKeeper watchOverdue waysBetween whyNotRead
  withOwnStack writeOpening
`)

if (import.meta.main) {
  const problems = await findRetiredNames('.')
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

/** `root`: folder of the repository. */
export async function findRetiredNames(root: string): Promise<string[]> {
  const identifiers = new RegExp(`(?<![\\w$-])(?:${retiredIdentifiers.join('|')})(?![\\w$-])`, 'g')
  const problems: string[] = []
  for await (const file of glob('{packages,examples,scripts,crates}/**/*.{ts,cts,mts,js,cjs,mjs,rs,go}', {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist|target)$/.test(name),
  })) {
    // The list itself, and its test.
    if (/(^|\/)check-names(\.test)?\.ts$/.test(file)) continue
    const retired = retiredFiles.find((name) => `/${file}/`.includes(`/${name}/`))
    if (retired !== undefined) problems.push(`${file}: ${retired} is a retired name of a file: choose another`)
    const text = await readFile(join(root, file), 'utf8')
    for (const { 0: name, index } of text.matchAll(identifiers)) {
      const line = text.slice(0, index).split('\n').length
      problems.push(`${file}:${line}: ${name} is a retired name: \`git log -S ${name}\` shows what replaced it`)
    }
  }
  return problems
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
