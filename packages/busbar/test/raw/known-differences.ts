import { wantedEntrance } from '../support/app/wanted-entrance.ts'
import type { Placement } from './placements.ts'

export interface KnownDifference {
  /** Where responses differ from those of a service in the gateway's worker. */
  readonly at: readonly (Placement | 'plain')[]
  /** Matches the names of exactly these cases. */
  readonly cases: RegExp
  /** The reason, as in the guide to the gateway. */
  readonly why: string
}

/** If several match a case, the first one applies. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    at: ['command'],
    cases: /^field.*: (?:1,900 fields|2,500 short fields)$|^field (?:to the route|with a body): 16,300 bytes$/,
    why: 'A command has limits of its own: Node refuses heads of more than 16 KiB, including what the gateway adds to them.',
  },
  {
    at: ['command'],
    cases:
      /^(?:Connection(?:, route)?: (?:keep-alive|close|keep-alive, then close)|HTTP\/1\.0(?:, route)?: (?:keep-alive|body|chunked)|turn: one behind close)$/,
    why: 'The gateway uses its own connections to a command, so a command sees no `Connection` of the client.',
  },
  {
    at: ['command'],
    cases: /^answer(?:, route)?: close, /,
    why: "A command that closes its connection closes that of the gateway, not the client's.",
  },
  {
    at: ['thread', 'process', 'command'],
    cases: /^(?:upgrade: refused|upgrade, entry: (?:WebSocket|with (?:Trailer|8 bit|hops|named fields)|refused))$/,
    why: 'The gateway forwards an upgrade request to a service in another worker. If the service declines, the connection ends after its response.',
  },
  {
    at: ['thread', 'process', 'command'],
    cases: /^answer(?:, route)?: trailers, (?:GET|POST)$/,
    why: 'Trailers of a response have lower-case names',
  },
  {
    at: ['plain'],
    cases:
      /^(?:host.*: (?:twice.*|list|with user|port that is none|space|slash|8 bit)|target: (?:absolute, (?:user|ftp|no host|@|broken IPv6|dots)|\*)|path: \/shop(?:\/(?:\.\.%2fadmin\/s|%2e%2e\/admin\/s|\.%2e\/admin\/s|\.\.\/admin\/s|\.\/s|\.\.|x#y|%2e|\.|\.\.\?x)|;\/\.\.\/admin|\\\\\.\.\\\\admin)|path: (?:\/\.\/admin\/s|\/admin#s|\/admin\/\.\.|\/admin\/%2e%2e%2fx)|version: none, with an end)$/,
    why: 'Requests that two programs may read differently are refused with 400: more than one host, dot segments, other versions than HTTP/1.1 and 1.0.',
  },
  {
    at: ['plain'],
    cases: /^method(?:, route)?: CONNECT/,
    why: 'Tunnels (`CONNECT`) are not supported.',
  },
  {
    at: ['plain'],
    cases: /^target: absolute(?!, fragment)/,
    why: 'The absolute form is converted to a path, and its authority becomes the `Host`.',
  },
  {
    at: ['plain'],
    cases: /^path: \/shop\/\//,
    why: 'Several slashes after a prefix become one.',
  },
  {
    at: ['plain'],
    cases: /^field.*: (?:1,900 fields|2,500 short fields)$/,
    why: "The app's `limits` apply instead of Node's own.",
  },
  {
    at: ['plain'],
    cases: /^(?:length: 2\^(?:63|53\+1)|large body: by length|Expect: too large)$/,
    why: 'A body over `maxBodySize` is refused before any of it is read.',
  },
  {
    at: ['plain'],
    cases: /^claim: (?:forwarded|hops(?:, many| and 8 bit| to the route)?)(?:, route)?$/,
    why: 'Headers that only the gateway may set are dropped.',
  },
  {
    at: ['plain'],
    cases:
      /^(?:(?:.*: underscore)|Connection(?:, route)?: (?:x-forwarded-proto and -host|close|Close, odd case|close, keep-alive|keep-alive, then close)|version: RTSP\/1\.0|HTTP\/1\.0(?:, route)?: with host|turn: one behind close|early answer: to a body that does not come)$/,
    why: 'Malformed input does not affect the responses of earlier requests.',
  },
  {
    at: ['plain'],
    cases:
      /^Connection(?:, route| with a body)?: (?:x-forwarded-for|host|content-.*|transfer-encoding|a field of the client|authorization|the usual ones|keep-alive with spaces|nothing|commas|with 8 bit)$/,
    why: 'Fields that concern only the connection to the client do not reach the service (RFC 9110, 7.6.1).',
  },
  {
    at: ['plain'],
    cases: /^upgrade(?:, entry)?: (?:Connection without Upgrade|Upgrade without Connection|(?!refused).*)$/,
    why: 'Fields of an upgrade reach only a service that accepts upgrades. An upgrade to h2c, with a body or in HTTP/1.0 is a plain request.',
  },
  {
    at: ['plain'],
    cases: /^upgrade, entry: refused$/,
    why: 'The service behind the route decides whether to accept an upgrade.',
  },
  {
    at: ['plain'],
    cases: /^(?:turn: two late ones|answer(?:, route)?: late)$/,
    why: 'A client that has closed its half of the connection still gets its response; Node closes the connection.',
  },
  {
    at: ['plain'],
    cases: /^answer(?:, route)?: hangup$/,
    why: 'If a service closes its connection without a response, the client gets 502',
  },
]

interface EntranceDifference extends Omit<KnownDifference, 'at'> {
  /** How much of the response arrives depends on when the connection ends. */
  readonly varies?: true
}

/** Where the native entrance differs from the portable gateway; for reasons in its own guide. */
export const entranceDifferences: readonly EntranceDifference[] = [
  {
    cases: /^(?:line: two spaces|version: RTSP\/1\.0|length: 2\^(?:63|53\+1))$/,
    why: "The entrance's parser is stricter than Node's: one space between the parts of the first line, no other protocol than HTTP/1.1 and HTTP/1.0, no length over 2^53.",
  },
  {
    cases: /^method, route: HTTP\/2 preface$/,
    why: 'The first bytes of HTTP/2 in clear begin a connection of HTTP/2.',
    varies: true,
  },
  {
    cases: /: underscore$/,
    why: 'Bytes behind a request that are not a request get a 400 of their own.',
  },
  {
    cases:
      /^upgrade(?:, entry)?: (?:h2c|with a body|with chunks|WebSocket|with Trailer|with 8 bit|with hops|with named fields|refused)$/,
    why: 'A request behind one for an upgrade that was declined gets its response.',
  },
]

/** Returns undefined if the outcomes must be the same. */
export function knownDifference(name: string, at: Placement | 'plain'): Pick<KnownDifference, 'why'> | undefined {
  const known = knownDifferences.find((known) => known.at.includes(at) && known.cases.test(name))
  if (known !== undefined || wantedEntrance !== 'native') return known
  return entranceDifferences.find(({ cases, varies }) => cases.test(name) && (at === 'plain' || varies === true))
}
