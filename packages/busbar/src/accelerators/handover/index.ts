/**
 * Gives the gateway's own request and response to a program of the same worker. Otherwise the
 * program's server would create its own from a connection. Relies on properties of a server that
 * tell its options: those that change requests and responses, and which upgrades it accepts.
 *
 * Gain: without it 0.08 of the requests per CPU second on Node 24 if no connections are kept, 0.18
 * on Node 26 (`busbar bench accelerators --work hello`). Conditions:
 * docs/guides/scale/accelerators.md.
 */
export { attachment, probe } from './handover.ts'
