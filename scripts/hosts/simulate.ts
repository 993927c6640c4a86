/**
 * Simulates calls between many hosts, with the balancer's own code and a clock that does not wait:
 * `node scripts/hosts/simulate.ts [--hosts 10,100] [--seed 1]`
 *
 * Prints the tables of docs/guides/scale/many-hosts.md. Each host has two cores, works on a call
 * for 5 ms on average, and calls all others, at half of what they can answer.
 */
import { parseArgs } from 'node:util'
import { lostZone, type Part, slowHost } from './simulation/scenarios.ts'

const { values } = parseArgs({
  options: { hosts: { type: 'string', default: '10,100' }, seed: { type: 'string', default: '1' } },
})
const seed = Number(values.seed)
const sizes = values.hosts.split(',').map(Number)

console.log('| hosts | choice | median | p99 | p99 with one host ten times slower |\n|--:|---|--:|--:|--:|')
for (const hosts of sizes)
  for (const choice of ['load', 'random', 'turns'] as const) {
    const [even, slow] = [1, 10].map((pace) => slowHost({ hosts, choice, seed }, pace)) as [Part, Part]
    console.log(`| ${hosts} | ${choice} | ${[even.median, even.p99, slow.p99].map(text).join(' | ')} |`)
  }

console.log(
  '\n| hosts | choice | when | median | p99 | sent to the lost zone | repeated |\n|--:|---|---|--:|--:|--:|--:|',
)
for (const hosts of sizes)
  for (const choice of ['load', 'random'] as const)
    for (const [when, part] of Object.entries(lostZone({ hosts, choice, seed }))) {
      const { median, p99, lost, repeated } = part as Part
      const shares = [lost, repeated].map((share) => `${(100 * share).toFixed(2)} %`)
      console.log(`| ${hosts} | ${choice} | ${when} | ${[text(median), text(p99), ...shares].join(' | ')} |`)
    }

function text(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 100 ? 1 : 0)} ms`
}
